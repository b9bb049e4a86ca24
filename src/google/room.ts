import { newSheetError } from '../sheet/port/errors.ts';
import type { Request } from './client.ts';
import type { Grid } from './grid.ts';

/** Blank cells count as well: https://support.google.com/drive/answer/37603 */
export const cellsMax = 10_000_000;

type Size = Pick<Grid, 'rowCount' | 'columnCount'>;

export const countCells = (grids: readonly Size[]): number =>
  grids.reduce((sum, { rowCount, columnCount }) => sum + rowCount * columnCount, 0);

/** Rows that a tab can get before the spreadsheet is full, when no other one grows. */
export const roomOf = ({ columnCount }: Size, cells: number): number =>
  Math.max(0, Math.floor((cellsMax - cells) / Math.max(1, columnCount)));

/** Rows or columns behind the last ones of a tab; none for a length of 0 or less. */
export const grow = (sheetId: number, dimension: 'ROWS' | 'COLUMNS', length: number): Request[] =>
  length > 0 ? [{ appendDimension: { sheetId, dimension, length } }] : [];

/** Fails with SHEET_FULL when new tabs and columns would make the spreadsheet too large; Google would refuse all of it. */
export function checkRoom(grids: readonly Grid[], requests: readonly Request[]): void {
  const added = requests.reduce((sum, { addSheet, appendDimension }) => {
    const size = addSheet?.properties?.gridProperties;
    const grid = grids.find(({ sheetId }) => sheetId === appendDimension?.sheetId);
    return (
      sum +
      (size?.rowCount ?? 0) * (size?.columnCount ?? 0) +
      (appendDimension?.length ?? 0) * (grid?.rowCount ?? 0)
    );
  }, 0);
  const cells = countCells(grids);
  if (added > 0 && cells + added > cellsMax) {
    const message = `The spreadsheet has ${cells} cells and would get ${added} more; it may have ${cellsMax}.`;
    throw newSheetError('SHEET_FULL', message);
  }
}
