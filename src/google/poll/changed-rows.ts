import type { Slices } from '../../core/slices.ts';
import { type Cell, emptyCell, isComputed } from '../../sheet/port/cell.ts';
import type { Rows } from '../grid.ts';

/** The values of a column by row. What is missing at its end is empty. */
export type Values = readonly unknown[];

/** A column of a tab as it is polled. `before` is what the poll before brought: absent before the first one. */
export interface PolledColumn {
  readonly index: number;
  readonly now: Values;
  readonly before?: Values;
}

/** For each row as it is now, which of the kept rows it is; -1 for one that was not kept. */
export type Origins = readonly number[];

/** Where rows are now that were not removed. */
export function shiftKept(rows: ReadonlySet<number>, origins: Origins | undefined): number[] {
  if (!origins || rows.size === 0) return [...rows];
  return [...origins.keys()].filter((row) => rows.has(origins[row] ?? nowhere));
}

const nowhere = -1;

/** What a poll found in a cell of a column that changed; `undefined` in all others. */
export type ValueAt = (column: number, row: number) => unknown;

/** What a poll found changed in a tab. */
export interface ChangedRows {
  /** Those that hold something else, where they are now. */
  readonly rows: readonly number[];
  /** Absent where no row has moved. */
  readonly origins?: Origins;
}

/**
 * So many rows, which a write of ours reaches often, are read one by one. Where more changed, what else happened to the tab is found out by
 * reading all of it.
 */
export const rowsMax = 1_200;

/** Where more rows than that are not as they are kept, some may have only moved. */
const inPlaceMax = 100;

/** Finds the rows in which one of the columns is not as it is kept; `undefined` where they are many. */
export function findChangedRows(
  kept: Rows,
  columns: readonly PolledColumn[],
  height: number,
): ChangedRows | undefined {
  const rows = new Set<number>();
  for (const column of columns) {
    for (let row = 0; row < height; row += 1) if (!isSame(kept, column, row, row)) rows.add(row);
    if (rows.size > inPlaceMax) return undefined;
  }
  return { rows: [...rows].toSorted((one, other) => one - other) };
}

/** How many rows are filled, by a poll and by the one before. */
export interface Heights {
  readonly now: number;
  readonly before: number;
}

/**
 * Finds the rows that were kept wherever they are now, all columns taken together: those above and below that are as they were, and in between
 * those that hold the same elsewhere. `undefined` where too many hold something else. Rows that came behind the last one, or went from there,
 * are never too many.
 */
export function* alignRows(
  kept: Rows,
  { columns, idColumn }: AlignedColumns,
  { before, now }: Heights,
): Slices<ChangedRows | undefined> {
  const isSameRow = (row: number, keptRow: number) =>
    columns.every((column) => isSame(kept, column, row, keptRow));
  const shorter = Math.min(now, before);
  let from = 0;
  while (from < shorter && isSameRow(from, from)) from += 1;
  let below = 0;
  while (below < shorter - from && isSameRow(now - 1 - below, before - 1 - below)) below += 1;
  yield;
  const names = namesIn(kept, columns, idColumn);
  const between = { from, end: now - below, keptEnd: before - below };
  const middle = yield* findElsewhere(between, names, isSameRow);
  // Where the last row is another one, those below may have cells of users' own, and stay where they are.
  const end = below === 0 ? Math.max(now, before) : between.end;
  const rows = range(from, end).filter((row) => (middle[row - from] ?? nowhere) === nowhere);
  if (rows.filter((row) => row < shorter).length > rowsMax) return undefined;
  const areInPlace = middle.every((origin, place) => origin === nowhere || origin === from + place);
  if (areInPlace && (below === 0 || now === before)) return { rows };
  const origins = [...range(0, from), ...middle, ...range(between.end, end).map(() => nowhere)];
  return { rows, origins: origins.concat(range(below === 0 ? end : between.keptEnd, kept.length)) };
}

/** All polled columns of a tab. */
interface AlignedColumns {
  readonly columns: readonly PolledColumn[];
  readonly idColumn: number;
}

const range = (from: number, end: number): number[] =>
  Array.from({ length: Math.max(0, end - from) }, (_, place) => from + place);

/** What a row is looked for by, as it is now and as it is kept. */
interface RowNames {
  readonly now: (row: number) => unknown;
  readonly kept: (row: number) => unknown;
}

/** By its ID, or by all that is typed into it where it has none. */
function namesIn(kept: Rows, columns: readonly PolledColumn[], idColumn: number): RowNames {
  const nameOf = (valueIn: (column: PolledColumn) => unknown) => {
    const id = columns.find(({ index }) => index === idColumn);
    return (id && valueIn(id)) || JSON.stringify(columns.map(valueIn));
  };
  return {
    now: (row) => nameOf(({ now }) => now[row] ?? ''),
    kept: (row) => nameOf(({ index }) => typedValue(kept[row]?.[index] ?? emptyCell)),
  };
}

/** Rows from `from` on, up to which they go now and went as they were kept. */
interface Between {
  readonly from: number;
  readonly end: number;
  readonly keptEnd: number;
}

/** So many rows are looked for before anything else gets its turn. */
const sliceRows = 2_000;

/** The origin of each row in between: the one below that of the row above, or one of the same name. Each is of one row alone. */
function* findElsewhere(
  { end, from, keptEnd }: Between,
  names: RowNames,
  isSameRow: (row: number, keptRow: number) => boolean,
): Slices<Origins> {
  const byName = new Map<unknown, number[]>();
  // The last one of a list is the next to be taken.
  for (let row = keptEnd - 1; row >= from; row -= 1) {
    const name = names.kept(row);
    const own = byName.get(name);
    if (own) own.push(row);
    else byName.set(name, [row]);
    if (row % sliceRows === 0) yield;
  }
  const taken = new Set<number>();
  const isFree = (origin: number) => origin < keptEnd && !taken.has(origin);
  const origins: number[] = [];
  let next = from;
  for (let row = from; row < end; row += 1) {
    const own = byName.get(names.now(row)) ?? [];
    while (own.length > 0 && !isFree(own.at(-1) ?? nowhere)) own.pop();
    const found = [next, own.at(-1) ?? nowhere].find(
      (origin) => origin >= from && isFree(origin) && isSameRow(row, origin),
    );
    if (found !== undefined) {
      taken.add(found);
      next = found + 1;
    }
    origins.push(found ?? nowhere);
    if (row % sliceRows === 0) yield;
  }
  return origins;
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
