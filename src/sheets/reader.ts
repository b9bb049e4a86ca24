import { equalCells } from '../core/cell.ts';
import { SyncError } from '../core/errors.ts';
import { type Layout, recordTabs, type TabKind, tabOf } from '../core/layout.ts';
import type { Log } from '../core/ports.ts';
import { quoteTitle } from './a1.ts';
import type { SheetsClient, Spreadsheet } from './client.ts';
import { bindColumns } from './columns.ts';
import { isTooMuch } from './errors.ts';
import { cellAt, cellFields, type Grid, gridFields, sizeFields } from './grid.ts';
import { metadataFields } from './metadata.ts';
import { createParts } from './parts.ts';
import { countCells } from './room.ts';
import { findShadow, shadowTitle } from './shadow.ts';
import { placeTab, readTagged, type TaggedSpreadsheet } from './tabs.ts';
import { firstPace, longestOf, slowDown, speedUp, windowsOf } from './windows.ts';

/** Reads the tabs of a layout, and never the cells of others: people may have large ones beside them. */
export interface Reader {
  /** As long as the spreadsheet says the same, it is the same object. */
  read(layout: Layout): Promise<TaggedSpreadsheet>;
  /** All tabs there are, and of those alone the cells that are chosen when only names and sizes are known. */
  readChosen(layout: Layout, choose: Choose): Promise<TaggedSpreadsheet>;
  /** Cells of the tabs that are not read in every cycle, as of the last look at all of them. */
  otherCells(): number;
  /** A write makes the hidden tab anew where there was none. */
  expectShadow(): void;
  /** Tabs may be elsewhere now. */
  forget(): void;
}

export type Choose = (spreadsheet: TaggedSpreadsheet) => readonly Grid[];

/** Field mask of what tells where tabs are and how large, without any cell. */
export const tabFields = `properties.timeZone,${metadataFields},sheets.${sizeFields}`;

/** People may do without a tab of questions. Where there is none, it is looked for once in so many reads: it may be brought back, or made. */
const readsPerLook = 12;

/** How often a tab is read in parts until nobody moves a row of it meanwhile. */
const attemptsMax = 3;

export function createReader(client: SheetsClient, log: Log): Reader {
  const parts = createParts(client);
  /** Titles under which tabs were last seen; a tab that is not there has none. */
  let titles: ReadonlyMap<TabKind, string> | undefined;
  let otherCells = 0;
  /** Where the hidden tab was last seen: nowhere when it is `undefined`. */
  let shadow: string | undefined = shadowTitle;
  let readsWithoutQuestions = 0;
  let pace = firstPace;
  let longest: number | undefined;

  async function readChosen(layout: Layout, choose: Choose): Promise<TaggedSpreadsheet> {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const look = await expectPart(parts.get(tabFields));
      const chosen = choose(readTagged(look));
      longest = longestOf(chosen);
      const isWhole = pace.halvings === 0;
      const windows = isWhole ? [chosen.map(({ sheetId }) => ({ sheetId }))] : windowsOf(chosen, pace);
      const read: Spreadsheet[] = [look];
      for (const window of windows)
        if (window.length > 0) read.push(await expectPart(parts.get(gridFields, window)));
      const tagged = parts.join(read);
      if (!isWhole && !(await isStill(client, tagged, layout))) continue;
      otherCells = countCells(tagged.grids) - countCells(foundGrids(tagged, layout));
      return tagged;
    }
    throw new SyncError('SHEET_UNREACHABLE', 'Rows were moved while the spreadsheet was read in parts.');
  }

  /** The tabs of the layout in one request by their last titles; they are looked for where one of them is not found. */
  async function readTabs(layout: Layout): Promise<TaggedSpreadsheet> {
    const wanted = !titles || titles.has('question') ? layout : recordTabs(layout);
    const ranges = wanted.flatMap(({ entity, title }) => (titles ? (titles.get(entity) ?? []) : title));
    const isComplete = ranges.length === wanted.length;
    const corner = shadow === undefined ? [] : [`${quoteTitle(shadow)}!A1`];
    const part =
      isComplete && pace.halvings === 0
        ? await parts.get(gridFields, [...ranges.map(quoteTitle), ...corner])
        : undefined;
    const tagged = part && parts.join([part]);
    const isFound = tagged && foundGrids(tagged, wanted).length === wanted.length;
    return isFound ? tagged : readChosen(layout, (spreadsheet) => foundGrids(spreadsheet, layout));
  }

  /** Asks for less at a time once Google had no answer again and again, and for more once it has. */
  async function paced<Result>(read: () => Promise<Result>): Promise<Result> {
    const before = pace;
    try {
      const result = await read();
      pace = speedUp(pace);
      return result;
    } catch (error) {
      if (isTooMuch(error)) pace = slowDown(pace, longest);
      throw error;
    } finally {
      if (pace.halvings !== before.halvings) log.info('sheet.read_size', { halvings: pace.halvings });
    }
  }

  /** Looks for the tab of questions from time to time where it is wanted and was not found. */
  async function lookForQuestions(layout: Layout): Promise<void> {
    const tab = tabOf(layout, 'question');
    if (!titles || !tab || titles.has(tab.entity)) return;
    readsWithoutQuestions += 1;
    if (readsWithoutQuestions % readsPerLook > 0) return;
    const { grid } = placeTab(readTagged((await client.get(tabFields)) ?? {}), tab);
    if (grid) titles = new Map([...titles, [tab.entity, grid.title]]);
  }

  function rememberTitles(tagged: TaggedSpreadsheet, layout: Layout): void {
    const before = titles;
    titles = new Map(
      layout.flatMap((tab) => {
        const { grid } = placeTab(tagged, tab);
        return grid ? [[tab.entity, grid.title] as const] : [];
      }),
    );
    for (const [entity, title] of titles) {
      if ((before?.get(entity) ?? title) !== title) log.info('sheet.tab_renamed', { entity });
    }
  }

  return {
    async read(layout) {
      await lookForQuestions(layout);
      const tagged = await paced(() => readTabs(layout));
      rememberTitles(tagged, layout);
      shadow = findShadow(tagged)?.title;
      return tagged;
    },
    readChosen: (layout, choose) => paced(() => readChosen(layout, choose)),
    otherCells: () => otherCells,
    expectShadow() {
      shadow ??= shadowTitle;
    },
    forget() {
      titles = undefined;
      shadow = shadowTitle;
    },
  };
}

const foundGrids = (spreadsheet: TaggedSpreadsheet, layout: Layout): Grid[] =>
  layout.flatMap((tab) => placeTab(spreadsheet, tab).grid ?? []);

async function expectPart(part: Promise<Spreadsheet | undefined>): Promise<Spreadsheet> {
  const found = await part;
  if (found) return found;
  throw new SyncError('SHEET_UNREACHABLE', 'A tab was removed while the spreadsheet was read.');
}

/** Field mask of what tells whether rows stayed where they were. */
const stillFields = `${metadataFields},sheets(${sizeFields},data(startRow,startColumn,rowData.values(${cellFields})))`;

/**
 * Whether the tabs of a spreadsheet that was read in parts have their rows where they were, and no write of ours has landed meanwhile: what
 * people type in the meantime is of one moment in each cell.
 */
async function isStill(client: SheetsClient, tagged: TaggedSpreadsheet, layout: Layout): Promise<boolean> {
  const tabs = layout.flatMap((tab) => {
    const { grid } = placeTab(tagged, tab);
    const binding = grid && bindColumns(grid, tab);
    return grid && binding?.state === 'bound' ? [{ ...grid, id: binding.columns.id }] : [];
  });
  const ranges = tabs.flatMap(({ id, sheetId }) => [
    { sheetId, startRowIndex: 0, endRowIndex: 1 },
    { sheetId, startColumnIndex: id, endColumnIndex: id + 1 },
  ]);
  if (ranges.length === 0) return true;
  const now = readTagged(await expectPart(client.get(stillFields, ranges)));
  if (now.lastWrite?.run !== tagged.lastWrite?.run) return false;
  return tabs.every(({ id, ...tab }) => {
    const grid = now.grids.find(({ sheetId }) => sheetId === tab.sheetId);
    if (!grid) return false;
    const isSameSize = grid.rowCount === tab.rowCount && grid.columnCount === tab.columnCount;
    const isSame = (row: number, column: number) =>
      equalCells(cellAt(grid.rows, row, column), cellAt(tab.rows, row, column));
    const width = Math.max(tab.rows[0]?.length ?? 0, grid.rows[0]?.length ?? 0);
    const height = Math.max(tab.rows.length, grid.rows.length);
    return (
      isSameSize &&
      Array.from({ length: width }, (_, column) => isSame(0, column)).every(Boolean) &&
      Array.from({ length: height }, (_, row) => isSame(row, id)).every(Boolean)
    );
  });
}
