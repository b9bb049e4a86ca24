import type { FieldKind } from '../core/fields/field-kind.ts';
import { pauseName } from '../core/fields/headers.ts';
import { labelKey } from '../core/text/label-key.ts';
import { plainText } from '../core/text/plain-text.ts';
import type { FieldName } from '../core/value.ts';
import {
  bareCell,
  type Cell,
  describeCell,
  emptyCell,
  isShownAsPercent,
  isSpilled,
  isUnfilled,
  readTypedTruth,
  spilledCell,
  textCell,
} from '../sheet/port/cell.ts';
import type { Layout, TabKind, TabLayout } from '../sheet/port/layout.ts';
import { isShownAsMoment, isShownWithoutDay } from '../sheet/port/shown-number.ts';
import type { ObservedRow, ObservedTab, OwnRow } from '../sheet/port/table.ts';
import { cellName, columnLetters } from './a1.ts';
import { bindColumns, type ManagedColumns, placesOf } from './columns.ts';
import { cellAt, type Grid, type Rows, type TypedColumn } from './grid.ts';
import type { Answers } from './probes/answers.ts';
import { countCells, roomOf } from './room.ts';
import { findStranger, type Owner, placeTab, type TabPlace, type TaggedSpreadsheet } from './tabs.ts';

/** A tab as a write needs it: where it is, where its columns stand, and what stood there. */
export interface BoundTab extends Omit<Grid, 'merges' | 'tags'> {
  readonly columns: ManagedColumns;
  /** Which rows right below a table become part of it. */
  readonly tableGrowth?: Answers['tableGrowth'];
}

/** What a read makes of a tab: what it says, and how to write to it unless it is held. */
export interface TabReading {
  readonly observed: ObservedTab;
  readonly bound?: BoundTab;
  readonly views?: RowViews;
  /** What it was made from, with the cells of all tabs. */
  readonly grid?: Grid;
  readonly cells?: number;
}

/** What the read before made of each tab: rows that are the same objects come to the same. */
export interface ReadBefore {
  readonly readings: ReadonlyMap<TabKind, TabReading>;
  /** Whether a tab that is the same object comes to the same, too. */
  readonly isAlike: boolean;
}

const held = (reason: string): TabReading => ({ observed: { state: 'held', reason } });

/** What all tabs of the layout say. `otherCells` counts the cells of the tabs that were not read. */
export function observeTabs(
  spreadsheet: TaggedSpreadsheet,
  layout: Layout,
  owner: Owner,
  otherCells: number,
  before?: ReadBefore,
): ReadonlyMap<TabKind, TabReading> {
  const stranger = findStranger(spreadsheet, owner);
  const places = new Map(layout.map((tab) => [tab, placeTab(spreadsheet, tab)]));
  const found = [...places.values()].flatMap(({ grid }) => grid ?? []);
  const cells = countCells(found) + otherCells;
  const readTab = (tab: TabLayout, place: TabPlace): TabReading => {
    if (stranger !== undefined) return held(stranger);
    if (!place.grid) return { observed: { state: 'held', reason: place.reason, isAbsent: true } };
    const last = before?.readings.get(tab.entity);
    const isSame = before?.isAlike === true && last?.grid === place.grid && last.cells === cells;
    if (isSame && last) return last;
    const { observed, ...rest } = observeTab(place.grid, tab, last?.views);
    if (observed.state === 'held') return { observed };
    const room = roomOf(place.grid, cells, layout.length);
    const identity = String(place.grid.sheetId);
    return { ...rest, observed: { ...observed, identity, room }, grid: place.grid, cells };
  };
  return new Map([...places].map(([tab, place]) => [tab.entity, readTab(tab, place)]));
}

/** Reads the rows below the header; a tab that can not be understood is held with the reason for a person. */
export function observeTab(grid: Grid, layout: TabLayout, before?: RowViews): TabReading {
  const binding = bindColumns(grid, { ...layout, title: grid.title });
  if (binding.state !== 'bound') return held(binding.reason);
  const { columns } = binding;
  // Without it nobody could tell any more which rows are to be left alone.
  if (layout.pauseHeader !== undefined && columns.pause === undefined)
    return held(missingPause(grid.title, layout.pauseHeader));
  const merged = findMerge(grid, columns);
  if (merged) return held(`Cells from ${merged} on in “${grid.title}” are merged. Unmerge them.`);
  const { rows, typed } = grid;
  const fresh = findFresh(grid, columns);
  const marked = new Set(grid.tags.map(({ index }) => index));
  const views = viewRows(rows, { columns, fresh, marked }, before);
  const { spilled } = views;
  const boxed = typed.filter(({ isOfCheckboxes }) => isOfCheckboxes);
  const observed: ObservedTab = {
    state: 'read',
    rows: definedOf(views.all, ({ observed: row }) => row),
    fields: new Set([...columns.fields.keys()].filter((field) => !spilled.has(field))),
    ...(typed.length > 0 ? { typed: findTyped(typed, columns), boxed: findTyped(boxed, columns) } : {}),
    hasSync: columns.sync !== undefined,
    headers: headersOf(rows, columns),
    ...(columns.namesakes ? { namesakes: lettersOf(columns.namesakes) } : {}),
    fresh,
    ownRows: definedOf(views.all, ({ own }) => own),
    ...(grid.hiddenRows.size > 0 ? { isFiltered: true } : {}),
  };
  return { observed, bound: { ...grid, columns }, views };
}

/** Returns what is found of each, without what is not. A `flatMap` makes a list for each row of a tab. */
function definedOf<From, To>(all: readonly From[], find: (from: From) => To | undefined): To[] {
  const found: To[] = [];
  for (const each of all) {
    const own = find(each);
    if (own !== undefined) found.push(own);
  }
  return found;
}

const headersOf = (rows: Rows, { fields, pause }: ManagedColumns): Record<FieldName, string> => ({
  ...Object.fromEntries([...fields].map(([field, { header }]) => [field, header])),
  ...(pause === undefined ? {} : { [pauseName]: describeCell(cellAt(rows, 0, pause)) }),
});

const findTyped = (typed: readonly TypedColumn[], { fields }: ManagedColumns): ReadonlySet<FieldName> =>
  new Set(
    [...fields].flatMap(([field, { index }]) => (typed.some((each) => each.index === index) ? [field] : [])),
  );

const lettersOf = (places: ReadonlyMap<string, number>): Record<string, string> =>
  Object.fromEntries([...places].map(([name, index]) => [name, columnLetters(index)]));

const missingPause = (title: string, header: string): string =>
  `“${title}” has no column “${header}”, in which rows are paused. Put the header back, add the column with init --add-columns, or take it out of the settings.`;

/** What has a column that bears no tag although others of the tab do: it was added, or moved without its tag, since the tab was laid out. */
function findFresh({ tags }: Grid, columns: ManagedColumns): ReadonlySet<FieldName> {
  if (tags.length === 0) return new Set();
  const all = [...placesOf(columns), [pauseName, columns.pause ?? -1] as const];
  const isTagged = (name: FieldName, place: number) =>
    place < 0 || tags.some(({ field, index }) => field === name && index === place);
  return new Set(all.flatMap(([name, place]) => (isTagged(name, place) ? [] : [name])));
}

const managedIndexes = (columns: ManagedColumns): number[] => [...placesOf(columns).values()];

/** What the array formula of another cell fills in is nothing that stands in the row itself. */
const isBlank = (cell: Cell): boolean => isUnfilled(cell) || isSpilled(cell);

const isBlankRow = (rows: Rows, row: number, indexes: readonly number[]): boolean =>
  indexes.every((index) => isBlank(cellAt(rows, row, index)));

/** The first row below the last one with a managed cell; at least the row below the header. */
export function endOfRows(rows: Rows, columns: ManagedColumns): number {
  const indexes = managedIndexes(columns);
  const last = rows.findLastIndex((_, row) => row > 0 && !isBlankRow(rows, row, indexes));
  return Math.max(last, 0) + 1;
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
  return formula.kind === 'error' && arrayPattern.test(formula.formula ?? '');
}

/** What a row of the grid comes to. */
interface RowView {
  readonly cells: readonly Cell[];
  /** Absent for a row in which no managed cell is filled. */
  readonly observed?: ObservedRow;
  readonly own?: OwnRow;
  /** Fields whose cell an array formula fills. */
  readonly spilled: readonly FieldName[];
}

/** What the columns of a tab say of each of its rows. */
interface ColumnContext {
  readonly columns: ManagedColumns;
  readonly fresh: ReadonlySet<FieldName>;
  /** Columns that bear the mark of a field: they are or were ours. */
  readonly marked: ReadonlySet<number>;
}

/** A field, and where its column is. */
type ColumnField = readonly [FieldName, { readonly index: number }];

/** What all of its rows say of each. */
interface RowContext {
  readonly spilled: ReadonlySet<FieldName>;
  readonly isPauseLost: boolean;
  /** Columns that are not users' own. */
  readonly ours: ReadonlySet<number>;
}

/** All rows of a tab, and what they were seen under: under the same a row that is the same object comes to the same. */
export interface RowViews {
  readonly all: readonly RowView[];
  /**
   * Fields whose column an array formula fills, at least in part. It may fill a cell with nothing, and a value in one of its cells would
   * break all of it: the whole column is its own.
   */
  readonly spilled: ReadonlySet<FieldName>;
  readonly circumstances: string;
}

function viewRows(rows: Rows, context: ColumnContext, before: RowViews | undefined): RowViews {
  const { columns, fresh, marked } = context;
  const fields = [...columns.fields];
  const indexes = managedIndexes(columns);
  const shift = rows.length - (before?.all.length ?? 0);
  /** What came of a row before, where it was or where rows above it were added or removed. */
  const knownView = (row: number): RowView | undefined => {
    const cells = rows[row];
    const here = before?.all[row];
    if (here?.cells === cells) return here;
    const moved = before?.all[row - shift];
    return moved?.cells === cells ? moved : undefined;
  };
  const spilled = new Set(fields.flatMap(([field, { index }]) => (isLeftEmpty(rows, index) ? [field] : [])));
  /** What is spilled in the rows that are not known. */
  const spilledInNew = new Map<number, readonly FieldName[]>();
  for (let row = 0; row < rows.length; row += 1) {
    const known = knownView(row)?.spilled;
    const own = known ?? spilledFields(rows, row, fields);
    if (!known) spilledInNew.set(row, own);
    for (const field of own) spilled.add(field);
  }
  const isPauseLost = columns.pause !== undefined && isLeftEmpty(rows, columns.pause);
  const ours = new Set([...indexes, columns.pause ?? -1, ...marked]);
  const facts = [fields, columns.pause, isPauseLost, [...ours], [...spilled], [...fresh]];
  const circumstances = JSON.stringify(facts);
  const isAsBefore = before?.circumstances === circumstances;
  const viewRow = (cells: Rows[number], position: number): RowView => {
    const known = knownView(position);
    if (known && isAsBefore) return moveView(known, position);
    const view = { cells, spilled: known?.spilled ?? spilledInNew.get(position) ?? noFields };
    if (position === 0) return view;
    if (!isBlankRow(rows, position, indexes))
      return { ...view, observed: observeRow(rows, position, { ...context, spilled, isPauseLost, ours }) };
    return cells.every(isBlank) ? view : { ...view, own: { position, cells } };
  };
  return { all: rows.map(viewRow), spilled, circumstances };
}

/** The fields of a row whose cell an array formula fills. */
function spilledFields(rows: Rows, row: number, fields: readonly ColumnField[]): readonly FieldName[] {
  const spilled = fields.filter(([, { index }]) => isSpilled(cellAt(rows, row, index)));
  return spilled.length === 0 ? noFields : spilled.map(([field]) => field);
}

/** Whether users wrote something into columns of their own. A formula is there for every row, and what it shows is nobody's note. */
const hasOwn = (cells: Rows[number], ours: ReadonlySet<number>): boolean =>
  cells.some((cell, index) => !ours.has(index) && !isBlank(cell) && !isFormula(cell));

const isFormula = (cell: Cell): boolean =>
  cell.kind === 'formula' || (cell.kind === 'error' && cell.formula !== undefined);

/** What a row comes to at another place: all that it holds stays the same object. */
function moveView(view: RowView, position: number): RowView {
  const { observed, own } = view;
  if ((observed ?? own)?.position === position) return view;
  if (observed) return { ...view, observed: { ...observed, position } };
  return own ? { ...view, own: { ...own, position } } : view;
}

const noFields: readonly FieldName[] = [];

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
 * Whether the cell in the pause column says anything but no. Who puts a word there means it, and so does whoever lets a formula tick the
 * box; what an error would have said nobody knows, nor, where it `isLost`, what an array formula would have said in the cells that it
 * leaves empty.
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

/**
 * The first merged cell in a managed column: a write to the rest of a merged range is lost without a word, and so is what people say for
 * several rows at once with one cell of the column that pauses them.
 */
function findMerge({ merges }: Grid, columns: ManagedColumns): string | undefined {
  const indexes = [...managedIndexes(columns), ...(columns.pause === undefined ? [] : [columns.pause])];
  const merge = merges.find(({ startColumnIndex, endColumnIndex }) =>
    indexes.some((index) => index >= (startColumnIndex ?? 0) && index < (endColumnIndex ?? 0)),
  );
  return merge && cellName(merge.startRowIndex ?? 0, merge.startColumnIndex ?? 0);
}
