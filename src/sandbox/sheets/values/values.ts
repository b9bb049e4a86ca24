import { refusalOfCell, withValue } from '../cell.ts';
import { recalculate } from '../formulas/recalculate.ts';
import { columnLetters } from '../grid/a1.ts';
import { insertLines } from '../grid/dimensions.ts';
import { type Area, areaAt, cellsOf } from '../grid/grid-range.ts';
import { formatRange, resolveA1 } from '../grid/range-reference.ts';
import { tableBelow } from '../grid/table-detection.ts';
import { plainValue, typeIntoCell } from '../people/typed-input.ts';
import { refuseMore } from '../requests/growth.ts';
import {
  cellAt,
  draftOf,
  growColumns,
  growRows,
  type Sheet,
  type Spreadsheet,
  setCell,
  sizeOf,
} from '../spreadsheet.ts';
import { GoogleError, invalidArgument } from '../wire/google-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../wire/json.ts';
import { type RenderOptions, refuseNoRows, rowsOf, valueRange, widthOf } from './value-range.ts';

export interface WriteOptions {
  input: 'RAW' | 'USER_ENTERED';
  /** When it is written, which tells the year of a day that comes without one. */
  nowMs: number;
  /** Set when the answer is to show the written range; then how. */
  includeValues?: RenderOptions | undefined;
}

export interface ValuesOutcome {
  spreadsheet: Spreadsheet;
  answer: JsonObject;
}

/** `values.update`: a single cell is only where to begin, a larger range is a limit. */
export function updateValues(
  spreadsheet: Spreadsheet,
  range: string,
  body: unknown,
  options: WriteOptions,
): ValuesOutcome {
  const rows = rowsOf(body);
  const draft = draftOf(spreadsheet);
  const { sheet, area } = resolveA1(draft, range);
  const isSingleCell = area.endRow - area.startRow === 1 && area.endColumn - area.startColumn === 1;
  if (!isSingleCell) refuseBeyond(sheet, area, rows);
  const written = writeValues(draft, sheet, area.startRow, area.startColumn, rows, options, area);
  return { spreadsheet: draft, answer: { spreadsheetId: draft.spreadsheetId, ...written } };
}

/** `values.batchUpdate`: several ranges, all or none. */
export function batchUpdateValues(
  spreadsheet: Spreadsheet,
  entries: readonly unknown[],
  options: WriteOptions,
): ValuesOutcome {
  let current = spreadsheet;
  const responses: JsonObject[] = [];
  for (const [position, entry] of entries.entries()) {
    const range = isJsonObject(entry) ? String(entry['range'] ?? '') : '';
    const before = current;
    refuseNoRows(entry, `data[${position}]`);
    const outcome = namedAt(`data[${position}]`, () => updateValues(before, range, entry, options));
    current = outcome.spreadsheet;
    responses.push(outcome.answer);
  }
  const written = responses.map((response) => resolveA1(current, String(response['updatedRange'])));
  const cells = written.flatMap(({ sheet, area }) => [...cellsOf(area)].map((cell) => ({ ...cell, sheet })));
  const distinct = (keys: string[]) => new Set(keys).size;
  const answer: JsonObject = {
    spreadsheetId: spreadsheet.spreadsheetId,
    totalUpdatedRows: distinct(cells.map(({ sheet, row }) => `${sheet.sheetId}:${row}`)),
    totalUpdatedColumns: distinct(cells.map(({ sheet, column }) => `${sheet.sheetId}:${column}`)),
    totalUpdatedCells: responses.reduce((sum, response) => sum + Number(response['updatedCells'] ?? 0), 0),
    totalUpdatedSheets: distinct(written.map(({ sheet }) => String(sheet.sheetId))),
    responses,
  };
  return { spreadsheet: current, answer };
}

/** Does what concerns one of many; a refusal says which of them it is about. */
export function namedAt<Outcome>(place: string, act: () => Outcome): Outcome {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof GoogleError)) throw error;
    throw invalidArgument(`Invalid ${place}: ${error.message}`);
  }
}

/** `values.append`: finds the table in the range and writes below it; the grid grows where needed. */
export function appendValues(
  spreadsheet: Spreadsheet,
  range: string,
  body: unknown,
  options: WriteOptions & { insertsRows: boolean },
): ValuesOutcome {
  const rows = rowsOf(body);
  const draft = draftOf(spreadsheet);
  const { sheet, area } = resolveA1(draft, range);
  const table = tableBelow(sheet, area);
  const startRow = table ? table.endRow : area.startRow;
  const startColumn = table ? table.startColumn : area.startColumn;
  const tableRange = table && formatRange(sheet, table);
  refuseMore(draft, sheet, {
    rowCount: options.insertsRows ? rows.length : startRow + rows.length - sheet.rows.length,
    columnCount: startColumn + widthOf(rows) - sheet.columnProperties.length,
  });
  if (options.insertsRows)
    insertLines(draft, sheet, { dimension: 'ROWS', start: startRow, count: rows.length });
  growRows(sheet, startRow + rows.length - sheet.rows.length);
  growColumns(sheet, startColumn + widthOf(rows) - sheet.columnProperties.length);
  const updates = {
    spreadsheetId: draft.spreadsheetId,
    ...writeValues(draft, sheet, startRow, startColumn, rows, options),
  };
  const answer = { spreadsheetId: draft.spreadsheetId, ...(tableRange && { tableRange }), updates };
  return { spreadsheet: draft, answer };
}

/** `values.clear`: takes values out and leaves formats, notes and validation. */
export function clearValues(
  spreadsheet: Spreadsheet,
  ranges: readonly string[],
): {
  spreadsheet: Spreadsheet;
  clearedRanges: string[];
} {
  const draft = draftOf(spreadsheet);
  const clearedRanges = ranges.map((range) => {
    const { sheet, area } = resolveA1(draft, range);
    for (let row = area.startRow; row < area.endRow; row += 1) {
      const cells = sheet.rows[row];
      if (!cells || cells.length === 0) continue;
      const isInside = (column: number) => column >= area.startColumn && column < area.endColumn;
      sheet.rows[row] = cells.map((cell, column) => (isInside(column) ? withValue(cell, undefined) : cell));
    }
    return formatRange(sheet, area);
  });
  return { spreadsheet: draft, clearedRanges };
}

function refuseBeyond(sheet: Sheet, area: Area, rows: Json[][]): void {
  const within = `Requested writing within range [${formatRange(sheet, area)}]`;
  const lastRow = area.startRow + rows.length;
  const lastColumn = area.startColumn + widthOf(rows);
  if (lastRow > area.endRow) {
    throw invalidArgument(`${within}, but tried writing to row [${area.endRow + 1}]`);
  }
  if (lastColumn > area.endColumn) {
    throw invalidArgument(`${within}, but tried writing to column [${columnLetters(area.endColumn)}]`);
  }
}

/**
 * Writes rows of JSON values; `null` leaves a cell alone, `""` empties it. The range that is reported ends where the last value was
 * written; what is shown of it is the range that was asked for, where that is larger.
 */
function writeValues(
  draft: Spreadsheet,
  sheet: Sheet,
  startRow: number,
  startColumn: number,
  sent: Json[][],
  options: WriteOptions,
  asked?: Area,
): JsonObject {
  const rows = withoutTrailingNulls(sent);
  const { rowCount, columnCount } = sizeOf(sheet);
  const area = areaAt(startRow, startColumn, Math.max(1, rows.length), Math.max(1, widthOf(rows)));
  if (area.endRow > rowCount || area.endColumn > columnCount) {
    const limits = `Max rows: ${rowCount}, max columns: ${columnCount}`;
    throw invalidArgument(`Range (${formatRange(sheet, area)}) exceeds grid limits. ${limits}`);
  }
  const writtenRows = new Set<number>();
  const writtenColumns = new Set<number>();
  let updatedCells = 0;
  for (const [down, row] of rows.entries()) {
    for (const [right, input] of row.entries()) {
      if (input === null) continue;
      writeInput(sheet, startRow + down, startColumn + right, input, options);
      writtenRows.add(down);
      writtenColumns.add(right);
      updatedCells += 1;
    }
  }
  const counts = updatedCells > 0 && {
    updatedRows: writtenRows.size,
    updatedColumns: writtenColumns.size,
    updatedCells,
  };
  if (options.includeValues) recalculate(draft);
  const shown = asked && holds(asked, area) ? asked : area;
  const updatedData = options.includeValues && valueRange(sheet, shown, options.includeValues);
  return { updatedRange: formatRange(sheet, area), ...counts, ...(updatedData && { updatedData }) };
}

/** Nothing is written at the ends of rows and below the last of them; where nothing is written at all, they stay as they are. */
function withoutTrailingNulls(rows: Json[][]): Json[][] {
  const isWritten = (value: Json) => value !== null;
  const ended = rows.map((row) => row.slice(0, row.findLastIndex(isWritten) + 1));
  const count = ended.findLastIndex((row) => row.length > 0) + 1;
  return count > 0 ? ended.slice(0, count) : rows;
}

function holds(outer: Area, inner: Area): boolean {
  return outer.endRow >= inner.endRow && outer.endColumn >= inner.endColumn;
}

function writeInput(
  sheet: Sheet,
  row: number,
  column: number,
  input: Json,
  { input: option, nowMs }: WriteOptions,
): void {
  const current = cellAt(sheet, row, column);
  const cell =
    option === 'RAW'
      ? withValue(current, plainValue(input))
      : typeIntoCell(current, input, sheet.locale, nowMs);
  const refusal = cell && refusalOfCell(cell);
  if (refusal) throw invalidArgument(refusal);
  setCell(sheet, row, column, cell);
}
