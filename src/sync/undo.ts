import { createCascades, relateRecords } from '../core/cascade.ts';
import { emptyCatalog } from '../core/fields/catalog.ts';
import type { HistoryEntry, HistoryQuery } from '../core/history.ts';
import type { Mirror } from '../core/mirror.ts';
import { waitingStep } from '../core/outbox.ts';
import { recordKeyText } from '../core/record.ts';
import { planUndo, type UndoPlan, type UndoRefusal } from '../core/undo.ts';
import type { Link } from './link.ts';
import { wake } from './pushing/pusher.ts';
import { replaceStep } from './pushing/unanswered.ts';
import { isOfOtherAccount } from './reading/account.ts';

/** What to take back: of one line, a run or a record, at least one is named. */
export type UndoOrder = Omit<HistoryQuery, 'limit'>;

/** The lines that are meant. With the one of a create comes what else its run says of the record: what the CRM set of itself. */
function findLines(mirror: Mirror, order: UndoOrder): HistoryEntry[] {
  const named = mirror.searchJournal(order);
  const [only] = named;
  return order.id !== undefined && only?.kind === 'create'
    ? mirror.searchJournal({ key: only.key, run: only.run })
    : named;
}

/** What taking back would come to, without doing it. */
export function planUndoOf({ entities, mirror }: Link, order: UndoOrder): UndoPlan {
  const lines = findLines(mirror, order);
  const { own = [], others = [] } = Object.groupBy(lines, (line) =>
    isOfOtherAccount(mirror, line) ? 'others' : 'own',
  );
  const steps = mirror.readAllSteps();
  const stepOf = new Map(steps.map((item) => [recordKeyText(item.key), item]));
  const cascades = createCascades(relateRecords(mirror.readRecords()), steps);
  const plan = planUndo(
    own,
    (key) => ({
      record: mirror.findRecord(key),
      agreement: mirror.findAgreement(key),
      item: stepOf.get(recordKeyText(key)),
      goingWith: cascades.goingWith(key),
      isOff: !entities.includes(key.entity),
    }),
    mirror.readCatalog() ?? emptyCatalog,
    order.field,
  );
  return { ...plan, refusals: [...plan.refusals, ...refuseOthers(others, own)] };
}

/** Says once of each record of another account that nothing of it is taken back, unless something of the one is that has its id now. */
function refuseOthers(others: readonly HistoryEntry[], own: readonly HistoryEntry[]): UndoRefusal[] {
  const refused = new Map(others.map(({ key }) => [recordKeyText(key), key]));
  for (const { key } of own) refused.delete(recordKeyText(key));
  return [...refused.values()].map((key) => ({ key, reason: 'It was done in another account of the CRM.' }));
}

/**
 * Takes back what the order names, as somebody in the CRM would: each record is put into the outbox, sent only if the CRM still has what is
 * to be replaced, and the sheet follows like after any change in the CRM. Returns what was put there and what cannot be taken back.
 */
export async function undo(link: Link, order: UndoOrder): Promise<UndoPlan> {
  const { clock, mirror, newWord } = link;
  const plan = planUndoOf(link, order);
  const occasion = { now: clock.now(), run: newWord() };
  mirror.transaction(() => {
    for (const { key, ...parts } of plan.steps)
      replaceStep(mirror, { ...waitingStep(occasion, key, parts), isUndo: true }, occasion.now);
  });
  const keys = plan.steps.map(({ key }) => key);
  await wake(link, keys);
  return plan;
}
