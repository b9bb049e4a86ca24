import { formattedValue } from '../display/display.ts';
import { frozenRowsOf, type Sheet, type Spreadsheet, sheetById, sheetByTitle } from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';

/** Finds a tab by its title or its id; throws Google's 400 when there is none. */
export function sheetOf(spreadsheet: Spreadsheet, sheet: string | number): Sheet {
  if (typeof sheet === 'number') return sheetById(spreadsheet, sheet);
  const found = sheetByTitle(spreadsheet, sheet);
  if (!found) throw invalidArgument(`There is no tab "${sheet}".`);
  return found;
}

/** The header is the last frozen row, or the first row when none is frozen. */
export function headerRowOf(sheet: Sheet): number {
  return Math.max(0, frozenRowsOf(sheet) - 1);
}

/** Finds a column by its index or the text of its header; throws Google's 400 when there is none. */
export function columnOf(sheet: Sheet, column: number | string): number {
  if (typeof column === 'number') return column;
  const found = (sheet.rows[headerRowOf(sheet)] ?? []).findIndex((cell) => formattedValue(cell) === column);
  if (found < 0) throw invalidArgument(`There is no column "${column}" in the tab "${sheet.title}".`);
  return found;
}
