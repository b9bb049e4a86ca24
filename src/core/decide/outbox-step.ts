import type { RecordKey } from '../record.ts';
import type { OutboxItem } from '../state.ts';
import type { DecideInput } from './input.ts';

/** What tells one step towards the CRM from another. */
type StepParts = Pick<OutboxItem, 'kind' | 'fields' | 'base'> &
  Partial<Pick<OutboxItem, 'notice' | 'shownUntil'>>;

/** A step that was just decided: it waits, and may be sent at once. */
export const waitingStep = (
  { now, run }: Pick<DecideInput, 'now' | 'run'>,
  key: RecordKey,
  parts: StepParts,
): OutboxItem => ({
  key,
  state: 'waiting',
  notice: '',
  run,
  createdAt: now,
  dueAt: now,
  attempts: 0,
  looks: 0,
  ...parts,
});
