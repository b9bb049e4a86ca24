import { nextNotice } from '../core/notice.ts';
import type { Consequences } from '../core/open-write.ts';
import type { Link } from '../sync/link.ts';
import { forgetStep } from '../sync/pushing/unanswered.ts';
import { landShown } from './cells/shown.ts';
import { describeCell } from './port/cell.ts';
import type { StepEnd } from './port/table.ts';

/**
 * Makes true what follows from a step that is done. The agreement is read again, because a push may have moved other fields of it while the
 * table was being written. To be called in a transaction.
 */
export function confirm(
  { mirror }: Pick<Link, 'mirror'>,
  at: number,
  step: Consequences,
  end: StepEnd,
): void {
  const { closes, forgets, journal, key, notice, noticed } = step;
  if (journal) mirror.appendJournal([withOwnCells(journal, end)]);
  if (closes !== undefined) mirror.dropSuspect(closes);
  if (!key) return;
  if (forgets) {
    mirror.dropAgreement(key);
    forgetStep(mirror, key, at);
    return;
  }
  const offers = unedited(step, end);
  const agreement = mirror.findAgreement(key);
  if (!agreement || Object.keys(offers).length === 0) return;
  const fields = { ...agreement.fields, ...offers };
  const landed = landShown(agreement.shown, offers);
  const told = nextNotice(agreement, { fields: Object.keys(offers), noticed, notice, at });
  mirror.saveAgreement({ ...agreement, ...landed, fields, offered: {}, changedAt: at, ...told });
}

/** Fields that a user edited at that moment are not agreed: their cells have the user's values. */
const unedited = ({ offers }: Consequences, { edited }: StepEnd): Consequences['offers'] =>
  Object.fromEntries(Object.entries(offers).filter(([name]) => !edited.includes(name)));

/** The line of a row that is gone names also what was in it under users' own columns. */
function withOwnCells(
  journal: NonNullable<Consequences['journal']>,
  { own = {} }: StepEnd,
): NonNullable<Consequences['journal']> {
  if (journal.kind !== 'delete') return journal;
  const cells = Object.entries(own).map(([header, cell]) => [header, describeCell(cell)]);
  return { ...journal, lost: { ...Object.fromEntries(cells), ...journal.lost } };
}
