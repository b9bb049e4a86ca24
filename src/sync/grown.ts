import { createCascades, ownerFields } from '../core/cascade.ts';
import type { Mirror } from '../core/mirror.ts';
import { type RecordKey, recordKeyText } from '../core/record.ts';
import { vanishedScope } from '../core/scopes.ts';
import { isToBeSent, type KnownRecord, type OutboxItem, waitingFields } from '../core/state.ts';
import { differingFields, pickFields } from '../core/value.ts';

/** Whether more would go with a record by now than was known when its row was seen last, or somebody answered. */
export function isOutgrown(mirror: Mirror, item: OutboxItem): boolean {
  // Who answered was told of it. Where its row stands still, they would be asked again each time.
  const isUnshown = isAnswered(mirror, item.key) ? () => false : isMovedUnshown;
  const cascades = createCascades(mirror.readRecords(), mirror.readAllSteps());
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

/** Whether something that would go with a record is on its way to another one: that is sent first. */
export function hasMovingCompany(mirror: Mirror, { key }: OutboxItem): boolean {
  const outbox = mirror.readAllSteps();
  const moving = new Set(
    outbox
      .filter(
        (item) =>
          item.kind === 'update' &&
          isToBeSent(item) &&
          ownerFields.some((name) => item.fields[name] !== undefined),
      )
      .map((item) => recordKeyText(item.key)),
  );
  const going = moving.size > 0 ? createCascades(mirror.readRecords(), outbox).goingWith(key) : [];
  return going.some((record) => moving.has(recordKeyText(record.key)));
}

/** Whether the history tells that a record was moved, or that its row came back. */
const wasMoved = (mirror: Mirror, { key }: KnownRecord, since: number): boolean =>
  mirror
    .searchJournal({ key, since })
    .some(
      ({ after, kind }) =>
        (kind === 'update' || kind === 'create') && ownerFields.some((name) => after[name] !== undefined),
    );
