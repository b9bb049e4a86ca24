import type { OutboxItem } from '../../src/core/state.ts';
import type { TakenEdit } from '../../src/core/taken-edit.ts';
import type { People } from './people.ts';
import { tabEntities } from './tab-view.ts';

/** Whether the daemon has anything to do at the tables that waits for nobody. */
export const isSqlBusy = (people: People): boolean => whatSqlWaitsFor(people) !== '';

/** Says what the daemon has to do at the tables; empty for nothing. */
export function whatSqlWaitsFor({ sql, stage }: People): string {
  if (!sql) return '';
  const { brakes } = stage.engine.found;
  const mirror = stage.link.mirror.of('warehouse');
  const due = mirror.feed.countDue();
  const isFree = (entity: string) => !brakes.some((brake) => brake.entity === entity);
  const dueNow = tabEntities.filter((entity) => (due[entity] ?? 0) > 0 && isFree(entity));
  const isUnderWay = ({ key, note, state }: TakenEdit) =>
    state === 'taken' && isFree(key.entity) && !note.startsWith('It waits for its');
  const isSent = ({ key, state }: OutboxItem) =>
    state === 'sending' || state === 'unknown' || (state === 'waiting' && isFree(key.entity));
  return [
    dueNow.length > 0 ? `due: ${dueNow.join(', ')}` : '',
    sql.edits.some(({ entity, state }) => state === 'new' && isFree(entity)) ? 'new edits' : '',
    [...sql.side.database.content.questions.values()].some(({ answer }) => answer !== undefined)
      ? 'answers that were not taken'
      : '',
    mirror.edits.readOpen().some(isUnderWay) ? 'edits that are on their way' : '',
    mirror.edits.readUntold(100).some(({ key }) => isFree(key.entity)) ? 'outcomes that are not told' : '',
    mirror.readOutbox().some(isSent) ? 'steps in the outbox' : '',
  ]
    .filter(Boolean)
    .join('; ');
}
