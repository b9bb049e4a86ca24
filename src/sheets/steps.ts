import { type Cell, emptyCell } from '../core/cell.ts';
import type { AppendStep, DeleteStep, RowCells, RowStep, SetStep } from '../core/table.ts';
import type { ManagedColumn, ManagedColumns } from './columns.ts';
import { type BoundTab, endOfRows } from './read.ts';

/**
 * The steps of one tab by kind. They are applied in this order, so that no step moves a row that a later one
 * names.
 */
export interface TabSteps {
  readonly sets: readonly SetStep[];
  readonly appends: readonly AppendStep[];
  /** From the bottom to the top. */
  readonly deletes: readonly DeleteStep[];
}

/** One cell of a row that is written. `kind` is absent for the ID and the Sync cell. */
export interface PlacedCell {
  readonly column: number;
  readonly cell: Cell;
  readonly kind?: ManagedColumn['kind'];
}

export function sortSteps(steps: readonly RowStep[]): TabSteps {
  return {
    sets: steps.filter((step) => step.kind === 'set').toSorted((one, other) => one.position - other.position),
    appends: steps.filter((step) => step.kind === 'append'),
    deletes: steps
      .filter((step) => step.kind === 'delete')
      .toSorted((one, other) => other.position - one.position),
  };
}

/**
 * The cells of a row by grid column, from left to right. A cell whose column was not found can not be
 * written.
 */
export function placeCells({ id, sync, cells }: RowCells, columns: ManagedColumns): PlacedCell[] {
  const placed: PlacedCell[] = [];
  if (id) placed.push({ column: columns.id, cell: id });
  if (sync) placed.push({ column: foundColumn(columns.sync, 'Sync'), cell: sync });
  for (const [field, cell] of Object.entries(cells)) {
    const column = columns.fields.get(field);
    placed.push({ column: foundColumn(column?.index, field), cell, ...(column && { kind: column.kind }) });
  }
  return placed.toSorted((one, other) => one.column - other.column);
}

function foundColumn(index: number | undefined, name: string): number {
  if (index === undefined)
    throw new Error(`The column of ${name} was not in the last read; its cell was written.`);
  return index;
}

/** The tab as it stands after the steps, if nobody else changed it. */
export function applySteps(tab: BoundTab, { sets, appends, deletes }: TabSteps): BoundTab {
  const rows = tab.rows.map((row) => [...row]);
  for (const step of sets) putCells(rows, step.position, placeCells(step, tab.columns));
  const end = endOfRows(tab.rows, tab.columns);
  const appended: Cell[][] = [];
  for (const [index, step] of appends.entries()) putCells(appended, index, placeCells(step, tab.columns));
  rows.splice(end, 0, ...appended);
  for (const { position } of deletes) rows.splice(position, 1);
  return { ...tab, rows, rowCount: Math.max(tab.rowCount + appends.length - deletes.length, 2) };
}

function putCells(rows: Cell[][], position: number, cells: readonly PlacedCell[]): void {
  while (rows.length <= position) rows.push([]);
  const row = rows[position] ?? [];
  for (const { column, cell } of cells) {
    while (row.length < column) row.push(emptyCell);
    row[column] = cell;
  }
}
