import type { FieldKind } from '../core/fields/field-kind.ts';
import { pauseName } from '../core/fields/headers.ts';
import type { Slices } from '../core/slices.ts';
import { labelKey } from '../core/text/label-key.ts';
import { plainText } from '../core/text/plain-text.ts';
import type { FieldName } from '../core/value.ts';
import {
  bareCell,
  type Cell,
  describeCell,
  emptyCell,
  isFormula,
  isSameCell,
  isShownAsPercent,
  isSpilled,
  isUnfilled,
  readTypedTruth,
  spilledCell,
  textCell,
} from '../sheet/port/cell.ts';
import { isShownAsMoment, isShownWithoutDay } from '../sheet/port/shown-number.ts';
import type { ObservedRow } from '../sheet/port/table.ts';
import { type ManagedColumns, placesOf } from './columns.ts';
import { cellAt, lastFilled, type Rows } from './grid.ts';

export const managedIndexes = (columns: ManagedColumns): number[] => [...placesOf(columns).values()];

/** What the array formula of another cell fills in is nothing of the row itself. */
const isBlank = (cell: Cell): boolean => isUnfilled(cell) || isSpilled(cell);

export const isBlankRow = (rows: Rows, row: number, indexes: readonly number[]): boolean =>
  indexes.every((index) => isBlank(cellAt(rows, row, index)));

/** What a row of the grid comes to. */
interface RowView {
  /** Absent for a row in which no managed cell is filled. */
  readonly observed?: ObservedRow;
  readonly arrays: ArrayCells;
}

/** By the names of their columns, the cells of a row that an array formula fills, and those with an array formula that shows an error. */
interface ArrayCells {
  readonly filled: readonly FieldName[];
  readonly failed: readonly FieldName[];
}

/** What the columns of a tab say of each of its rows. */
export interface ColumnContext {
  readonly columns: ManagedColumns;
  readonly fresh: ReadonlySet<FieldName>;
  /** Columns that bear the mark of a field: they are or were ours. */
  readonly marked: ReadonlySet<number>;
}

/** What all of its rows say of each. */
interface RowContext {
  readonly spilled: ReadonlySet<FieldName>;
  readonly isPauseLost: boolean;
  /** Columns that are not users' own. */
  readonly ours: ReadonlySet<number>;
}

/** All rows of a tab, and what they were seen under: under the same a row that is the same object comes to the same. */
export interface RowViews {
  readonly rows: Rows;
  readonly binding: string;
  readonly all: readonly RowView[];
  /** What is observed of them, from top to bottom. */
  readonly observed: readonly ObservedRow[];
  /** What array formulas do anywhere in the tab. */
  readonly arrays: { readonly [part in keyof ArrayCells]: ReadonlySet<FieldName> };
  /**
   * The columns that an array formula fills, at least in part, that of the pause among them. It may fill a cell with nothing, and a value in one
   * of its cells would break all of it: the whole column is its own.
   */
  readonly spilled: ReadonlySet<FieldName>;
  readonly isPauseLost: boolean;
}

/** So many rows are looked at before anything else gets its turn: 15 ms. A new tab of Google's has 1,000. */
const sliceMax = 2_000;

/**
 * Looks at the rows of a tab as its columns say, in slices. Of rows that are known nothing but whether they are the same objects is looked at: to
 * touch tens of thousands of them costs more than all that follows from an edit.
 */
export function* viewRows(rows: Rows, context: ColumnContext, last: RowViews | undefined): Slices<RowViews> {
  const { columns, fresh, marked } = context;
  const named: ReadonlyMap<FieldName, number> = new Map([
    ...[...columns.fields].map(([field, { index }]) => [field, index] as const),
    ...(columns.pause === undefined ? [] : [[pauseName, columns.pause] as const]),
  ]);
  const indexes = managedIndexes(columns);
  const ours = new Set([...indexes, columns.pause ?? -1, ...marked]);
  const places = [columns.id, columns.sync, columns.pause];
  const binding = JSON.stringify([[...columns.fields], places, [...ours], [...fresh]]);
  const before = last?.binding === binding ? last : undefined;
  const known = findKnown(rows, before);
  const { arrays, arraysOf } = yield* readArrays(rows, named, known, before?.arrays);
  const leftEmpty = [...arrays.failed].filter((name) => isLeftEmpty(rows, named.get(name) ?? -1));
  const spilled = new Set([...arrays.filled, ...leftEmpty]);
  const isPauseLost = leftEmpty.includes(pauseName);
  const isAsBefore = before?.isPauseLost === isPauseLost && areSame(before.spilled, spilled);
  const viewRow = (position: number): RowView => {
    const view = isAsBefore ? known.viewOf(position) : undefined;
    if (view) return moveView(view, position);
    const bare = { arrays: arraysOf(position) };
    if (position === 0 || isBlankRow(rows, position, indexes)) return bare;
    const observed = observeRow(rows, position, { ...context, spilled, isPauseLost, ours });
    return { ...bare, observed: withKnownCells(observed, last?.all[position]?.observed) };
  };
  const isInPlace = isAsBefore && before.rows.length === rows.length;
  const viewed = isInPlace ? known.others : [...rows.keys()];
  const views = yield* inSlices(viewed, viewRow);
  const lists = isInPlace ? replaceViews(before, viewed, views) : listViews(views);
  return { rows, binding, ...lists, arrays, spilled, isPauseLost };
}

/** Finds something for each of many items. */
function* inSlices<From, To>(items: readonly From[], find: (item: From) => To): Slices<To[]> {
  const found: To[] = [];
  for (const item of items) {
    found.push(find(item));
    if (found.length % sliceMax === 0) yield;
  }
  return found;
}

/** What is known of rows. */
interface Known {
  readonly viewOf: (row: number) => RowView | undefined;
  /** The rows of which nothing is. */
  readonly others: readonly number[];
}

/** The row with the object that held its cells before, where they are the same: what follows from them is known by it, whatever the headers are now. */
function withKnownCells(row: ObservedRow, before: ObservedRow | undefined): ObservedRow {
  const names = Object.keys(row.cells);
  if (!before || names.length !== Object.keys(before.cells).length) return row;
  const isSame = names.every((name) => {
    const [cell, known] = [row.cells[name], before.cells[name]];
    return cell !== undefined && known !== undefined && isSameCell(cell, known);
  });
  return isSame ? { ...row, cells: before.cells } : row;
}

/** Finds what came of rows before, where they were or where rows above them were added or removed. */
function findKnown(rows: Rows, before: RowViews | undefined): Known {
  const { all, rows: rowsBefore } = before ?? noViews;
  // Lists of the same length are compared place by place; what is known is then in its place.
  const shift = rows.length === rowsBefore.length ? 0 : lastFilled(rows) - lastFilled(rowsBefore);
  const placeBefore = (row: number): number | undefined => {
    const cells = rows[row];
    if (rowsBefore[row] === cells) return row;
    return rowsBefore[row - shift] === cells ? row - shift : undefined;
  };
  const others: number[] = [];
  // Nearly all rows are in their places: the first comparison alone is twice as fast.
  for (let row = 0; row < rows.length; row += 1)
    if (rowsBefore[row] !== rows[row] && placeBefore(row) === undefined) others.push(row);
  return { viewOf: (row) => all[placeBefore(row) ?? -1], others };
}

/** Finds what array formulas do in the rows that are not known. */
function* readArrays(
  rows: Rows,
  named: ReadonlyMap<FieldName, number>,
  known: Known,
  before: RowViews['arrays'] | undefined,
) {
  const inOthers = new Map(
    yield* inSlices(known.others, (row) => [row, findArrays(rows, row, named)] as const),
  );
  const arraysOf = (row: number) => inOthers.get(row) ?? known.viewOf(row)?.arrays ?? noArrays;
  // Where nothing was found before, none of the known rows has any.
  const namesIn = (part: keyof ArrayCells) => {
    const places = before?.[part].size ? rows.keys() : inOthers.keys();
    return new Set([...places].flatMap((row) => arraysOf(row)[part]));
  };
  return { arrays: { filled: namesIn('filled'), failed: namesIn('failed') }, arraysOf };
}

const noViews: Pick<RowViews, 'all' | 'rows'> = { all: [], rows: [] };

const areSame = (one: ReadonlySet<FieldName>, other: ReadonlySet<FieldName>): boolean =>
  one.size === other.size && one.isSubsetOf(other);

const noArrays: ArrayCells = { filled: [], failed: [] };

function findArrays(rows: Rows, row: number, named: ReadonlyMap<FieldName, number>): ArrayCells {
  // Nearly no row has any.
  if (!rows[row]?.some((cell) => isSpilled(cell) || isFailedArray(cell))) return noArrays;
  let found = noArrays;
  for (const [name, index] of named) {
    const cell = cellAt(rows, row, index);
    if (isSpilled(cell)) found = { ...found, filled: [...found.filled, name] };
    if (isFailedArray(cell)) found = { ...found, failed: [...found.failed, name] };
  }
  return found;
}

/** The views of a tab, and what is found in them. */
type ViewLists = Pick<RowViews, 'all' | 'observed'>;

const listViews = (all: readonly RowView[]): ViewLists => ({ all, observed: observedIn(all) });

/** Returns what is observed of rows. A `flatMap` makes a list for each row of a tab. */
function observedIn(views: readonly RowView[]): ObservedRow[] {
  const found: ObservedRow[] = [];
  for (const { observed } of views) if (observed) found.push(observed);
  return found;
}

/** The lists with the views of some rows in place of those of the same rows. */
function replaceViews(before: ViewLists, rows: readonly number[], views: readonly RowView[]): ViewLists {
  const all = [...before.all];
  for (const [place, view] of views.entries()) all[rows[place] ?? -1] = view;
  const isOfSameKind = (row: number) => !before.all[row]?.observed === !all[row]?.observed;
  if (!rows.every(isOfSameKind)) return listViews(all);
  return { all, observed: replacePlaced(before.observed, observedIn(views)) };
}

/** Rows from top to bottom with some in place of those of the same position; the same list where there are none. */
function replacePlaced(before: readonly ObservedRow[], news: readonly ObservedRow[]): readonly ObservedRow[] {
  if (news.length === 0) return before;
  const rows = [...before];
  for (const row of news) rows[placeOf(rows, row)] = row;
  return rows;
}

/** The place of the last row that is not below a position. */
function placeOf(rows: readonly ObservedRow[], { position }: ObservedRow): number {
  let [from, end] = [0, rows.length];
  while (end - from > 1) {
    const middle = Math.floor((from + end) / 2);
    if ((rows[middle]?.position ?? 0) <= position) from = middle;
    else end = middle;
  }
  return from;
}

/** What a row comes to at another place: all that it holds stays the same object. */
function moveView(view: RowView, position: number): RowView {
  const { observed } = view;
  return !observed || observed.position === position
    ? view
    : { ...view, observed: { ...observed, position } };
}

/** What may fill more cells than its own. */
const arrayPattern =
  /\{|\b(?:ARRAYFORMULA|IMPORT[A-Z]+|GOOGLEFINANCE|QUERY|FILTER|SORTN?|UNIQUE|SPLIT|TRANSPOSE|FLATTEN|SEQUENCE|TOCOL|MAP|BYROW|SCAN|MAKEARRAY|[VH]STACK|WRAP(?:ROWS|COLS)|CHOOSE(?:ROWS|COLS))\(/i;

/**
 * Whether a column has nothing but an array formula that shows an error, as while it loads: then the cells that it fills are empty,
 * and nobody has wiped them.
 */
function isLeftEmpty(rows: Rows, index: number): boolean {
  const header = cellAt(rows, 0, index);
  let formula = header;
  for (let row = 1; row < rows.length; row += 1) {
    const cell = cellAt(rows, row, index);
    if (isBlank(cell)) continue;
    if (formula !== header) return false;
    formula = cell;
  }
  return isFailedArray(formula);
}

const isFailedArray = (cell: Cell): boolean => cell.kind === 'error' && arrayPattern.test(cell.formula ?? '');

/** Whether users wrote something into columns of their own. A formula is there for every row, and what it shows is nobody's note. */
const hasOwn = (cells: Rows[number], ours: ReadonlySet<number>): boolean =>
  cells.some((cell, index) => !ours.has(index) && !isBlank(cell) && !isFormula(cell));

function observeRow(
  rows: Rows,
  position: number,
  { columns, fresh, isPauseLost, ours, spilled }: ColumnContext & RowContext,
): ObservedRow {
  const cells: Record<FieldName, Cell> = {};
  for (const [field, column] of columns.fields) {
    const cell = observeCell(cellAt(rows, position, column.index), column.kind);
    // Google puts FALSE below the header of a new column of checkboxes, where nobody has said anything yet.
    const isUnsaid = fresh.has(field) && isUnfilled(cell);
    cells[field] = cell.kind === 'empty' && spilled.has(field) ? spilledCell : isUnsaid ? emptyCell : cell;
  }
  return {
    position,
    id: bareCell(cellAt(rows, position, columns.id)),
    sync: columns.sync === undefined ? emptyCell : withoutResult(cellAt(rows, position, columns.sync)),
    cells,
    ...(isPaused(rows, position, columns, isPauseLost) ? { isPaused: true as const } : {}),
    ...(hasOwn(rows[position] ?? [], ours) ? { hasOwn: true as const } : {}),
  };
}

/**
 * Whether the cell in the pause column says anything but no. Any word there is meant, and so is a box that a formula ticks. What an error would
 * have said is not known, nor, where it `isLost`, what an array formula would have said in the cells that it leaves empty.
 */
function isPaused(rows: Rows, position: number, { pause }: ManagedColumns, isLost: boolean): boolean {
  const cell = pause === undefined ? emptyCell : cellAt(rows, position, pause);
  if (isLost && cell.kind === 'empty') return true;
  const said = cell.kind === 'formula' ? textCell(cell.shown ?? '') : cell;
  if (said.kind === 'empty' || (said.kind === 'text' && labelKey(said.text) === '')) return false;
  return said.kind === 'error' || readTypedTruth(said) !== false;
}

/** What a formula comes to, and how a chip is shown, may change by itself, which is no edit of its cell. */
const withoutResult = (cell: Cell): Cell =>
  cell.kind === 'formula' || cell.kind === 'chip' ? bareCell(cell) : cell;

/**
 * How a number is shown matters where people mean what they see, where 50% and 50 are the same, and where a sheet took a number for a day or
 * a day for a number.
 */
function observeCell(cell: Cell, kind: FieldKind): Cell {
  switch (kind) {
    case 'text':
    case 'user':
    case 'users':
    case 'select':
    case 'multi-select':
      return withoutResult(cell);
    case 'integer':
    case 'task':
      return isShownAsPercent(cell) || isShownAsMoment(cell) ? cell : bareCell(cell);
    case 'number':
      return isShownAsMoment(cell) ? cell : bareCell(cell);
    case 'date':
      return cell.kind === 'number' && (isShownWithoutDay(cell) || !Number.isInteger(cell.number))
        ? { ...cell, shown: describeCell(cell) }
        : bareCell(cell);
    case 'lead':
    case 'stage':
    case 'lead-status':
    case 'task-status':
    case 'task-priority':
      return showsMoreThanId(cell) ? cell : bareCell(cell);
    default:
      return bareCell(cell);
  }
}

/** Whether people see anything else than the digits of an id: what was pasted into the wrong column, as a day or an amount, names nothing. */
const showsMoreThanId = (cell: Cell): boolean =>
  cell.kind === 'number' && (isShownAsMoment(cell) || /[^\d\s.,'’]/.test(plainText(cell.shown ?? '')));
