import type { GridSize } from '../grid/grid-range.ts';
import { type Sheet, type Spreadsheet, sizeOf } from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';

/** Empty cells count as well. */
const MAX_CELLS = 10_000_000;
/** The last column is ZZZ. */
const MAX_COLUMNS = 18_278;

/**
 * Asked before a tab takes on a size, and before any memory is taken for it; `sheet` may be new or in the spreadsheet.
 * @throws GoogleError 400 when all tabs together would have too many cells, or the tab too many columns.
 */
export function refuseGrowth(spreadsheet: Spreadsheet, sheet: Sheet | undefined, size: GridSize): void {
  const cellsOf = ({ rowCount, columnCount }: GridSize) => rowCount * columnCount;
  const others = spreadsheet.sheets.filter((other) => other !== sheet).map((other) => cellsOf(sizeOf(other)));
  const total = others.reduce((sum, cells) => sum + cells, cellsOf(size));
  const isTooWide = total <= MAX_CELLS && size.columnCount > MAX_COLUMNS;
  if (isTooWide) {
    throw invalidArgument(
      `This action would increase the number of columns in the sheet above the limit of ${MAX_COLUMNS} columns.`,
    );
  }
  if (total <= MAX_CELLS || (sheet && cellsOf(size) <= cellsOf(sizeOf(sheet)))) return;
  throw invalidArgument(
    `This action would increase the number of cells in the workbook above the limit of ${MAX_CELLS} cells.`,
  );
}

/** Like `refuseGrowth`, for a tab that is to get so many rows or columns more; negative numbers ask for nothing. */
export function refuseMore(spreadsheet: Spreadsheet, sheet: Sheet, more: Partial<GridSize>): void {
  const { rowCount, columnCount } = sizeOf(sheet);
  refuseGrowth(spreadsheet, sheet, {
    rowCount: rowCount + Math.max(0, more.rowCount ?? 0),
    columnCount: columnCount + Math.max(0, more.columnCount ?? 0),
  });
}
