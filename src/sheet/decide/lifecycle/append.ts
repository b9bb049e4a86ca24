import { journalEntry } from '../../../core/journal-entry.ts';
import { type Agreement, emptyAgreement, type Shown, waitingFields } from '../../../core/state.ts';
import { type FieldName, type Fields, pickFields, type Value } from '../../../core/value.ts';
import { encode } from '../../cells/codec.ts';
import { idCell } from '../../cells/id-cell.ts';
import { type CellLook, noteShown } from '../../cells/shown.ts';
import { type RowState, syncText, waitingState } from '../../cells/sync-text.ts';
import type { TableStep } from '../../plans/plan.ts';
import { type Cell, emptyCell, textCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import { unreadReason } from '../rows/unread.ts';
import type { TabIndex } from '../tab-index.ts';
import type { DueRow, Verdict } from '../verdict.ts';

/** Gives rows to the records that are due, in their order, as many as a cycle may add and the spreadsheet has room for. */
export function appendRows(index: TabIndex, due: readonly DueRow[]): Verdict[] {
  const { entity, input, tab } = index;
  const { room = Number.POSITIVE_INFINITY } = tab;
  const isFull = due.length > room;
  const rows = due.slice(0, Math.min(input.policy.appendsMax, room)).map((each) => appendRow(index, each));
  return isFull ? [{ holds: [{ entity, reason: fullReason(due.length - room) }] }, ...rows] : rows;
}

const fullReason = (records: number) =>
  `The spreadsheet has no room for ${records} more rows. Delete tabs, columns or blank rows that nobody needs.`;

/**
 * Gives a record a row. What waits to be sent stands there as it was typed, and is not agreed: so it is still an edit, whether it is sent
 * before the row is read again, refused, or met by a change in the CRM.
 */
function appendRow(index: TabIndex, { cause, record }: DueRow): Verdict {
  const { entity, input, layout, names, tab } = index;
  const waiting = waitingFields(index.outbox.get(record.key.id));
  const offers: Record<FieldName, Value> = {};
  const typed: Record<FieldName, Value> = {};
  const cells: Record<FieldName, Cell> = {};
  for (const { field: name } of layout.columns) {
    const edit = waiting[name];
    const [field, value] = [index.fields.get(name), edit === undefined ? record.fields[name] : edit];
    if (!field || field.held !== undefined || !tab.fields.has(name)) continue;
    const cell = value === undefined ? emptyCell : encode(field, value, names);
    // Google puts FALSE into a checkbox that comes with a new row: left there, it would pass for a no that somebody gave.
    if (cell.kind !== 'empty' || field.kind === 'boolean') cells[name] = cell;
    if (value === undefined) continue;
    if (edit === undefined) offers[name] = value;
    else typed[name] = value;
  }
  const { key } = record;
  const agreement = index.agreements.get(key.id) ?? emptyAgreement(key, input.now);
  const unread = unreadReason(record, index.fields);
  const atRest: RowState =
    unread === undefined ? { kind: 'synced', at: input.now, notice: '' } : { kind: 'held', reason: unread };
  const state = Object.keys(typed).length > 0 ? waitingState : atRest;
  // Of what has no column here the row shows nothing. Agreed about all the same, it would pass for emptied once its column is back, and an
  // edit of it in the CRM, for which a row comes back, would beat every later delete as well.
  const fields = pickFields(agreement.fields, [...Object.keys(offers), ...Object.keys(typed)]);
  const shown = noteAppended(index, agreement, cells, { offers, typed });
  const agreed = { ...agreement, fields, offered: offers, ...(shown ? { shown } : {}) };
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
    notice: '',
    journal: journalEntry(input, key, { kind: 'create', after: { ...offers, ...typed }, cause }),
  };
  return { agreementsSaved: [agreed], table: [step] };
}

/** What a new row is about to show. One that was added before may still come, if nothing is known of that write. */
function noteAppended(
  { fields }: TabIndex,
  { offered: offeredBefore, shown }: Agreement,
  cells: ObservedRow['cells'],
  { offers, typed }: { readonly offers: Fields; readonly typed: Fields },
): Shown | undefined {
  const looks = Object.entries(cells).flatMap(([name, cell]): CellLook[] => {
    const [field, value] = [fields.get(name), { ...offers, ...typed }[name]];
    return field && value !== undefined ? [{ field, cell, value }] : [];
  });
  return noteShown({ shown, agreed: {}, offeredBefore, offered: offers }, looks);
}
