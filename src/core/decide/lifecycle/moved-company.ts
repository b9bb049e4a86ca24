import { describeCell } from '../../cell.ts';
import type { Decoded } from '../../codec.ts';
import { findField } from '../../field.ts';
import { columnOf, tabOf } from '../../layout.ts';
import { type Entity, entities, type RecordKey, recordKeyText } from '../../record.ts';
import { showsValue } from '../../shown.ts';
import type { Agreement, KnownRecord } from '../../state.ts';
import type { ObservedRow, ObservedTable } from '../../table.ts';
import { decodeTyped } from '../../typed-cell.ts';
import { equalValues, type FieldName } from '../../value.ts';
import type { DecideInput, Known, TabContext } from '../context.ts';
import { findEditFault } from '../rows/merge.ts';
import { isToBeSent } from '../rows/refused.ts';
import { ownerFields } from './cascade.ts';

/**
 * Whether the table says of something that would go with a record that it belongs to another one: `moving` where that is to be sent, or waits
 * for an answer of its own, and `stuck` where it can not be, as where the other one is a new row, the row is paused, or the key may not.
 */
export function findMovedCompany(context: TabContext, key: RecordKey): 'none' | 'moving' | 'stuck' {
  const { known, table } = context.input;
  const going = context.cascades.goingWith(key);
  const moves = going.flatMap((record) => {
    const row = rowsOf(table).get(recordKeyText(record.key));
    const shown = row ? ownerFields.flatMap((name) => findOther(context, record, row, name) ?? []) : [];
    return shown.map((seen) => ({ record, seen, isPaused: row?.isPaused === true }));
  });
  if (moves.length === 0) return 'none';
  const idle = new Set(
    known.outbox.filter((item) => !isToBeSent(item)).map((item) => recordKeyText(item.key)),
  );
  const isStuck = moves.some(
    ({ isPaused, record, seen }) =>
      isPaused || seen.kind === 'refused' || idle.has(recordKeyText(record.key)),
  );
  return isStuck ? 'stuck' : 'moving';
}

/** What a row shows in such a field instead of what the CRM has; `undefined` where that is the same. */
function findOther(
  { input, names }: TabContext,
  { fields, key }: KnownRecord,
  row: ObservedRow,
  name: FieldName,
): Decoded | undefined {
  const tab = tabOf(input.layout, key.entity);
  const column = tab && columnOf(tab, name);
  const field = findField(key.entity, name, input.known.catalog);
  const [cell, value] = [row.cells[name], fields[name] ?? null];
  if (column?.direction !== 'both' || !field || !cell) return undefined;
  const { shown = {} } = agreementsOf(input.known).get(recordKeyText(key)) ?? {};
  if (showsValue(field, value, cell, names, shown[name])) return undefined;
  const seen = decodeTyped(field, cell, names);
  if (seen.kind === 'refused') return seen;
  if (equalValues(seen.value, value)) return undefined;
  if (seen.value === null && mayBeWiped(input, key.entity, row))
    return { kind: 'refused', reason: wipedReason };
  const reason = findEditFault({ column, field }, value, seen.value, names);
  return reason === undefined ? seen : { kind: 'refused', reason };
}

/** Whether a row lacks what no record can be without: then nothing that is emptied there is sent. */
function mayBeWiped({ known, layout }: DecideInput, entity: Entity, { cells }: ObservedRow): boolean {
  const { columns = [] } = tabOf(layout, entity) ?? {};
  return columns.some(({ direction, field }) => {
    const isNeeded = findField(entity, field, known.catalog)?.isRequired ?? false;
    return isNeeded && direction === 'both' && cells[field]?.kind === 'empty';
  });
}

const wipedReason = 'Its row was wiped.';

/** The rows of a table by the record whose ID they have: for each of many rows that are gone those of its company are looked for. */
const rowsByTable = new WeakMap<ObservedTable, ReadonlyMap<string, ObservedRow>>();

function rowsOf(table: ObservedTable): ReadonlyMap<string, ObservedRow> {
  const known = rowsByTable.get(table);
  if (known) return known;
  const rowsOfTab = (entity: Entity) => {
    const tab = table.tabs[entity];
    return tab.state === 'held' ? [] : tab.rows;
  };
  const rows = new Map(
    entities.flatMap((entity) =>
      rowsOfTab(entity).map((row) => [recordKeyText({ entity, id: describeCell(row.id) }), row] as const),
    ),
  );
  rowsByTable.set(table, rows);
  return rows;
}

/** The same for what is agreed. */
const agreementsByKnown = new WeakMap<Known, ReadonlyMap<string, Agreement>>();

function agreementsOf(known: Known): ReadonlyMap<string, Agreement> {
  const kept = agreementsByKnown.get(known);
  if (kept) return kept;
  const agreements = new Map(known.agreements.map((each) => [recordKeyText(each.key), each] as const));
  agreementsByKnown.set(known, agreements);
  return agreements;
}
