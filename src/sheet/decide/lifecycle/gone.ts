import { journalEntry } from '../../../core/journal-entry.ts';
import type { KnownRecord } from '../../../core/state.ts';
import { equalValues, type Value } from '../../../core/value.ts';
import { decode } from '../../cells/codec.ts';
import { showsValue } from '../../cells/shown.ts';
import type { TableStep } from '../../plans/plan.ts';
import { describeCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import { saysNothing } from '../rows/row-values.ts';
import { findUnsettled, holdRow } from '../rows/row-write.ts';
import { findHiddenEdits, letWaitingGo } from '../rows/waiting-edits.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';

/** A record that is proven gone from the CRM: its row goes, unless a user edited it since, because a delete never beats an edit. */
export function decideGoneRecord(index: TabIndex, row: ObservedRow, record: KnownRecord): Verdict {
  const { agreements, entity, input, outbox } = index;
  const { key } = record;
  const item = outbox.get(key.id);
  const typed = findTyped(index, row, record);
  if (typed.some(({ column }) => column.direction === 'both')) {
    // Should the record come back, its row is decided anew: what the CRM refused because it was gone would else stay refused.
    const isLetGo = item?.kind === 'update' && !item.isUndo && item.state !== 'sending';
    const held = holdRow(index, { row, id: key.id }, explainStanding(index, record));
    return join(isLetGo ? letWaitingGo(index, row, item) : nothing, held);
  }
  const unsettled = findUnsettled(index, row);
  if (unsettled) return unsettled;
  const { kept, lost } = findHiddenEdits(index, row, item);
  const typedValues = Object.fromEntries(typed.map(({ column, value }) => [column.field, value]));
  const step: TableStep = {
    write: { kind: 'delete', entity, position: row.position, idSeen: row.id },
    key,
    forgets: true,
    journal: journalEntry(input, key, {
      kind: 'delete',
      before: agreements.get(key.id)?.fields ?? {},
      lost: { ...typedValues, ...kept, ...lost },
      cause: 'deleted in the CRM',
    }),
  };
  return { table: [step] };
}

/** What somebody typed into the row and the CRM never had. What stands in a column that only shows is no edit. */
function findTyped(index: TabIndex, row: ObservedRow, { key }: KnownRecord) {
  const { agreements, columns, names } = index;
  const { fields: agreed = {}, offered = {}, shown = {} } = agreements.get(key.id) ?? {};
  return columns.flatMap(({ column, field }) => {
    const { name } = field;
    const cell = row.cells[name];
    if (!cell) return [];
    // What we wrote and no reply has confirmed is nobody's edit.
    const ours = [offered[name], agreed[name]].filter((value) => value !== undefined);
    const isShown = (value: Value) => showsValue(field, value, cell, names, shown[name]);
    const expected = ours.length > 0 ? ours : [null];
    if (ours.some(isShown) || (expected.includes(null) && saysNothing(index, name, cell))) return [];
    const seen = decode(field, cell, names);
    if (seen.kind === 'refused') return [{ column, value: describeCell(cell) }];
    const { value } = seen;
    const isOurs =
      expected.some((known) => equalValues(value, known)) || (value === null && column.blank === 'leave');
    return isOurs ? [] : [{ column, value }];
  });
}

/** Why a row stands although its record is gone. Nothing is agreed about one that came back after it had gone as well. */
function explainStanding({ agreements, cascades }: TabIndex, record: KnownRecord): string {
  const { entity, id } = record.key;
  if (cascades.isGoneWith(record)) return goneWithOwner;
  if (agreements.has(id)) return goneButEdited;
  return entity === 'contact' ? backForGood : backWithoutRecord;
}

const backWithoutRecord =
  'This row came back, but its record was deleted in the CRM. Restore it there, clear the ID to create it anew without what belonged to it, or delete the row.';

const backForGood =
  'This row came back, but its contact was deleted in the CRM for good. Clear the ID to create it anew, or delete the row.';

const goneButEdited =
  'The record was deleted in the CRM, but this row was edited since. Clear the ID to create it again, or delete the row.';

const goneWithOwner =
  'The record went to the trash of the CRM with the one it belongs to, but this row was edited since. Restore it there, or delete the row.';
