import { type Cell, isComputed } from '../../sheet/port/cell.ts';
import type { Rows } from '../grid.ts';

/** The values of a column by row. What is missing at its end is empty. */
export type Values = readonly unknown[];

/** A column of a tab as it is polled. `before` is what the poll before brought: absent before the first one. */
export interface PolledColumn {
  readonly index: number;
  readonly now: Values;
  readonly before?: Values;
}

/** Rows that were added or removed: the kept rows from `from` on to before `keptEnd` are those from `from` on to before `end` now. */
export interface Splice {
  readonly from: number;
  readonly keptEnd: number;
  readonly end: number;
}

/** Where a row is now that was not removed. */
export const shift = (row: number, { end, keptEnd }: Splice): number =>
  row < keptEnd ? row : row + end - keptEnd;

/** Where rows are now that were not removed. */
export const shiftKept = (rows: Iterable<number>, splice: Splice | undefined): number[] =>
  splice
    ? [...rows].flatMap((row) => (row < splice.from || row >= splice.keptEnd ? [shift(row, splice)] : []))
    : [...rows];

/** What a poll found in a cell of a column that changed; `undefined` in all others. */
export type ValueAt = (column: number, row: number) => unknown;

/** What a poll found changed in a tab, in rows as they are now. */
export interface ChangedRows {
  readonly rows: readonly number[];
  readonly splice?: Splice;
}

/**
 * So many rows, which a write of ours reaches often, are read one by one. Where more changed, what else happened to the tab is found out by
 * reading all of it.
 */
export const rowsMax = 1_200;

/** Finds the rows in which one of the columns is not as it is kept; `undefined` where they are too many. */
export function findChangedRows(
  kept: Rows,
  columns: readonly PolledColumn[],
  height: number,
): ChangedRows | undefined {
  const rows = new Set<number>();
  for (const column of columns) {
    for (let row = 0; row < height; row += 1) if (!isSame(kept, column, row, row)) rows.add(row);
    if (rows.size > rowsMax) return undefined;
  }
  return { rows: [...rows].toSorted((one, other) => one - other) };
}

/** How many rows are filled, by a poll and by the one before. */
export interface Heights {
  readonly now: number;
  readonly before: number;
}

/**
 * Finds what changed between rows above and rows below that are as they were, all columns taken together: a row that is added moves all
 * that are below it. `undefined` where too many are in between. Rows that came behind the last one, or went from there, are never too many.
 */
export function alignRows(
  kept: Rows,
  columns: readonly PolledColumn[],
  { before, now }: Heights,
): ChangedRows | undefined {
  const isSameRow = (row: number, keptRow: number) =>
    columns.every((column) => isSame(kept, column, row, keptRow));
  const shorter = Math.min(now, before);
  let from = 0;
  while (from < shorter && isSameRow(from, from)) from += 1;
  let below = 0;
  while (below < shorter - from && isSameRow(now - 1 - below, before - 1 - below)) below += 1;
  const end = below === 0 ? Math.max(now, before) : now - below;
  if (end - from > rowsMax && from < shorter) return undefined;
  const rows = Array.from({ length: end - from }, (_, place) => from + place);
  return below === 0 ? { rows } : { rows, splice: { from, keptEnd: before - below, end } };
}

function isSame(kept: Rows, { before, index, now }: PolledColumn, row: number, keptRow: number): boolean {
  const cell = kept[keptRow]?.[index];
  const value = now[row] ?? '';
  if (!cell || cell.kind === 'empty') return value === '';
  if (isComputed(cell)) return before === undefined || value === (before[keptRow] ?? '');
  return value === typedValue(cell);
}

/** What a poll says of a cell that a user typed; `undefined` of any other. */
export function typedValue(cell: Cell): string | number | boolean | undefined {
  switch (cell.kind) {
    case 'empty':
      return '';
    case 'text':
      return cell.text;
    case 'number':
      return cell.number;
    case 'boolean':
      return cell.boolean;
    default:
      return undefined;
  }
}
