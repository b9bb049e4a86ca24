import { type Sheet, type Spreadsheet, sheetById, sheetByTitle, sizeOf } from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { columnLetters, parseA1, quoteTitle, splitTitle } from './a1.ts';
import { type Area, areaOf, beginsOutside, type GridRange } from './grid-range.ts';

/** A tab and the rectangle of it that an A1 reference means, clipped to the grid. */
export interface ResolvedRange {
  sheet: Sheet;
  area: Area;
}

/**
 * Finds what `Deals!A1:C`, `'My tab'`, `A1` or a named range means.
 * @throws GoogleError 400 when it cannot be read, or begins outside the grid.
 */
export function resolveA1(spreadsheet: Spreadsheet, text: string): ResolvedRange {
  const { title, reference, isQuoted } = splitTitle(text);
  const sheet = title === undefined ? firstVisible(spreadsheet) : sheetByTitle(spreadsheet, title);
  const range = reference === undefined ? {} : parseA1(reference);
  if (sheet && range) return clip(sheet, range);
  const named = reference === undefined ? undefined : namedRange(spreadsheet, reference);
  if (named && (title === undefined || sheet)) return resolveGridRange(spreadsheet, named);
  const wholeTab = isQuoted ? undefined : sheetByTitle(spreadsheet, text);
  if (wholeTab) return clip(wholeTab, {});
  throw invalidArgument(`Unable to parse range: ${text}`);
}

function firstVisible({ sheets }: Spreadsheet): Sheet | undefined {
  return sheets.find(({ properties }) => properties['hidden'] !== true) ?? sheets[0];
}

function namedRange(spreadsheet: Spreadsheet, name: string): GridRange | undefined {
  return spreadsheet.namedRanges.find((candidate) => candidate['name'] === name)?.ranges[0];
}

/** Finds the tab and rectangle of a GridRange, clipped at the grid's end; one that begins outside is refused. */
export function resolveGridRange(spreadsheet: Spreadsheet, range: GridRange): ResolvedRange {
  return clip(sheetById(spreadsheet, range.sheetId), range);
}

/** One cell, as a request that begins there names it. */
interface Coordinate {
  sheetId?: number | undefined;
  rowIndex?: number | undefined;
  columnIndex?: number | undefined;
}

/** Finds the cell of a GridCoordinate; one outside of the grid is refused. */
export function resolveCoordinate(
  spreadsheet: Spreadsheet,
  { sheetId, rowIndex: row = 0, columnIndex: column = 0 }: Coordinate,
): { sheet: Sheet; row: number; column: number } {
  const sheet = sheetById(spreadsheet, sheetId);
  const { rowCount, columnCount } = sizeOf(sheet);
  if (row >= rowCount) throw outsideOfGrid('row', row, rowCount);
  if (column >= columnCount) throw outsideOfGrid('column', column, columnCount);
  return { sheet, row, column };
}

function outsideOfGrid(line: 'row' | 'column', index: number, count: number) {
  return invalidArgument(`GridCoordinate.${line}Index[${index}] is after last ${line} in grid[${count - 1}]`);
}

function clip(sheet: Sheet, range: GridRange): ResolvedRange {
  const size = sizeOf(sheet);
  if (beginsOutside(range, size)) {
    const limits = `Max rows: ${size.rowCount}, max columns: ${size.columnCount}`;
    throw invalidArgument(`Range (${formatGridRange(sheet, range)}) exceeds grid limits. ${limits}`);
  }
  return { sheet, area: areaOf(range, size) };
}

/** `Sheet1!A1:B2`, or `Sheet1!A1` for a single cell. */
export function formatRange(sheet: Sheet, area: Area): string {
  const first = columnLetters(area.startColumn) + (area.startRow + 1);
  const last = columnLetters(area.endColumn - 1) + area.endRow;
  return `${quoteTitle(sheet.title)}!${first === last ? first : `${first}:${last}`}`;
}

function formatGridRange(sheet: Sheet, range: GridRange): string {
  const corner = (column: number | undefined, row: number | undefined) =>
    (column === undefined ? '' : columnLetters(column)) + (row === undefined ? '' : row + 1);
  const first = corner(range.startColumnIndex, range.startRowIndex);
  const last = corner(minusOne(range.endColumnIndex), minusOne(range.endRowIndex));
  return `${quoteTitle(sheet.title)}!${last === '' || first === last ? first : `${first}:${last}`}`;
}

function minusOne(end: number | undefined): number | undefined {
  return end === undefined ? undefined : end - 1;
}
