import { createCascades, ownerFields, relateRecords } from '../../core/cascade.ts';
import type { Mirror } from '../../core/mirror.ts';
import { type RecordKey, recordKeyText } from '../../core/record.ts';
import {
  isOnItsWay,
  isToBeSent,
  type KnownRecord,
  type OutboxItem,
  waitingFields,
} from '../../core/state.ts';
import { differingFields, type Fields, pickFields } from '../../core/value.ts';
import { vanishedScope } from '../../core/waiting/scopes.ts';

/** Whether more would go with a record by now than was known when its row was seen last, or somebody answered. */
export function isOutgrown(mirror: Mirror, item: OutboxItem): boolean {
  // Who answered was told of it. Where its row stands still, they would be asked again each time.
  const isUnshown = isAnswered(mirror, item.key) ? () => false : isMovedUnshown;
  const cascades = createCascades(relateRecords(mirror.readRecords()), mirror.readAllSteps());
  return cascades.isOutgrown(
    item,
    (record, since) => isUnshown(mirror, record) || wasMoved(mirror, record, since),
  );
}

const isAnswered = (mirror: Mirror, key: RecordKey): boolean =>
  mirror.readDecisions().some(({ choice, scope }) => scope === vanishedScope(key) && choice === 'trash');

/** Whether a record belongs to another one than its row shows, also because the CRM did not take what somebody typed there. */
function isMovedUnshown(mirror: Mirror, { fields, key }: KnownRecord): boolean {
  const shown = { ...mirror.findAgreement(key)?.fields, ...waitingFields(mirror.findOutboxItem(key)) };
  return differingFields(pickFields(shown, ownerFields), fields).length > 0;
}

/** Whether a delete waits: an edit of its record at another side, and what moves away that would go with it, are sent first. */
export const comesLater = (mirror: Mirror, { key }: OutboxItem): boolean =>
  hasMovingCompany(mirror, key) ||
  mirror
    .readAllSteps()
    .some((item) => item.kind === 'update' && isToBeSent(item) && isSameRecord(item.key, key));

function hasMovingCompany(mirror: Mirror, key: RecordKey): boolean {
  const outbox = mirror.readAllSteps();
  const isMove = (item: OutboxItem) => item.kind === 'update' && isToBeSent(item) && namesOwner(item.fields);
  const moving = new Set(outbox.filter(isMove).map(({ key: moved }) => recordKeyText(moved)));
  const going =
    moving.size > 0 ? createCascades(relateRecords(mirror.readRecords()), outbox).goingWith(key) : [];
  return going.some((record) => moving.has(recordKeyText(record.key)));
}

const isSameRecord = (one: RecordKey, other: RecordKey): boolean =>
  one.entity === other.entity && one.id === other.id;

/** Whether a side has sent a step to the record of which nobody knows what came of it: the CRM may have it. */
export const hasUnanswered = (mirror: Mirror, key: RecordKey): boolean =>
  mirror
    .readAllSteps()
    .some((item) => isOnItsWay(item) && item.sentAt !== undefined && isSameRecord(item.key, key));

/** Whether the history tells that a record was moved, or that its row came back. */
const wasMoved = (mirror: Mirror, { key }: KnownRecord, since: number): boolean =>
  mirror
    .searchJournal({ key, since })
    .some(({ after, kind }) => (kind === 'update' || kind === 'create') && namesOwner(after));

const namesOwner = (fields: Fields): boolean => ownerFields.some((name) => fields[name] !== undefined);
