import { journalEntry } from '../../../core/journal-entry.ts';
import { once } from '../../../core/once.ts';
import { type RecordId, recordKeyText } from '../../../core/record.ts';
import {
  emptyAgreement,
  isUnanswered,
  type KnownRecord,
  type OutboxItem,
  waitingFields,
} from '../../../core/state.ts';
import { type FieldName, pickFields, type Value } from '../../../core/value.ts';
import { encode } from '../../cells/codec.ts';
import { shownValue } from '../../cells/extra-fields.ts';
import { type CellLook, idCell, noteShown } from '../../cells/shown.ts';
import { type RowState, syncText, waitingState } from '../../cells/sync-text.ts';
import { moveLeave } from '../../only/leave.ts';
import type { TableStep } from '../../plans/plan.ts';
import { type Cell, describeCell, emptyCell, textCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import { isInTable, isLike, resembles } from '../identity/likeness.ts';
import { unreadReason } from '../rows/columns.ts';
import { showsValues } from '../rows/row-values.ts';
import { noteLost } from '../rows/waiting-edits.ts';
import type { TabIndex } from '../tab-index.ts';
import { type DueRow, join, nothing, type Verdict } from '../verdict.ts';
import { decideOutside, isSettledOutside } from './outside.ts';
import { decideVanishedRow, type Release } from './vanished.ts';

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

/**
 * Decides the records that have no row: lost rows first, in the order of their set, then all others by their ids. Such a record is vanished, where
 * its row is gone for longer than one read; gone, and so is its row; doubtful, where a create may have made it whose row is still there; or unseen:
 * it never had a row. Of any other nothing is decided: its row has just gone.
 */
export function decideRowless(index: TabIndex, around: RowlessSurroundings): Verdict[] {
  const { present, release, tokens, vanished } = around;
  const lost = [...vanished].filter((id) => index.records.has(id));
  const others = index.loose.records
    .filter(({ key }) => !present.has(key.id) && !vanished.has(key.id))
    .toSorted((left, right) => compareIds(left.key.id, right.key.id));
  const creates = [...index.outbox.values()].filter(({ kind }) => kind === 'create');
  const expected = creates.filter((item) => isExpected(index, item, tokens));
  const changedRows = once(() => index.tab.rows.filter((row) => isChanged(index, row)));
  return [
    ...lost.map((id) => decideVanishedRow(index, { entity: index.entity, id }, release)),
    ...others.map((record) =>
      record.presence === 'gone'
        ? forgetGone(index, record, changedRows)
        : decideNewcomer(index, record, { creates, expected }),
    ),
  ];
}

/** All creates of the tab, and those of them whose row is there or whose record may still come. */
interface Creates {
  readonly creates: readonly OutboxItem[];
  readonly expected: readonly OutboxItem[];
}

/** Gives a row to a record that never had one, and none to one of a create. */
function decideNewcomer(index: TabIndex, record: KnownRecord, { creates, expected }: Creates): Verdict {
  const { key } = record;
  const agreement = index.agreements.get(key.id);
  if (agreement && isInTable(index, agreement) && index.only.isOut(agreement))
    return decideOutside(index, record);
  if (Object.keys(agreement?.fields ?? {}).length > 0) return nothing;
  const create = expected.find((candidate) => mayBeMadeBy(candidate, record));
  const isWanted = index.only.fitOf(record).kind === 'fits';
  if (!create && isWanted) return { due: [{ record, cause: 'created in the CRM' }] };
  if (!create) return leaveOut(index, record, creates);
  // A user is told if somebody has to look.
  return create.state === 'review' ? { holds: [{ ...key, reason: doubtfulReason(create) }] } : nothing;
}

/** A record that does not fit stays without a row. */
function leaveOut(index: TabIndex, record: KnownRecord, creates: Creates['creates']): Verdict {
  const isSettled =
    isSettledOutside(index, record) &&
    !index.agreements.has(record.key.id) &&
    !creates.some((item) => mayBeMadeBy(item, record));
  return isSettled ? { outside: [record.key] } : nothing;
}

/** Ids are integers, or begin with the one of a lead. There may be tens of thousands of them, and collation takes a hundred times as long. */
const compareIds = (left: RecordId, right: RecordId): number =>
  Number(left) - Number(right) || byNumber.compare(left, right);

const byNumber = new Intl.Collator('en', { numeric: true });

/** Whether the row of a create is there, or its record may still come. */
function isExpected(index: TabIndex, item: OutboxItem, tokens: ReadonlySet<RecordId>): boolean {
  const { key, recordId = '', state } = item;
  if (tokens.has(key.id)) return true;
  // A user who took the token out of its row has looked, and without an agreement nobody is asked what became of the row.
  return state === 'done' ? index.agreements.has(recordId) : state !== 'review';
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
function forgetGone(index: TabIndex, { key }: KnownRecord, changedRows: () => ObservedRow[]): Verdict {
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

/**
 * Gives rows to the records that are due, in their order, as many as a cycle may add and the spreadsheet has room for. One whose row may still
 * arrive waits until that is known.
 */
export function appendRows(index: TabIndex, all: readonly DueRow[]): Verdict[] {
  const { entity, input, tab } = index;
  const { room = Number.POSITIVE_INFINITY } = tab;
  const due = all.filter(({ record }) => !input.known.arriving.has(recordKeyText(record.key)));
  const isFull = due.length > room;
  // All tabs may grow in one write.
  const share = Math.ceil(room / input.layout.length);
  const rows = due.slice(0, Math.min(input.policy.appendsMax, share)).map((each) => appendRow(index, each));
  return isFull ? [{ holds: [{ entity, reason: fullReason(due.length - room) }] }, ...rows] : rows;
}

const fullReason = (records: number) =>
  `The spreadsheet has no room for ${records} more rows. Delete tabs, columns or blank rows that nobody needs.`;

/**
 * Gives a record a row. What waits to be sent stands there as it was typed, and is not agreed: so it is still an edit, whether it is sent
 * before the row is read again, refused, or met by a change in the CRM.
 */
function appendRow(index: TabIndex, { cause, record }: DueRow): Verdict {
  const { entity, input, names, tab } = index;
  const waiting = waitingFields(index.outbox.get(record.key.id));
  const offers: Record<FieldName, Value> = {};
  const typed: Record<FieldName, Value> = {};
  const cells: Record<FieldName, Cell> = {};
  const looks: CellLook[] = [];
  for (const { column, field } of index.columns) {
    const { name } = field;
    if (field.held !== undefined || !tab.fields.has(name)) continue;
    const edit = waiting[name];
    const value = edit === undefined ? shownValue(index, record, column) : edit;
    const cell = value === undefined ? emptyCell : encode(field, value, names);
    // Google puts FALSE into a checkbox that comes with a new row: left there, it would pass for a no that somebody gave.
    if (cell.kind !== 'empty' || field.kind === 'boolean') cells[name] = cell;
    if (value === undefined) continue;
    if (cell.kind !== 'empty') looks.push({ field, cell, value });
    if (edit === undefined) offers[name] = value;
    else typed[name] = value;
  }
  const { key } = record;
  const values = { ...offers, ...typed };
  const agreement = index.agreements.get(key.id) ?? emptyAgreement(key, input.now);
  const unread = unreadReason(index, record);
  const atRest: RowState =
    unread === undefined ? { kind: 'synced', at: input.now, notice: '' } : { kind: 'held', reason: unread };
  const state = Object.keys(typed).length > 0 ? waitingState : atRest;
  // Of what has no column here the row shows nothing. Agreed about all the same, it would pass for emptied once its column is back, and an
  // edit of it in the CRM, for which a row comes back, would beat every later delete as well.
  const fields = pickFields(agreement.fields, Object.keys(values));
  // What was added before may still come, if nothing is known of that write.
  const shown = noteShown({ ...agreement, fields: {} }, offers, looks);
  const leave = agreement.leave && moveLeave(agreement.leave, 'sent', input.now);
  const agreed = { ...agreement, fields, offered: offers, leave, ...(shown ? { shown } : {}) };
  const step: TableStep = {
    write: {
      kind: 'append',
      entity,
      id: idCell(key.id),
      cells,
      ...(tab.hasSync ? { sync: textCell(syncText(state, names.timeZone)) } : {}),
    },
    key,
    offers,
    journal: journalEntry(input, key, { kind: 'create', after: values, cause }),
  };
  return { agreementsSaved: [agreed], table: [step] };
}
