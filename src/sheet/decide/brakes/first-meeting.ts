import { isUnanswered } from '../../../core/state.ts';
import { brakeOf } from '../../../core/waiting/brakes.ts';
import type { Brake } from '../../../core/waiting/waiting.ts';
import { isBlank, type ObservedRow } from '../../port/table.ts';
import { isInTable } from '../identity/origin.ts';
import type { TabIndex } from '../tab-index.ts';

/**
 * A tab that somebody filled before the daemon came: rows without an ID, and nothing agreed about any record. Most likely they are records
 * that the CRM has already, so that creating them would double them all, and appending the CRM's would double the rows. A tab may be
 * filled at will where the CRM has nothing, or has what was created from it.
 */
export function findFirstMeeting(index: TabIndex, unbound: readonly ObservedRow[]): Brake[] {
  const { entity, input, layout, records } = index;
  const rows = unbound.filter((row) => !isBlank(row));
  if (rows.length === 0 || hasMet(index)) return [];
  const { emptyLists, sweptEntities } = input.known;
  const isEmptyCrm =
    sweptEntities.has(entity) && [...records.values()].every(({ presence }) => presence === 'gone');
  if (isEmptyCrm && emptyLists.has(entity)) return [];
  const [first] = rows;
  const found = `${rows.length} rows without an ID stand in “${layout.title}”, the first in row ${(first?.position ?? 0) + 1}.`;
  // By itself this goes on: to be asked what an empty answer is worth helps nobody.
  if (isEmptyCrm) {
    const reason = `${found} The CRM lists nothing, and is read once more before they are new records.`;
    return [brakeOf(entity, 'reading', reason)];
  }
  const reason = `${found} Stop the daemon and run init --match-by with a column that tells them apart, or approve to create all of them as new records.`;
  return [brakeOf(entity, 'first', reason)];
}

/** Whether anything is agreed, or about to be: of a record that was made from a row the CRM may not have told anything yet. */
function hasMet(index: TabIndex): boolean {
  const { agreements, outbox } = index;
  return (
    [...agreements.values()].some((agreement) => isInTable(index, agreement)) ||
    [...outbox.values()].some((item) => item.kind === 'create' && isUnanswered(item))
  );
}
