import type { Mirror } from '../../core/mirror.ts';
import { type After, advance, type OutboxEvent, type OutboxEvents } from '../../core/outbox.ts';
import type { RecordKey } from '../../core/record.ts';
import type { OutboxItem } from '../../core/state.ts';
import { notTakenBackCause } from '../../core/undo.ts';
import { pickFields } from '../../core/value.ts';

/** Keeps what an event makes of an outbox item. */
export function follow<Event extends OutboxEvent>(
  mirror: Mirror,
  item: OutboxItem,
  event: Event,
  details: OutboxEvents[Event],
): After<Event> {
  const next = advance(item, event, details);
  if (next) mirror.saveOutboxItem(next);
  else mirror.dropOutboxItem(item.key);
  return next;
}

/** Forgets a step towards the CRM that is over, or not meant any more. `at` is epoch ms. */
export function forgetStep(mirror: Mirror, key: RecordKey, at: number): void {
  const item = mirror.findOutboxItem(key);
  if (!item) return;
  // Somebody was told that it is being taken back.
  if (item.isUndo) return endUndo(mirror, item, notThereAnyMore, at);
  noteUnanswered(mirror, item, at);
  follow(mirror, item, 'dropped', {});
}

const notThereAnyMore = 'Its record is gone, or the rows are other ones since.';

/** Puts a step into the outbox, in the place of what the record had there. `at` is epoch ms. */
export function replaceStep(mirror: Mirror, item: OutboxItem, at: number): void {
  const before = mirror.findOutboxItem(item.key);
  if (before?.run !== item.run) noteUnanswered(mirror, before, at);
  mirror.saveOutboxItem(item);
}

/** Notes that nobody will find out what became of a step so far, although it stays. `at` is epoch ms. */
export const closeAttempts = (
  mirror: Mirror,
  item: OutboxItem,
  event: 'untraceable' | 'outdated',
  at: number,
): void =>
  mirror.transaction(() => {
    noteUnanswered(mirror, item, at);
    follow(mirror, item, event, {});
  });

/** Ends a step that takes something back and can not be done. Both sides keep what they have, and the journal says why. */
export const giveUpUndo = (mirror: Mirror, item: OutboxItem, reason: string, at: number): void =>
  mirror.transaction(() => endUndo(mirror, item, reason, at));

function endUndo(mirror: Mirror, item: OutboxItem, reason: string, at: number): void {
  const { fields, key, kind, run } = item;
  const kept = pickFields(mirror.findRecord(key)?.fields ?? {}, Object.keys(fields));
  const cause = notTakenBackCause(reason);
  noteUnanswered(mirror, item, at);
  follow(mirror, item, 'dropped', {});
  mirror.appendJournal([{ at, run, key, kind, side: 'crm', before: kept, after: kept, lost: fields, cause }]);
}

/**
 * Of an update or a delete that was sent, and of which nobody will find out whether it was done, the journal keeps what it may have
 * replaced or taken. `at` is epoch ms.
 */
function noteUnanswered(mirror: Mirror, item: OutboxItem | undefined, at: number): void {
  if (!item || item.kind === 'create' || item.sentAt === undefined) return;
  const { base, fields, key, kind, notice, run } = item;
  const before = kind === 'delete' ? { ...base, ...mirror.findRecord(key)?.fields } : base;
  const cause = 'sent to the CRM, which did not say whether it took it';
  const lost = notice === '' ? {} : base;
  mirror.appendJournal([{ at, run, key, kind, side: 'crm', before, after: fields, lost, cause }]);
}
