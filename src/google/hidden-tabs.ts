import { describeCell } from '../sheet/port/cell.ts';
import { newSheetError } from '../sheet/port/errors.ts';
import { tabFields } from './chosen-tabs.ts';
import type { Request, SheetsClient } from './client.ts';
import { cellFields, type Grid, readGrids } from './grid.ts';
import { findLeadList } from './lead-list.ts';
import { findStranger, type Owner, readTagged } from './tabs.ts';
import { findShadow } from './write/shadow.ts';

const cellsMask = `sheets(properties(sheetId,title),data(startRow,startColumn,rowData.values(${cellFields})))`;

/** The hidden tabs of ours: copies of rows that writes replaced, and the names that dropdowns of leads offer. */
export function openHiddenTabs(client: SheetsClient, owner: Owner) {
  /** Fails with SHEET_KEPT where the spreadsheet is not ours to write to. */
  const find = async (): Promise<readonly Pick<Grid, 'sheetId'>[]> => {
    const tagged = readTagged((await client.get(tabFields)) ?? {});
    const stranger = findStranger(tagged, owner);
    if (stranger !== undefined) throw newSheetError('SHEET_KEPT', stranger);
    return [findShadow(tagged), findLeadList(tagged.grids)].filter((tab) => tab !== undefined);
  };
  return {
    /** The rows that say it, each as the texts of its cells. */
    async rowsSaying(says: (text: string) => boolean): Promise<readonly (readonly string[])[]> {
      const ranges = (await find()).map(({ sheetId }) => ({ sheetId }));
      if (ranges.length === 0) return [];
      const rows = readGrids((await client.get(cellsMask, ranges)) ?? {}).flatMap((grid) => [...grid.rows]);
      return rows
        .map((row) => row.filter(({ kind }) => kind !== 'empty').map(describeCell))
        .filter((texts) => texts.some(says));
    },
    /** Empties them: values, formats, notes. The daemon fills them again as it needs them. Returns how many there are. */
    async clear(): Promise<number> {
      const tabs = await find();
      if (tabs.length > 0) await client.batchUpdate(tabs.map(clearTab), 'sheets.properties.sheetId', []);
      return tabs.length;
    },
  };
}

const clearTab = ({ sheetId }: Pick<Grid, 'sheetId'>): Request => ({
  updateCells: { range: { sheetId }, fields: '*' },
});
