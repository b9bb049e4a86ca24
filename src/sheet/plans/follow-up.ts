import { isClaimToken, type RecordKey, recordKeyText } from '../../core/record.ts';
import type { JournalEntry, OutboxItem } from '../../core/state.ts';
import { refusedScope } from '../../core/waiting/scopes.ts';
import { remapScope } from '../decide/brakes/remapped.ts';
import { describeCell } from '../port/cell.ts';
import type { Plan, TableStep } from './plan.ts';

type Step = OutboxItem | TableStep;

const stepsOf = ({ outbox, table }: Plan): readonly Step[] => [...outbox.save, ...table];

const namesOf = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ key }) => (key ? [recordKeyText(key)] : []));

/** Names of the records and claims that a plan writes. */
export const writtenKeys = (plan: Plan): string[] => namesOf(stepsOf(plan));

/** Of how many records and claims something is left of a plan after what was `applied` of it. */
export function countLeft(plan: Plan, applied: Plan): number {
  const [sent, written] = [new Set(namesOf(applied.outbox.save)), new Set(applied.table)];
  const unsent = plan.outbox.save.filter(({ key }) => !sent.has(recordKeyText(key)));
  return new Set(namesOf([...unsent, ...plan.table.filter((step) => !written.has(step))])).size;
}

/**
 * What of a plan only ends what was begun: rows that were claimed become records and get their ID, and Sync cells say what came of it.
 * `begun` names the records and claims of the plans that were applied. What is left out is decided again in the next cycle, as if nobody had
 * seen it, and so are the answers that it was made of. What waits to be sent may always be taken back: its line in the journal goes with it.
 */
export function followUp(plan: Plan, begun: ReadonlySet<string>): Plan {
  const isBegun = (key: RecordKey) => begun.has(recordKeyText(key));
  const table = plan.table.filter((step) => endsSomething(step, isBegun));
  const save = plan.outbox.save.filter(({ key, kind }) => kind === 'create' && isBegun(key));
  const kept = new Set<Step>([...table, ...save]);
  const left = new Set(namesOf(stepsOf(plan).filter((step) => !kept.has(step))));
  // Where columns are met anew, agreements are forgotten for what is left out.
  const isWhole = ({ key }: { readonly key: RecordKey }) =>
    !left.has(recordKeyText(key)) && !plan.remapped.includes(key.entity);
  const dropped = new Set(plan.outbox.drop.map(recordKeyText));
  const tellsDrop = ({ key, lost }: JournalEntry) =>
    dropped.has(recordKeyText(key)) && Object.keys(lost).length > 0;
  const unsent = plan.outbox.save.filter((item) => !kept.has(item));
  const needed = new Set([...unsent.map(({ key }) => refusedScope(key)), ...plan.remapped.map(remapScope)]);
  return {
    ...plan,
    table,
    outbox: { ...plan.outbox, save },
    // An agreement says what is on its way to the table: nothing is, of what is left out.
    agreements: { ...plan.agreements, save: plan.agreements.save.filter(isWhole) },
    journal: plan.journal.filter((entry) => isWhole(entry) || tellsDrop(entry)),
    settledDecisions: plan.settledDecisions.filter((scope) => !needed.has(scope)),
    rebased: [],
    remapped: [],
    takesAccount: false,
  };
}

function endsSomething(
  { journal, key, offers, write }: TableStep,
  isBegun: (key: RecordKey) => boolean,
): boolean {
  if (write.kind !== 'set' || write.entity === 'question' || !key) return false;
  if (write.id) {
    const { entity, id, idSeen } = write;
    const [seen, given] = [describeCell(idSeen), describeCell(id)];
    // A claim is a record to be: it gets an ID, or the token of the create that is on its way for it, and nobody else does.
    const isFollowed = !isClaimToken(given) || isBegun({ entity, id: given });
    return isClaimToken(seen) && isBegun({ entity, id: seen }) && isFollowed;
  }
  return isBegun(key) && !journal && Object.keys(offers).length === 0;
}
