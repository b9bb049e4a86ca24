import type { Clock, Log } from '../core/ports.ts';
import { newSheetError } from '../sheet/port/errors.ts';
import { type Layout, recordTabs, type TabKind, type TabLayout } from '../sheet/port/layout.ts';
import { quoteTitle } from './a1.ts';
import { type Choose, createChosenTabs, createParts, type ReadTabs, tabFields } from './chosen-tabs.ts';
import type { SheetsClient } from './client.ts';
import { bindColumns, placesOf } from './columns.ts';
import { type Grid, gridFields, lastFilled } from './grid.ts';
import { mapKnown } from './map-known.ts';
import { KeptTabs, type ReadOrder } from './poll/kept-tabs.ts';
import { keepKnownRows } from './poll/known-rows.ts';
import type { KeptTab } from './poll/mend-tabs.ts';
import { type KnownOfReads, wholeRowsMax } from './read-pace.ts';
import { countCells } from './room.ts';
import { findByTitle, placeTab, readTagged, type TaggedSpreadsheet } from './tabs.ts';
import { findShadow, shadowTitle } from './write/shadow.ts';

/** A tab that is not there is looked for once in so many reads: it may be brought back, or made. */
const readsPerLook = 12;

/** How often tabs are read in parts where nothing can be made of them, as of those in which a column moves meanwhile. */
const attemptsMax = 3;

/**
 * Up to so many cells a read of everything costs about as much as any other, and brings what a poll cannot show: some 0.7 MB, and two seconds
 * of Google at most.
 */
const smallCellsMax = 10_000;

const fullReadDefaultMs = 300_000;

/** How tabs are read that are not small. */
export interface DepthOptions {
  readonly clock: Clock;
  /** In which time every row is read in full once; {@link fullReadDefaultMs} where absent. */
  readonly fullReadMs?: number;
  /** Cells up to which everything is read each time. */
  readonly wholeCellsMax?: number;
}

/** Reads the tabs of a layout, and never the cells of others: users may have large ones beside them. */
export class Reader {
  readonly #client: SheetsClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #wholeCellsMax: number;
  readonly #parts: ReturnType<typeof createParts>;
  readonly #chosen: ReturnType<typeof createChosenTabs>;
  readonly #kept: KeptTabs;
  /** What the last read brought: rows that hold the same after a read of everything stay its objects. */
  #last: TaggedSpreadsheet | undefined;
  /** What is kept was read for this layout. */
  #keptFor: Layout | undefined;
  /** Titles under which tabs were last seen; a tab that is not there has none. */
  #titles: ReadonlyMap<TabKind, string> | undefined;
  #otherCells = 0;
  /** Where the hidden tab was last seen: nowhere when it is `undefined`. */
  #shadow: string | undefined = shadowTitle;
  #readsWithoutTab = 0;
  /** Whether all tabs are read in one request, because there is little in them; `undefined` before that is known. */
  #isSmall: boolean | undefined;

  constructor(client: SheetsClient, log: Log, known: KnownOfReads, depth: DepthOptions) {
    const { clock, fullReadMs = fullReadDefaultMs, wholeCellsMax = smallCellsMax } = depth;
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
    this.#wholeCellsMax = wholeCellsMax;
    this.#parts = createParts(client);
    this.#chosen = createChosenTabs(client, this.#parts, log, known);
    this.#kept = new KeptTabs(client, clock, fullReadMs, this.#chosen.rowsAtOnce);
  }

  /** Cells of the tabs that are not read in every cycle, as of the last look at all of them. */
  get otherCells(): number {
    return this.#otherCells;
  }

  /** Whether tabs are kept and polled. Else each read is of all their cells. */
  get keepsTabs(): boolean {
    return this.#kept.spreadsheet !== undefined;
  }

  /** As long as the spreadsheet says the same, it is the same object. */
  async read(layout: Layout, order: ReadOrder): Promise<TaggedSpreadsheet> {
    await this.#lookForMissing(layout);
    const tagged = await this.#chosen.paced(() => this.#readAsKept(layout, order));
    const before = this.#titles;
    this.#titles = new Map([...foundTabs(tagged, layout)].map(([entity, { title }]) => [entity, title]));
    for (const [entity, title] of this.#titles)
      if ((before?.get(entity) ?? title) !== title) this.#log.info('sheet.tab_renamed', { entity });
    this.#shadow = findShadow(tagged)?.title;
    this.#last = tagged;
    return tagged;
  }

  /**
   * All tabs there are, with the cells of those that are chosen when only names and sizes are known. Where those of the layout are long, they are
   * kept; others were never laid out: only what is above their rows matters, and whether there are any.
   */
  async readChosen(layout: Layout, choose: Choose): Promise<TaggedSpreadsheet> {
    if (!this.keepsTabs) {
      const read = await this.#chosen.paced(() => this.#readChosen(layout, choose));
      if (read.isOfOneMoment) return read.spreadsheet;
      await this.#keep(layout, read.spreadsheet, false);
    }
    const known = foundGrids(await this.read(layout, { isWhole: true }), layout);
    const isKnown = ({ sheetId }: Grid) => known.some((grid) => grid.sheetId === sheetId);
    const { spreadsheet } = await this.#chosen.paced(() =>
      this.#readChosen(layout, (found) => choose(found).filter((grid) => !isKnown(grid))),
    );
    const gridOf = (grid: Grid) => known.find(({ sheetId }) => sheetId === grid.sheetId) ?? grid;
    return { ...spreadsheet, grids: spreadsheet.grids.map(gridOf) };
  }

  /** A write changes what the spreadsheet says of itself, and makes the hidden tab anew where there was none. */
  expectWrite(): void {
    this.#shadow ??= shadowTitle;
    this.#kept.expectChange();
  }

  /** To lay out changes what a write does; where `mayAddTabs`, tabs may be elsewhere afterwards. */
  expectLayOut(mayAddTabs: boolean): void {
    if (mayAddTabs) this.#forget();
    else this.expectWrite();
  }

  #forget(): void {
    this.#titles = undefined;
    this.#shadow = shadowTitle;
    this.#kept.forget();
  }

  async #readAsKept(layout: Layout, order: ReadOrder): Promise<TaggedSpreadsheet> {
    const isBound = JSON.stringify(this.#keptFor) === JSON.stringify(layout) || this.#bindAgain(layout);
    const read = isBound ? await this.#kept.read(order) : undefined;
    return read ?? this.#readWhole(layout);
  }

  /** What is kept has all columns, so that other ones may be polled; where there may be other tabs, they have to be looked for. */
  #bindAgain(layout: Layout): boolean {
    const { spreadsheet } = this.#kept;
    const namesOf = (tabs: Layout) => JSON.stringify(tabs.map(({ entity, title }) => [entity, title]));
    if (!spreadsheet || !this.#keptFor || namesOf(this.#keptFor) !== namesOf(layout)) return false;
    this.#kept.bind(layout.flatMap((tab) => keptTab(spreadsheet, tab)));
    this.#keptFor = layout;
    return true;
  }

  /** All that the tabs hold, which is kept where it is much, or was read in parts. */
  async #readWhole(layout: Layout): Promise<TaggedSpreadsheet> {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const { isOfOneMoment, spreadsheet } = await this.#readTabs(layout);
      this.#isSmall = countFilled(foundGrids(spreadsheet, layout)) <= this.#wholeCellsMax;
      if (this.#isSmall && isOfOneMoment) {
        this.#kept.forget();
        return spreadsheet;
      }
      const kept = await this.#keep(layout, spreadsheet, isOfOneMoment);
      const read = isOfOneMoment ? kept : await this.#readOn(kept);
      if (this.#isSmall) this.#kept.forget();
      if (read) return read;
    }
    throw newSheetError(
      'SHEET_UNREACHABLE',
      'Rows or columns were moved while the spreadsheet was read in parts.',
    );
  }

  async #keep(layout: Layout, tagged: TaggedSpreadsheet, isOfOneMoment: boolean): Promise<TaggedSpreadsheet> {
    this.#parts.forget();
    // Why a tab is not there is said by which one has its title.
    const others = [findShadow(tagged), ...layout.map(({ title }) => findByTitle(tagged.grids, title))];
    const found = foundGrids(tagged, layout);
    const grids = tagged.grids.filter((grid) => found.includes(grid) || others.includes(grid));
    const known = this.#last?.grids ?? [];
    const spreadsheet = { ...tagged, grids: await keepKnownRows(grids, known, this.#clock) };
    const tabs = layout.flatMap((tab) => keptTab(spreadsheet, tab));
    this.#kept.start({ spreadsheet, tabs }, isOfOneMoment);
    this.#keptFor = layout;
    return spreadsheet;
  }

  /** Makes of what was read in parts what all of it is in one moment, in which no write of ours lands. */
  async #readOn({ lastWrite }: TaggedSpreadsheet): Promise<TaggedSpreadsheet | undefined> {
    const read = await this.#kept.read({ isWhole: true });
    return read && read.lastWrite?.run !== lastWrite?.run ? this.#readOn(read) : read;
  }

  /** The tabs of the layout in one request by their last titles; they are looked for where one of them is not found. */
  async #readTabs(layout: Layout): Promise<ReadTabs> {
    this.#isSmall ??= await this.#areShort(layout);
    const titles = this.#titles;
    const wanted = !titles || titles.has('question') ? layout : recordTabs(layout);
    const ranges = wanted.flatMap(({ entity, title }) => (titles ? (titles.get(entity) ?? []) : title));
    const isComplete = ranges.length === wanted.length;
    const corner = this.#shadow === undefined ? [] : [`${quoteTitle(this.#shadow)}!A1`];
    const part =
      isComplete && this.#isSmall && this.#chosen.areWhole()
        ? await this.#parts.get(gridFields, [...ranges.map(quoteTitle), ...corner])
        : undefined;
    const spreadsheet = part && this.#parts.join([part]);
    const isFound = spreadsheet && foundGrids(spreadsheet, wanted).length === wanted.length;
    if (isFound) return { spreadsheet, isOfOneMoment: true };
    return this.#readChosen(layout, (found) => foundGrids(found, layout));
  }

  /** Whether the tabs have so few rows, filled or not, that one request may ask for all of them. */
  async #areShort(layout: Layout): Promise<boolean> {
    const found = foundGrids(readTagged((await this.#client.get(tabFields)) ?? {}), layout);
    return found.reduce((sum, { rowCount }) => sum + rowCount, 0) <= wholeRowsMax;
  }

  async #readChosen(layout: Layout, choose: Choose): Promise<ReadTabs> {
    const read = await this.#chosen.read(choose);
    const { grids } = read.spreadsheet;
    this.#otherCells = countCells(grids) - countCells(foundGrids(read.spreadsheet, layout));
    return read;
  }

  /**
   * Looks for missing tabs from time to time. What is small is read with a look at all tabs as long as one of records is missing; people may do
   * without one of questions.
   */
  async #lookForMissing(layout: Layout): Promise<void> {
    const titles = this.#titles;
    if (!titles) return;
    const missing = layout.filter(
      ({ entity }) => !titles.has(entity) && (!this.#isSmall || entity === 'question'),
    );
    if (missing.length === 0) return;
    this.#readsWithoutTab += 1;
    if (this.#readsWithoutTab % readsPerLook > 0) return;
    const spreadsheet = readTagged((await this.#client.get(tabFields)) ?? {});
    const found = [...foundTabs(spreadsheet, missing)];
    if (found.length === 0) return;
    this.#titles = new Map([
      ...titles,
      ...found.map(([entity, { title }]): [TabKind, string] => [entity, title]),
    ]);
    this.#kept.forget();
  }
}

/** Where the columns of a tab are polled; nowhere where the tab cannot be used. */
function keptTab(spreadsheet: TaggedSpreadsheet, tab: TabLayout): KeptTab[] {
  const { grid } = placeTab(spreadsheet, tab);
  if (!grid) return [];
  const binding = bindColumns(grid, { ...tab, title: grid.title });
  const { sheetId } = grid;
  if (binding.state !== 'bound') return [{ sheetId, columns: [], idColumn: -1 }];
  const { columns } = binding;
  const places = [...placesOf(columns).values(), ...(columns.pause === undefined ? [] : [columns.pause])];
  return [{ sheetId, columns: places.toSorted((one, other) => one - other), idColumn: columns.id }];
}

/** Cells down to the last filled row of each tab. */
const countFilled = (grids: readonly Grid[]): number =>
  grids.reduce((sum, { columnCount, rows }) => sum + (lastFilled(rows) + 1) * columnCount, 0);

const foundTabs = (spreadsheet: TaggedSpreadsheet, layout: Layout): Map<TabKind, Grid> =>
  mapKnown(
    layout.map((tab) => [tab.entity, tab]),
    (tab) => placeTab(spreadsheet, tab).grid,
  );

const foundGrids = (spreadsheet: TaggedSpreadsheet, layout: Layout): Grid[] => [
  ...foundTabs(spreadsheet, layout).values(),
];
