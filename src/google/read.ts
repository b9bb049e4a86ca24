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
import { countCells, roomOf } from './room.ts';
import { findStranger, type Owner, placeTab, type TabPlace, type TaggedSpreadsheet } from './tabs.ts';

/** A tab as a write needs it: where it is, where its columns stand, and what stood there. */
export interface BoundTab extends Omit<Grid, 'merges' | 'tags'> {
  readonly columns: ManagedColumns;
}

/** What a read makes of a tab: what it says, and how to write to it unless it is held. */
export interface TabReading {
  readonly observed: ObservedTab;
  readonly bound?: BoundTab;
}

const held = (reason: string): TabReading => ({ observed: { state: 'held', reason } });

/** What all tabs of the layout say. `otherCells` counts the cells of the tabs that were not read. */
export function observeTabs(
  spreadsheet: TaggedSpreadsheet,
  layout: Layout,
  owner: Owner,
  otherCells: number,
): ReadonlyMap<TabKind, TabReading> {
  const stranger = findStranger(spreadsheet, owner);
  const places = new Map(layout.map((tab) => [tab, placeTab(spreadsheet, tab)]));
  const found = [...places.values()].flatMap(({ grid }) => grid ?? []);
  const cells = countCells(found) + otherCells;
  const readTab = (tab: TabLayout, place: TabPlace): TabReading => {
    if (stranger !== undefined) return held(stranger);
    if (!place.grid) return { observed: { state: 'held', reason: place.reason, isAbsent: true } };
    const { observed, ...rest } = observeTab(place.grid, tab);
    if (observed.state === 'held') return { observed };
    const room = roomOf(place.grid, cells, layout.length);
    return { ...rest, observed: { ...observed, identity: String(place.grid.sheetId), room } };
  };
  return new Map([...places].map(([tab, place]) => [tab.entity, readTab(tab, place)]));
}

/** Reads the rows below the header; a tab that can not be understood is held with the reason for a person. */
export function observeTab(grid: Grid, layout: TabLayout): TabReading {
  const binding = bindColumns(grid, { ...layout, title: grid.title });
  if (binding.state !== 'bound') return held(binding.reason);
  const { columns } = binding;
  // Without it nobody could tell any more which rows are to be left alone.
  if (layout.pauseHeader !== undefined && columns.pause === undefined)
    return held(missingPause(grid.title, layout.pauseHeader));
  const merged = findMerge(grid, columns);
  if (merged) return held(`Cells from ${merged} on in “${grid.title}” are merged. Unmerge them.`);
  const { rows, typed } = grid;
  const spilled = findSpilled(rows, columns);
  const fresh = findFresh(grid, columns);
  const boxed = typed.filter(({ isOfCheckboxes }) => isOfCheckboxes);
  const observed: ObservedTab = {
    state: 'read',
    rows: observeRows(grid, columns, fresh, spilled),
    fields: new Set([...columns.fields.keys()].filter((field) => !spilled.has(field))),
    ...(typed.length > 0 ? { typed: findTyped(typed, columns), boxed: findTyped(boxed, columns) } : {}),
    hasSync: columns.sync !== undefined,
    headers: headersOf(rows, columns),
    ...(columns.namesakes ? { namesakes: lettersOf(columns.namesakes) } : {}),
    fresh,
    ownRows: findOwnRows(rows, columns),
    ...(grid.hiddenRows.size > 0 ? { isFiltered: true } : {}),
  };
  return { observed, bound: { ...grid, columns } };
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

/**
 * Fields whose column an array formula fills, at least in part. It may fill a cell with nothing, and a value in one of its cells would
 * break all of it: the whole column is its own.
 */
function findSpilled(rows: Rows, columns: ManagedColumns): ReadonlySet<FieldName> {
  const spilled = [...columns.fields].filter(
    ([, { index }]) => rows.some((row) => isSpilled(row[index] ?? emptyCell)) || isLeftEmpty(rows, index),
  );
  return new Set(spilled.map(([field]) => field));
}

/** What may fill more cells than its own. */
const arrayPattern =
  /\{|\b(?:ARRAYFORMULA|IMPORT[A-Z]+|GOOGLEFINANCE|QUERY|FILTER|SORTN?|UNIQUE|SPLIT|TRANSPOSE|FLATTEN|SEQUENCE|TOCOL|MAP|BYROW|SCAN|MAKEARRAY|[VH]STACK|WRAP(?:ROWS|COLS)|CHOOSE(?:ROWS|COLS))\(/i;

/**
 * Whether nothing stands in a column but an array formula that shows an error, as while it loads: then the cells that it fills are empty,
 * and nobody has wiped them.
 */
function isLeftEmpty(rows: Rows, index: number): boolean {
  const [header = emptyCell, ...cells] = rows.map((row) => row[index] ?? emptyCell);
  const [formula = header, ...others] = cells.filter((cell) => !isBlank(cell));
  return others.length === 0 && formula.kind === 'error' && arrayPattern.test(formula.formula ?? '');
}

function observeRows(
  { rows, tags }: Pick<Grid, 'rows' | 'tags'>,
  columns: ManagedColumns,
  fresh: ReadonlySet<FieldName>,
  spilled: ReadonlySet<FieldName>,
): ObservedRow[] {
  const indexes = managedIndexes(columns);
  // A column that bears the mark of a field was one of ours.
  const ours = new Set([...indexes, columns.pause ?? -1, ...tags.map(({ index }) => index)]);
  const isPauseLost = columns.pause !== undefined && isLeftEmpty(rows, columns.pause);
  return rows.flatMap((_, position) => {
    if (position === 0 || isBlankRow(rows, position, indexes)) return [];
    const cells = [...columns.fields].map(([field, column]): [FieldName, Cell] => {
      const cell = observeCell(cellAt(rows, position, column.index), column.kind);
      if (cell.kind === 'empty' && spilled.has(field)) return [field, spilledCell];
      // Google puts FALSE below the header of a new column of checkboxes, where nobody has said anything yet.
      return [field, fresh.has(field) && isUnfilled(cell) ? emptyCell : cell];
    });
    return {
      position,
      id: bareCell(cellAt(rows, position, columns.id)),
      sync: columns.sync === undefined ? emptyCell : withoutResult(cellAt(rows, position, columns.sync)),
      cells: Object.fromEntries(cells),
      ...(isPaused(rows, position, columns, isPauseLost) ? { isPaused: true as const } : {}),
      ...(hasOwn(rows[position] ?? [], ours) ? { hasOwn: true as const } : {}),
    };
  });
}

/** Whether users wrote something into columns of their own. A formula is there for every row, and what it shows is nobody's note. */
const hasOwn = (cells: Rows[number], ours: ReadonlySet<number>): boolean =>
  cells.some((cell, index) => !ours.has(index) && !isBlank(cell) && !isFormula(cell));

const isFormula = (cell: Cell): boolean =>
  cell.kind === 'formula' || (cell.kind === 'error' && cell.formula !== undefined);

function findOwnRows(rows: Rows, columns: ManagedColumns): OwnRow[] {
  const indexes = managedIndexes(columns);
  return [...rows.entries()].flatMap(([position, cells]) =>
    position > 0 && isBlankRow(rows, position, indexes) && !cells.every(isBlank) ? [{ position, cells }] : [],
  );
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
