import { findFault, isMissing } from '../../../core/fields/validate.ts';
import type { Shown, ShownForm } from '../../../core/state.ts';
import type { FieldName, Fields, Value } from '../../../core/value.ts';
import { encode } from '../../cells/codec.ts';
import { decodeTyped } from '../../cells/read-cell.ts';
import { holdsAsShown, isUsualForm, lastShown } from '../../cells/shown.ts';
import { type Cell, emptyCell, equalCells, isUnfilled } from '../../port/cell.ts';
import { columnOf } from '../../port/layout.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { TabIndex } from '../tab-index.ts';

/** The cells of a row like this one that shows these values as its record last did, or else in their usual form. */
export function cellsOf(index: TabIndex, row: CellsOfRow, values: Fields, shown: Shown = {}): Cells {
  const expected = ([name, cell]: [FieldName, Cell]) =>
    [name, expectedCell(index, name, cell, values[name], shown[name])] as const;
  return Object.fromEntries(Object.entries(row.cells).map(expected));
}

export type Cells = ObservedRow['cells'];

/** A row, or as much of it as matters. */
export type CellsOfRow = Pick<ObservedRow, 'cells'>;

/** The cell in place of this one that shows a value as its record last did, or else in its usual form; empty where the value is not known. */
export function expectedCell(
  index: TabIndex,
  name: FieldName,
  cell: Cell,
  value: Value | undefined,
  shown: readonly ShownForm[] | undefined,
): Cell {
  if ((value ?? null) === null && saysNothing(index, name, cell)) return cell;
  const field = index.fields.get(name);
  if (!field || value === undefined) return emptyCell;
  if (holdsAsShown(cell, shown, value) || isUsualForm(field, value, cell, index.names)) return cell;
  return lastShown(shown, value) ?? encode(field, value, index.names);
}

/** Whether nobody has said anything in a cell: a boxed column has no empty ones. */
export const saysNothing = ({ tab }: TabIndex, name: FieldName, cell: Cell): boolean =>
  cell.kind === 'empty' || (tab.boxed?.has(name) === true && isUnfilled(cell));

/** Whether the row shows all of these values, or those of the fields that are named, as its record last did, or in their usual form. */
export function showsValues(
  index: TabIndex,
  { cells }: CellsOfRow,
  values: Fields,
  shown: Shown = {},
  names: readonly FieldName[] = Object.keys(cells),
): boolean {
  return names.every((name) => {
    const { [name]: cell = emptyCell } = cells;
    return equalCells(cell, expectedCell(index, name, cell, values[name], shown[name]));
  });
}

/** The cell as it looks: which cells of a boxed column have a box makes no difference. */
const asItLooks = (index: TabIndex, name: FieldName, cell: Cell): Cell =>
  saysNothing(index, name, cell) ? emptyCell : cell;

/** Whether two cells of a column look the same. */
export const lookAlike = (index: TabIndex, name: FieldName, one: Cell, other: Cell): boolean =>
  equalCells(asItLooks(index, name, one), asItLooks(index, name, other));

/** One text for everything a row shows: equal texts, rows that look the same. */
export const lookOf = (index: TabIndex, { cells }: CellsOfRow): string =>
  JSON.stringify(Object.entries(cells).map(([name, cell]) => asItLooks(index, name, cell)));

/** The same text for what a row like this one would show of these values. */
export const lookOfValues = (index: TabIndex, row: CellsOfRow, values: Fields, shown?: Shown): string =>
  lookOf(index, { cells: cellsOf(index, row, values, shown) });

/** What a row without a record holds: the values to create it from, and why some of it can not be sent. */
export interface RowValues {
  readonly fields: Fields;
  readonly faults: readonly string[];
  /** Headers of required columns that are still empty. */
  readonly missing: readonly string[];
}

/** Reads all cells of a row that go towards the CRM. */
export function readRowValues(index: TabIndex, row: ObservedRow): RowValues {
  const fields: Record<FieldName, Value> = {};
  const faults = findNotTaken(index);
  const missing: string[] = [];
  for (const { column, field } of index.columns) {
    const { header, name } = field;
    if (field.held !== undefined || column.direction !== 'both') continue;
    const cell = row.cells[name];
    if (!cell) {
      if (field.isRequired) missing.push(header);
      continue;
    }
    const seen = decodeTyped(field, saysNothing(index, name, cell) ? emptyCell : cell, index.names);
    if (seen.kind === 'refused') faults.push(seen.reason);
    else if (isMissing(field, seen.value)) missing.push(header);
    else if (seen.value !== null) {
      fields[name] = seen.value;
      const fault = findFault(field, seen.value);
      if (fault) faults.push(fault);
    }
  }
  return { fields, faults, missing };
}

/** What every new record needs and no row can give it, because the configuration takes nothing from that column, or has none. */
function findNotTaken({ fields, layout }: TabIndex): string[] {
  return [...fields.values()].flatMap(({ header, isRequired, name }) => {
    const column = columnOf(layout, name);
    return isRequired && column?.direction !== 'both' ? [notTakenReason(column?.header ?? header)] : [];
  });
}

const notTakenReason = (header: string): string =>
  `A new record needs ${header}, which the configuration does not take from the sheet: set the direction of its column to both, or add the record in the CRM.`;
