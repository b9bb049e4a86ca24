import { cellAt, type Sheet, sizeOf } from '../spreadsheet.ts';
import { type Area, areaAt, cellsOf } from './grid-range.ts';

/**
 * The block of filled cells that `values.append` writes under: it begins at the last filled cell of the range
 * and grows while a filled cell touches it. A gap in a row makes two tables, and the last one is taken, which is
 * how appended rows come to land in the wrong column.
 */
export function tableBelow(sheet: Sheet, range: Area): Area | undefined {
  let seed: Area | undefined;
  for (const { row, column } of cellsOf(range)) {
    if (isFilled(sheet, row, column)) seed = areaAt(row, column, 1, 1);
  }
  return seed && grown(sheet, seed);
}

function grown(sheet: Sheet, area: Area): Area {
  const { rowCount, columnCount } = sizeOf(sheet);
  const ring: Area = {
    startRow: Math.max(0, area.startRow - 1),
    endRow: Math.min(rowCount, area.endRow + 1),
    startColumn: Math.max(0, area.startColumn - 1),
    endColumn: Math.min(columnCount, area.endColumn + 1),
  };
  const next = { ...area };
  for (const { row, column } of cellsOf(ring)) {
    if (!isFilled(sheet, row, column)) continue;
    next.startRow = Math.min(next.startRow, row);
    next.endRow = Math.max(next.endRow, row + 1);
    next.startColumn = Math.min(next.startColumn, column);
    next.endColumn = Math.max(next.endColumn, column + 1);
  }
  const hasGrown =
    next.endRow - next.startRow > area.endRow - area.startRow ||
    next.endColumn - next.startColumn > area.endColumn - area.startColumn;
  return hasGrown ? grown(sheet, next) : area;
}

function isFilled(sheet: Sheet, row: number, column: number): boolean {
  return cellAt(sheet, row, column)?.userEnteredValue !== undefined;
}
