import type { Log } from '../core/ports.ts';
import { equalCells } from '../sheet/port/cell.ts';
import { newSheetError } from '../sheet/port/errors.ts';
import type { Layout } from '../sheet/port/layout.ts';
import type { SheetsClient, Spreadsheet } from './client.ts';
import { bindColumns } from './columns.ts';
import { isTooMuch } from './errors.ts';
import { cellAt, cellFields, type Grid, gridFields, sizeFields } from './grid.ts';
import { metadataFields } from './metadata.ts';
import type { Parts } from './parts.ts';
import { placeTab, readTagged, type TaggedSpreadsheet } from './tabs.ts';
import { firstPace, longestOf, slowDown, speedUp, windowsOf } from './windows.ts';

/** Names those tabs whose cells are wanted, once the names and sizes of all of them are known. */
export type Choose = (spreadsheet: TaggedSpreadsheet) => readonly Grid[];

/** Reads tabs by their numeric ids, as many rows at a time as Google has answers for. */
export interface ChosenTabs {
  /** Whether whole tabs are read in one request. */
  areWhole(): boolean;
  /** Does a read, and asks for fewer rows at a time once Google had no answer again and again, and for more once it had. */
  paced<Result>(read: () => Promise<Result>): Promise<Result>;
  /** All tabs there are, and the cells of those that are chosen. */
  read(layout: Layout, choose: Choose): Promise<TaggedSpreadsheet>;
}

/** Field mask of where tabs are and how large, without any cell. */
export const tabFields = `properties.timeZone,${metadataFields},sheets.${sizeFields}`;

/** How often tabs are read in several requests until nobody moves a row meanwhile. */
const attemptsMax = 3;

export function createChosenTabs(client: SheetsClient, parts: Parts, log: Log): ChosenTabs {
  let pace = firstPace;
  /** Rows of the longest tab that was chosen last. */
  let longest: number | undefined;
  const areWhole = () => pace.halvings === 0;

  return {
    areWhole,
    async paced(read) {
      const before = pace;
      try {
        const result = await read();
        pace = speedUp(pace);
        return result;
      } catch (error) {
        // How long the tabs are is looked up with each read in parts, and may have changed since where none was.
        if (isTooMuch(error)) pace = slowDown(pace, areWhole() ? undefined : longest);
        throw error;
      } finally {
        if (pace.halvings !== before.halvings) log.info('sheet.read_size', { halvings: pace.halvings });
      }
    },
    async read(layout, choose) {
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const look = await expectPart(parts.get(tabFields));
        const chosen = choose(readTagged(look));
        longest = longestOf(chosen);
        const whole = chosen.length > 0 ? [chosen.map(({ sheetId }) => ({ sheetId }))] : [];
        const read = [look];
        for (const ranges of areWhole() ? whole : windowsOf(chosen, pace))
          read.push(await expectPart(parts.get(gridFields, ranges)));
        const tagged = parts.join(read);
        if (areWhole() || (await isStill(client, tagged, layout))) return tagged;
      }
      throw newSheetError('SHEET_UNREACHABLE', 'Rows were moved while the spreadsheet was read in parts.');
    },
  };
}

async function expectPart(part: Promise<Spreadsheet | undefined>): Promise<Spreadsheet> {
  const found = await part;
  if (found) return found;
  throw newSheetError('SHEET_UNREACHABLE', 'A tab was removed while the spreadsheet was read.');
}

/** Field mask of what shows whether rows stayed where they were. */
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
  const ranges = tabs.flatMap(({ id, rowCount, sheetId }) => [
    { sheetId, startRowIndex: 0, endRowIndex: 1 },
    ...(rowCount > 1 ? [{ sheetId, startRowIndex: 1, startColumnIndex: id, endColumnIndex: id + 1 }] : []),
  ]);
  if (ranges.length === 0) return true;
  const now = readTagged(await expectPart(client.get(stillFields, ranges)));
  // Whether a read by ranges of numeric ids brings it no document says.
  if (now.lastWrite && now.lastWrite.run !== tagged.lastWrite?.run) return false;
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
