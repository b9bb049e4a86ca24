import type { RecordId } from '../../record.ts';
import type { ObservedRow } from '../../table.ts';
import { keepDecisions, type TabContext } from '../context.ts';
import { writeRow } from './row-write.ts';
import { letWaitingGo } from './waiting-edits.ts';

/**
 * Leaves a row alone until something changes. What was taken from it before and not sent yet is decided anew when it goes on. What a person
 * takes back is no edit of the row: the CRM gets it now, and the row follows then.
 */
export function leaveAlone(context: TabContext, row: ObservedRow, id: RecordId): void {
  const { entity, outbox } = context;
  const item = outbox.get(id);
  if (item?.state === 'waiting' && !item.isUndo) letWaitingGo(context, row, item);
  keepDecisions(context, { entity, id });
}

/** A row that a person paused, most often with a checkbox: nothing is taken from it and nothing but its Sync cell is written to it. */
export function pauseRow(context: TabContext, row: ObservedRow, id: RecordId): void {
  leaveAlone(context, row, id);
  const state = { kind: 'held', reason: pausedReason(context) } as const;
  writeRow(context, row, { entity: context.entity, id }, { state });
}

export const pausedReason = ({ layout }: TabContext): string =>
  `paused by its cell in “${layout.pauseHeader ?? ''}”. Untick or clear that to go on.`;
