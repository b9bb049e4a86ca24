import { once } from '../../../core/once.ts';
import type { RecordId } from '../../../core/record.ts';
import { isUnanswered, type KnownRecord, type OutboxItem, waitingFields } from '../../../core/state.ts';
import { describeCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import { isLike } from '../identity/likeness.ts';
import { resembles } from '../identity/resemblance.ts';
import { showsValues } from '../rows/row-values.ts';
import { noteLost } from '../rows/waiting-edits.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';
import { decideVanishedRow, type Release } from './vanished.ts';

/**
 * What a record without a row is. `vanished`: its row is gone for longer than one read. `gone`: so is the record itself. `doubtful`: a create
 * may have made it whose row is still there. `unseen`: it never had a row. Of any other nothing is decided: its row has just gone.
 */
type RecordKind = 'vanished' | 'gone' | 'doubtful' | 'unseen' | 'other';

interface RowlessRecord {
  readonly record: KnownRecord;
  readonly kind: RecordKind;
  /** The create that may have made a doubtful one. */
  readonly create?: OutboxItem | undefined;
}

/** What is to be known of the rows. */
export interface RowlessSurroundings {
  /** Records whose rows are gone, and were in the read before. */
  readonly vanished: ReadonlySet<RecordId>;
  /** Records that have a row, or may have. */
  readonly present: ReadonlySet<RecordId>;
  /** The IDs that rows show, or are about to get. */
  readonly tokens: ReadonlySet<RecordId>;
  readonly release: Release;
}

interface JudgeSurroundings {
  readonly release: Release;
  /** Rows that show something else than what is agreed for the record whose ID they have. */
  readonly changedRows: () => readonly ObservedRow[];
}

type Judge = (rowless: RowlessRecord, index: TabIndex, around: JudgeSurroundings) => Verdict;

const judges: Readonly<Record<RecordKind, Judge>> = {
  vanished: ({ record }, index, { release }) => decideVanishedRow(index, record.key, release),
  gone: ({ record }, index, { changedRows }) => forgetGone(index, record, changedRows),
  // A user is told if somebody has to look.
  doubtful: ({ create, record: { key } }) =>
    create?.state === 'review' ? { holds: [{ ...key, reason: doubtfulReason(create) }] } : nothing,
  unseen: ({ record }) => ({ due: [{ record, cause: 'created in the CRM' }] }),
  other: () => nothing,
};

/** Decides the records that have no row: lost rows first, in the order of their set, then all others by their ids. */
export function decideRowless(index: TabIndex, around: RowlessSurroundings): Verdict[] {
  const { present, release, vanished } = around;
  const lost = [...vanished].flatMap((id) => index.records.get(id) ?? []);
  const others = [...index.records.values()]
    .filter(({ key }) => !present.has(key.id) && !vanished.has(key.id))
    .toSorted((left, right) => byNumber.compare(left.key.id, right.key.id));
  const creates = [...index.outbox.values()].filter((item) => isExpected(index, item, around.tokens));
  const changedRows = once(() => index.tab.rows.filter((row) => isChanged(index, row)));
  return [...lost, ...others].map((record) => {
    const rowless = classify(index, record, vanished, creates);
    return judges[rowless.kind](rowless, index, { changedRows, release });
  });
}

function classify(
  { agreements }: TabIndex,
  record: KnownRecord,
  vanished: ReadonlySet<RecordId>,
  creates: readonly OutboxItem[],
): RowlessRecord {
  const { id } = record.key;
  if (vanished.has(id)) return { record, kind: 'vanished' };
  if (record.presence === 'gone') return { record, kind: 'gone' };
  if (Object.keys(agreements.get(id)?.fields ?? {}).length > 0) return { record, kind: 'other' };
  const create = creates.find((candidate) => mayBeMadeBy(candidate, record));
  return { record, kind: create ? 'doubtful' : 'unseen', create };
}

/** Ids are integers, or begin with the one of a lead. */
const byNumber = new Intl.Collator('en', { numeric: true });

/** Whether the row of a create is there, or its record may still come. */
function isExpected(
  { agreements }: TabIndex,
  { key, kind, recordId = '', state }: OutboxItem,
  tokens: ReadonlySet<RecordId>,
): boolean {
  if (kind !== 'create') return false;
  if (tokens.has(key.id)) return true;
  // A user who took the token out of its row has looked, and without an agreement nobody is asked what became of the row.
  return state === 'done' ? agreements.has(recordId) : state !== 'review';
}

/**
 * Whether a create has made the record, or may have: then it must not get a row of its own. While the outcome of the create is not known any
 * newcomer may be its record; once a person must look, only one that looks like it.
 */
function mayBeMadeBy(item: OutboxItem, record: KnownRecord): boolean {
  if (item.state === 'done') return item.recordId === record.key.id;
  if (item.sentAt === undefined || record.firstSeenAt < item.sentAt) return false;
  if (isUnanswered(item)) return true;
  return item.state === 'review' && resembles(item.fields, record.fields);
}

const doubtfulReason = ({ key }: OutboxItem): string =>
  `It may be the record that the row with ${key.id} in its ID cell was to create. ` +
  'Put its ID into that cell if it is, or clear the cell to create a new record.';

/**
 * Forgets what is agreed and what waits of a record that is gone, and so is its row. What a row with another ID still shows is not gone
 * from there: forgotten, it would pass for an edit of the record whose ID stands beside it.
 */
function forgetGone(
  index: TabIndex,
  { key }: KnownRecord,
  changedRows: JudgeSurroundings['changedRows'],
): Verdict {
  const [agreement, item] = [index.agreements.get(key.id), index.outbox.get(key.id)];
  const isForgotten = agreement !== undefined && !changedRows().some((row) => isLike(index, row, agreement));
  return join(
    isForgotten ? { agreementsDropped: [key] } : nothing,
    item ? noteLost(index, item, waitingFields(item), 'the record is gone, and so is its row') : nothing,
    item ? { outboxDropped: [key] } : nothing,
  );
}

/** Whether a row shows something else than what is agreed for the record whose ID it has. */
function isChanged(index: TabIndex, row: ObservedRow): boolean {
  const own = index.agreements.get(describeCell(row.id));
  return own !== undefined && !showsValues(index, row, own.fields, own.shown);
}
