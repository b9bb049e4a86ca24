import { journalEntry } from '../../../core/journal-entry.ts';
import type { RecordId } from '../../../core/record.ts';
import { isStuck, type KnownRecord } from '../../../core/state.ts';
import { moveLeave } from '../../only/leave.ts';
import { wasMissing } from '../identity/likeness.ts';
import { noteLost } from '../rows/waiting-edits.ts';
import { isAtRest, type TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';

/** Counts the records that the tab's rule leaves out; those in `shown` have a row. One that is still agreed about counts once it has left. */
export function countLeftOut(index: TabIndex, shown: ReadonlySet<RecordId>): Verdict {
  const { agreements, entity, loose, only, outside } = index;
  const isLeftOut = (record: KnownRecord) => {
    const { fields = {}, leave } = agreements.get(record.key.id) ?? {};
    const hasRow = shown.has(record.key.id) || (Object.keys(fields).length > 0 && leave?.state !== 'left');
    return record.presence === 'present' && !hasRow && only.fitOf(record).kind !== 'fits';
  };
  const count = outside.difference(shown).size + loose.records.filter(isLeftOut).length;
  return { leftOut: [{ entity, count }] };
}

/**
 * Decides a record without a row that the tab's rule keeps out, or kept out until now: its absence is no delete, and it gets a row once it fits
 * again. A row that has just gone may still be on its way from one place to another.
 */
export function decideOutside(index: TabIndex, record: KnownRecord): Verdict {
  const { key } = record;
  const agreement = index.agreements.get(key.id);
  if (!agreement) return nothing;
  const hasLeft = agreement.leave?.state === 'left';
  if (!hasLeft && !wasMissing(index, agreement)) return nothing;
  const fit = index.only.fitOf(record);
  if (fit.kind === 'fits') return { due: [{ record, cause: fitsCause }] };
  const out = letGo(index, record);
  if (hasLeft) return isSettledOutside(index, record) ? { ...out, outside: [key] } : out;
  const leave = moveLeave(agreement.leave, 'absent', index.input.now);
  const isSure = fit.kind === 'unfit';
  const cause = `row deleted, and the record stays because it ${isSure ? 'does' : 'may'} not fit the tab`;
  const journal = [journalEntry(index.input, key, { kind: 'delete', before: agreement.fields, cause })];
  return join(out, { agreementsSaved: [{ ...agreement, leave }], journal });
}

/**
 * Whether nothing has to be decided about a record without a row until it changes, or what its rule follows from: it does not fit, or too
 * little is known of it to say so, and nothing of it is on its way.
 */
export function isSettledOutside(index: TabIndex, record: KnownRecord): boolean {
  const fit = index.only.fitOf(record);
  const isLasting =
    fit.kind === 'unfit' || (fit.kind === 'unknown' && fit.until === Number.POSITIVE_INFINITY);
  return isLasting && isAtRest(index, record);
}

const fitsCause = 'fits the tab again';

/** A delete that waits is not meant any more, and what a row cannot be asked about ends with its line in the history. */
function letGo(index: TabIndex, { key }: KnownRecord): Verdict {
  const item = index.outbox.get(key.id);
  if (!item || item.isUndo) return nothing;
  if (item.kind === 'delete') return item.state === 'sending' ? nothing : { outboxDropped: [key] };
  if (!isStuck(item) && item.state !== 'review') return nothing;
  const cause = 'not sent, because its row is gone';
  return join(noteLost(index, item, item.fields, cause), { outboxDropped: [key] });
}
