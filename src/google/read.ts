import { pauseName } from '../core/fields/headers.ts';
import { finishAtOnce, type Slices } from '../core/slices.ts';
import type { FieldName } from '../core/value.ts';
import { describeCell } from '../sheet/port/cell.ts';
import type { Layout, TabKind, TabLayout } from '../sheet/port/layout.ts';
import type { ObservedTab } from '../sheet/port/table.ts';
import { cellName, columnLetters } from './a1.ts';
import { bindColumns, type ManagedColumns, placesOf } from './columns.ts';
import { cellAt, type Grid, type Rows, type TypedColumn } from './grid.ts';
import { type IdNumbers, readIdNumbers } from './id-numbers.ts';
import type { Answers } from './probes/answers.ts';
import { countCells, roomOf } from './room.ts';
import { isBlankRow, managedIndexes, type RowViews, viewRows } from './row-views.ts';
import { findStranger, type Owner, placeTab, type TabPlace, type TaggedSpreadsheet } from './tabs.ts';

/** A tab as a write needs it: where it is, where its columns stand, and what stood there. */
export interface BoundTab extends Omit<Grid, 'merges' | 'tags'> {
  readonly columns: ManagedColumns;
  /** The IDs of the rows as they were read. */
  readonly ids?: IdNumbers;
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

/** Finds what all tabs of the layout say. `otherCells` counts the cells of the tabs that were not read. */
export function* observeTabs(
  spreadsheet: TaggedSpreadsheet,
  layout: Layout,
  owner: Owner,
  otherCells: number,
  before?: ReadBefore,
): Slices<ReadonlyMap<TabKind, TabReading>> {
  const stranger = findStranger(spreadsheet, owner);
  const places = new Map(layout.map((tab) => [tab, placeTab(spreadsheet, tab)]));
  const found = [...places.values()].flatMap(({ grid }) => grid ?? []);
  const cells = countCells(found) + otherCells;
  function* readTab(tab: TabLayout, place: TabPlace): Slices<TabReading> {
    if (stranger !== undefined) return held(stranger);
    if (!place.grid) return { observed: { state: 'held', reason: place.reason, isAbsent: true } };
    const last = before?.readings.get(tab.entity);
    const isSame = before?.isAlike === true && last?.grid === place.grid && last.cells === cells;
    if (isSame && last) return last;
    const { observed, ...rest } = yield* observeInSlices(place.grid, tab, last);
    if (observed.state === 'held') return { observed };
    const room = roomOf(place.grid, cells);
    const identity = String(place.grid.sheetId);
    return { ...rest, observed: { ...observed, identity, room }, grid: place.grid, cells };
  }
  const readings = new Map<TabKind, TabReading>();
  for (const [tab, place] of places) readings.set(tab.entity, yield* readTab(tab, place));
  return readings;
}

/**
 * Reads the rows below the header. A tab whose columns are unclear is held, with the reason for a person. `before` is what the last read came to.
 */
export const observeTab = (grid: Grid, layout: TabLayout, before?: TabReading): TabReading =>
  finishAtOnce(observeInSlices(grid, layout, before));

function* observeInSlices(grid: Grid, layout: TabLayout, before?: TabReading): Slices<TabReading> {
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
  const views = yield* viewRows(rows, { columns, fresh, marked }, before?.views);
  const { spilled } = views;
  const boxed = typed.filter(({ isOfCheckboxes }) => isOfCheckboxes);
  const observed: ObservedTab = {
    state: 'read',
    rows: views.observed,
    fields: new Set([...columns.fields.keys()].filter((field) => !spilled.has(field))),
    ...(typed.length > 0 ? { typed: findTyped(typed, columns), boxed: findTyped(boxed, columns) } : {}),
    hasSync: columns.sync !== undefined,
    headers: headersOf(rows, columns),
    ...(columns.namesakes ? { namesakes: lettersOf(columns.namesakes) } : {}),
    fresh,
  };
  const ids = readIdNumbers(rows, columns.id, before?.bound?.ids);
  return { observed, bound: { ...grid, columns, ids }, views };
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

/** The first row below the last one with a managed cell; at least the row below the header. */
export function endOfRows(rows: Rows, columns: ManagedColumns): number {
  const indexes = managedIndexes(columns);
  const last = rows.findLastIndex((_, row) => row > 0 && !isBlankRow(rows, row, indexes));
  return Math.max(last, 0) + 1;
}

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
