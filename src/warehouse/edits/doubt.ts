import type { Mirror } from '../../core/mirror.ts';
import { waitingStep } from '../../core/outbox.ts';
import { claimToken, isClaimToken } from '../../core/record.ts';
import { isOnItsWay, type OutboxItem } from '../../core/state.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';

/** When a doubt is noted, epoch ms, and the run that it belongs to. */
export interface DoubtOccasion {
  readonly now: number;
  readonly run: string;
}

const forgotten =
  'It may have been sent before, and nobody knows whether the CRM has it. Delete this row if it has; retry creates a new record.';

/** The step of an insert of which nobody knows whether it was sent: only a user may have it sent again. */
export const doubt = (occasion: DoubtOccasion, { after, key }: TakenEdit): OutboxItem => ({
  ...waitingStep(occasion, key, { kind: 'create', fields: after, base: {} }),
  state: 'review',
  error: { code: 'CRM_UNKNOWN_OUTCOME', message: forgotten },
});

/** Doubts every create of a mirror that is as it was earlier: since then it may have been sent, also one that was refused before. To be called in a transaction. */
export function doubtCreates(mirror: Mirror, occasion: DoubtOccasion): void {
  for (const edit of mirror.edits.readOpen()) {
    const { editId, key, kind } = edit;
    if (kind !== 'insert' || !isClaimToken(key.id) || key.id !== claimToken(editId)) continue;
    const item = mirror.findOutboxItem(key);
    if (!item || isOnItsWay(item) || item.state === 'refused') mirror.saveOutboxItem(doubt(occasion, edit));
  }
}
