import { decisionOf } from '../../core/waiting/answer.ts';
import type { Question } from '../../sync/side.ts';
import type { EditTerms, WarehouseLink } from '../link.ts';
import type { WarehouseLayout } from '../port/layout.ts';
import type { EditedRow, ReadEdits } from '../port/port.ts';
import { rememberedMs } from './old-edits.ts';
import { takeRow } from './take.ts';

/** Takes what was read over into the mirror, each edit once. To be called in a transaction. */
export function takeEdits(
  { clock, mirror, newWord }: WarehouseLink,
  editing: EditTerms,
  layout: WarehouseLayout,
  rows: readonly EditedRow[],
): void {
  const occasion = {
    now: clock.now(),
    run: newWord(),
    rememberedMs: rememberedMs(editing),
    edits: mirror.edits,
  };
  for (const row of rows) {
    const table = layout.tables.find(({ entity }) => entity === row.entity);
    if (!table) continue;
    const { doubtful, due, edits } = takeRow(occasion, table, row);
    for (const edit of edits) mirror.edits.save(edit);
    for (const item of doubtful) mirror.saveOutboxItem(item);
    mirror.feed.noteDue(due);
  }
}

/** Keeps what users answered by SQL to questions that are asked. Returns the scopes of all that were answered. To be called in a transaction. */
export function takeAnswers(
  { clock, mirror }: WarehouseLink,
  answers: ReadEdits['answers'],
  questions: readonly Question[],
): readonly string[] {
  const taken: string[] = [];
  for (const { answer, scope } of answers) {
    const question = questions.find((each) => each.scope === scope);
    const choice = question?.answers.find((each) => each === (answer === 'sql' ? 'sheet' : answer));
    if (!choice) continue;
    mirror.saveDecision(decisionOf(scope, choice, clock.now(), question?.shown));
    taken.push(scope);
  }
  return taken;
}
