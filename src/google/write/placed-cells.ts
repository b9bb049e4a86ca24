import type { FieldKind } from '../../core/fields/field-kind.ts';
import { type Cell, describeCell, isComputed } from '../../sheet/port/cell.ts';
import type { Damage } from '../../sheet/port/damage.ts';
import { isSameKept } from '../../sheet/port/kept-cell.ts';
import type { RowCells } from '../../sheet/port/table.ts';
import type { ColumnIndexes } from '../columns.ts';
import type { BoundTab } from '../read.ts';

/** One cell to be written, by its grid column. `kind` is absent for cells that carry no field. */
export interface PlacedCell {
  readonly column: number;
  readonly cell: Cell;
  readonly kind?: FieldKind;
  /** The row of the hidden tab that keeps it with its formula and its format, and its column there; absent where no copy of it was made. */
  readonly from?: { readonly row: number; readonly column: number };
}

/**
 * The managed cells of a row by grid column, from left to right. A cell whose column was not found cannot be
 * written.
 */
export function placeCells({ id, sync, cells }: RowCells, columns: ColumnIndexes): PlacedCell[] {
  const placed: PlacedCell[] = [];
  if (id) placed.push({ column: columns.id, cell: id });
  if (sync) placed.push({ column: foundColumn(columns.sync, 'Sync'), cell: sync });
  for (const [field, cell] of Object.entries(cells)) {
    const column = columns.fields.get(field);
    placed.push({
      column: foundColumn(column?.index, field),
      cell,
      ...(column?.kind && { kind: column.kind }),
    });
  }
  return placed.toSorted((one, other) => one.column - other.column);
}

function foundColumn(index: number | undefined, name: string): number {
  if (index === undefined)
    throw new Error(`The column of ${name} was not in the last read; its cell was written.`);
  return index;
}

/**
 * Users' own cells that are given back, each under the one column with its header, where the row still shows what was written. Formulas,
 * which are right in their copies alone, are left out.
 */
export function placeOwnCells(
  own: Damage['own'],
  { rows: [headers = []] }: Pick<BoundTab, 'rows'>,
  row: readonly Cell[],
): PlacedCell[] {
  const texts = headers.map(describeCell);
  return Object.entries(own).flatMap(([header, { before, written }]): PlacedCell | [] => {
    const column = texts.indexOf(header);
    const isOnly = column >= 0 && texts.lastIndexOf(header) === column;
    return isOnly && !isComputed(before) && isSameKept(row[column], written) ? { column, cell: before } : [];
  });
}
