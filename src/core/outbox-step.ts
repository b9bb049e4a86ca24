import type { RecordKey } from './record.ts';
import { isOnItsWay, type OutboxItem } from './state.ts';
import type { Fields } from './value.ts';

/** What tells one step towards the CRM from another. */
type StepParts = Pick<OutboxItem, 'kind' | 'fields' | 'base'> &
  Partial<Pick<OutboxItem, 'notice' | 'shownUntil'>>;

/** A step that was just decided: it waits, and may be sent at once. */
export const waitingStep = (
  { now, run }: { readonly now: number; readonly run: string },
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

/** Sent so often without a clear answer, a change is taken for one that the CRM can not digest. */
const failuresMax = 5;

/** Whether a step waits for a person: the CRM refused it, or fails on it again and again although it can be read. */
export const isStuck = (item: OutboxItem): boolean =>
  item.state === 'refused' ||
  (item.state === 'waiting' && failuresOf(item) >= failuresMax && item.error?.code === 'CRM_UNKNOWN_OUTCOME');

/** Whether a step is to be sent. One that the key may not do waits for another scope of that, and nobody knows whether somebody gives it. */
export const isToBeSent = (item: OutboxItem): boolean =>
  isOnItsWay(item) && item.error?.code !== 'CRM_FORBIDDEN';

/** An update or a delete that waits because the CRM is away has failed as well, which says nothing about it. */
const failuresOf = ({ attempts, kind, looks }: OutboxItem): number => (kind === 'create' ? attempts : looks);

/** What people typed and the CRM has not taken yet; nothing where a step is no edit of a row. */
export const waitingFields = (item: OutboxItem | undefined): Fields =>
  item?.kind === 'update' && !item.isUndo ? item.fields : {};
