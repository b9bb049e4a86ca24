import { describeCell } from '../cell.ts';
import { type RecordKey, recordKeyText } from '../record.ts';
import type { Plan, TableStep } from './plan.ts';

/** Names of the records and claims that a plan writes. */
export const writtenKeys = ({ outbox, table }: Plan): string[] =>
  [...outbox.save, ...table].flatMap(({ key }) => (key ? [recordKeyText(key)] : []));

/**
 * What of a plan only ends what was begun: rows that a write hit by mistake are mended, rows that were claimed become records and get
 * their ID, and Sync cells say what came of it. `begun` names the records and claims of the plans that were applied. What is left out is
 * decided again in the next cycle, as if nobody had seen it.
 */
export function followUp(plan: Plan, begun: ReadonlySet<string>): Plan {
  const isBegun = (key: RecordKey) => begun.has(recordKeyText(key));
  const table = plan.table.filter((step) => step.mends || endsSomething(step, isBegun));
  const save = plan.outbox.save.filter(({ key, kind }) => kind === 'create' && isBegun(key));
  const kept = new Set<unknown>([...table, ...save]);
  const left = new Set(
    [...plan.table, ...plan.outbox.save].flatMap((step) =>
      step.key && !kept.has(step) ? [recordKeyText(step.key)] : [],
    ),
  );
  const isWhole = ({ key }: { readonly key: RecordKey }) => !left.has(recordKeyText(key));
  return {
    ...plan,
    table,
    outbox: { ...plan.outbox, save },
    // An agreement says what is on its way to the table: nothing is, of what is left out.
    agreements: { ...plan.agreements, save: plan.agreements.save.filter(isWhole) },
    journal: plan.journal.filter(isWhole),
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
  if (isBegun({ entity: write.entity, id: describeCell(write.idSeen) }) && write.id) return true;
  return isBegun(key) && !write.id && !journal && Object.keys(offers).length === 0;
}
