import type { RecordId } from '../../../core/record.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';
import { writeRow } from './row-write.ts';
import { letWaitingGo } from './waiting-edits.ts';

/**
 * Leaves a row alone until something changes. What was taken from it before and not sent yet is decided anew when it goes on. What a user
 * takes back is no edit of the row: the CRM gets it now, and the row follows then.
 */
export function leaveAlone(index: TabIndex, row: ObservedRow, id: RecordId): Verdict {
  const { entity, outbox } = index;
  const item = outbox.get(id);
  const kept = [{ entity, id }];
  const isLetGo = item?.state === 'waiting' && !item.isUndo;
  return join(isLetGo ? letWaitingGo(index, row, item) : nothing, { kept });
}

/** A row that a user paused, most often with a checkbox: nothing is taken from it and nothing but its Sync cell is written to it. */
export function pauseRow(index: TabIndex, row: ObservedRow, id: RecordId): Verdict {
  const state = { kind: 'held', reason: pausedReason(index) } as const;
  return join(leaveAlone(index, row, id), writeRow(index, row, { entity: index.entity, id }, { state }));
}

export const pausedReason = ({ layout }: TabIndex): string =>
  `paused by its cell in “${layout.pauseHeader ?? ''}”. Untick or clear that to go on.`;
