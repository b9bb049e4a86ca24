import type { RecordId } from '../record.ts';
import type { ObservedRow } from '../table.ts';
import { keepDecisions, type TabContext } from './context.ts';
import { writeRow } from './row-write.ts';
import { letWaitingGo } from './waiting-edits.ts';

/**
 * Leaves a row alone that a person paused, most often with a checkbox: nothing is taken from it and nothing but its Sync cell is written to it. What was
 * taken from it before and not sent yet is decided anew once the box is unticked. What a person takes back is no edit of the row: the CRM
 * gets it now, and the row follows once the box is unticked.
 */
export function pauseRow(context: TabContext, row: ObservedRow, id: RecordId): void {
  const { entity, outbox } = context;
  const key = { entity, id };
  const item = outbox.get(id);
  if (item?.state === 'waiting' && !item.isUndo) letWaitingGo(context, row, item);
  keepDecisions(context, key);
  writeRow(context, row, key, { state: { kind: 'held', reason: pausedReason(context) } });
}

export const pausedReason = ({ layout }: TabContext): string =>
  `paused by its cell in “${layout.pauseHeader ?? ''}”. Untick or clear that to go on.`;
