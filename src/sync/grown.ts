import { createCascades, ownerFields } from '../core/decide/cascade.ts';
import { vanishedScope } from '../core/decide/context.ts';
import { waitingFields } from '../core/decide/waiting-edits.ts';
import type { Mirror } from '../core/mirror.ts';
import type { RecordKey } from '../core/record.ts';
import { isOnItsWay, type KnownRecord, type OutboxItem } from '../core/state.ts';
import { differingFields, pickFields } from '../core/value.ts';

/** Whether more would go with a record by now than was known when its delete was decided. */
export function isOutgrown(mirror: Mirror, item: OutboxItem): boolean {
  // Who answered was told of it. Where its row stands still, they would be asked again each time.
  const isUnshown = isAnswered(mirror, item.key) ? () => false : isMovedUnshown;
  const cascades = createCascades(mirror.readRecords(), mirror.readOutbox());
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

/**
 * Whether a delete has to wait because something that would go with the record is on its way to another one, or may be: nothing is sent of a
 * tab that is stopped. Who answered was told what goes.
 */
export function hasUnsettledCompany(
  mirror: Mirror,
  item: OutboxItem,
  isWithheld: (item: OutboxItem) => boolean,
): boolean {
  const isTold = isAnswered(mirror, item.key);
  const isMoving = (step: OutboxItem | undefined) =>
    step?.kind === 'update' &&
    isOnItsWay(step) &&
    ownerFields.some((name) => step.fields[name] !== undefined);
  return createCascades(mirror.readRecords(), mirror.readOutbox())
    .goingWith(item.key)
    .some(({ key }) => isMoving(mirror.findOutboxItem(key)) || (!isTold && isWithheld({ ...item, key })));
}

/** Whether the history tells that a record was moved, or that its row came back. */
const wasMoved = (mirror: Mirror, { key }: KnownRecord, since: number): boolean =>
  mirror
    .searchJournal({ key, since })
    .some(
      ({ after, kind }) =>
        (kind === 'update' || kind === 'create') && ownerFields.some((name) => after[name] !== undefined),
    );
