import { isClaimToken, type RecordId } from '../../../core/record.ts';
import { copyScope } from '../../../core/waiting/scopes.ts';
import { copyMark, isMarkedCopy } from '../../cells/sync-text.ts';
import type { ObservedRow } from '../../port/table.ts';
import { lookOf, readRowValues } from '../rows/row-values.ts';
import { claimRow, findUnsettled, holdRow } from '../rows/row-write.ts';
import { pausedReason } from '../rows/waiting-edits.ts';
import type { TabIndex } from '../tab-index.ts';
import { answerTo, join, type Verdict } from '../verdict.ts';
import type { CopiedRow } from './bind.ts';
import { isLike, suspectReason } from './likeness.ts';

/**
 * Decides a row with the ID of another one. It is never written from; it becomes a record of its own when a person clears its ID, or
 * answers so. `suspects` are missing records that it looks like.
 */
export function decideCopy(index: TabIndex, copy: CopiedRow, suspects: readonly RecordId[]): Verdict {
  const { row, id, rows, hasOriginal } = copy;
  if (suspects.length > 0) {
    const orElse = 'change the row and clear the ID to make it a new record';
    return holdRow(index, row, id, suspectReason(`${copyReasonStart}, and it`, suspects, orElse));
  }
  if (!hasOriginal && !isMarkedCopy(row)) return holdRow(index, row, id, rivalReason(id));
  const own = hasOriginal ? undefined : index.agreements.get(id);
  // Without its ID it would pass for the lost row of the record.
  if (own && isLike(index, row, own)) return holdRow(index, row, id, likeReason(id));
  return offerAsNew(index, row, id, rows > 1 || isClaimToken(id) ? copyReason : orphanReason(id));
}

const copyReasonStart = `${copyMark}: its ID stands in another row too`;

/** Said at a row whose ID stands in another row too, and where people answer questions. */
export const copyReason = `${copyReasonStart}. Clear the ID of the copy to make it a new record, or delete the copy.`;

const orphanStart = (id: RecordId) => `${copyMark} of record ${id}, whose own row is gone`;

const orphanReason = (id: RecordId) =>
  `${orphanStart(id)}. Clear the ID of the copy to make it a new record, or its Sync cell to make it the row of record ${id}.`;

const likeReason = (id: RecordId) =>
  `${orphanStart(id)}. Clear its Sync cell to make it the row of record ${id}, or change the row to make it a new record.`;

const rivalReason = (id: RecordId) =>
  `Several rows have the ID ${id}, and none shows what was last known of it. Clear the ID of those that are to be new records.`;

/** Holds a copy until a user wants it to be a new record. Copies that show the same are answered together. */
export function offerAsNew(index: TabIndex, row: ObservedRow, id: RecordId, reason: string): Verdict {
  const { answers, entity, questions } = index;
  // Whoever copies a row copies its tick as well. Nothing is asked that could not be done.
  if (row.isPaused) return holdRow(index, row, id, `${copyMark}, and ${pausedReason(index)}`);
  const scope = copyScope({ entity, id }, digest(lookOf(index, row)));
  const ask = () => questions.ofHold({ entity, id, reason, decision: scope });
  const { answered, verdict } = answerTo(answers, scope, ask);
  if (answered?.choice !== 'new') return join(verdict, holdRow(index, row, id, reason, scope));
  const { faults, fields, missing } = readRowValues(index, row);
  const obstacles = [...faults, ...missing.map((header) => `Fill ${header}.`)];
  if (obstacles.length > 0) {
    const held = `${copyMark}, and can not become a new record yet. ${obstacles.join(' ')}`;
    return join(verdict, holdRow(index, row, id, held));
  }
  return join(verdict, findUnsettled(index, row) ?? claimRow(index, row, fields));
}

/** A short name for a text, equal for equal texts: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash.toString(36);
}
