import { z } from 'zod';
import { refusalOfCell, withValue } from './cell.ts';
import { type DateTimeRenderOption, renderCell, type ValueRenderOption } from './display.ts';
import { badField, invalidArgument } from './google-error.ts';
import { type Area, areaAt, cellsOf } from './grid-range.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { formatRange, resolveA1 } from './range-reference.ts';
import { parseRequest } from './request-kind.ts';
import { json } from './request-shapes.ts';
import type { Dimension, Sheet, Spreadsheet } from './spreadsheet.ts';
import { cellAt, draftOf, growColumns, growRows, setCell, sizeOf } from './spreadsheet.ts';
import { tableBelow } from './table-detection.ts';
import { plainValue, typeIntoCell } from './typed-input.ts';

export interface RenderOptions {
  majorDimension: Dimension;
  valueRender: ValueRenderOption;
  dateRender: DateTimeRenderOption;
}

export const DEFAULT_RENDER: RenderOptions = {
  majorDimension: 'ROWS',
  valueRender: 'FORMATTED_VALUE',
  dateRender: 'SERIAL_NUMBER',
};

/** `values.get`: what the cells show, trailing empty cells and rows cut off; no `values` when there are none. */
export function getValues(spreadsheet: Spreadsheet, range: string, options: RenderOptions): JsonObject {
  const { sheet, area } = resolveA1(spreadsheet, range);
  return valueRange(sheet, area, options);
}

function valueRange(sheet: Sheet, area: Area, options: RenderOptions): JsonObject {
  const { majorDimension, valueRender, dateRender } = options;
  const shown = sheet.rows
    .slice(area.startRow, area.endRow)
    .map((row) =>
      row.slice(area.startColumn, area.endColumn).map((cell) => renderCell(cell, valueRender, dateRender)),
    );
  const lines = majorDimension === 'COLUMNS' ? transpose(shown) : shown;
  const trimmed = lines.map((line) => line.slice(0, line.findLastIndex((value) => value !== '') + 1));
  const values = trimmed.slice(0, trimmed.findLastIndex((line) => line.length > 0) + 1);
  return { range: formatRange(sheet, area), majorDimension, ...(values.length > 0 && { values }) };
}

function transpose(rows: Json[][]): Json[][] {
  const width = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? ''));
}

export interface WriteOptions {
  input: 'RAW' | 'USER_ENTERED';
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
  const written = writeValues(sheet, area.startRow, area.startColumn, rows, options);
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
  for (const entry of entries) {
    const range = isJsonObject(entry) ? String(entry['range'] ?? '') : '';
    const outcome = updateValues(current, range, entry, options);
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
  if (options.insertsRows) {
    sheet.rows.splice(startRow, 0, ...rows.map(() => []));
    sheet.rowProperties.splice(startRow, 0, ...rows.map(() => undefined));
  }
  growRows(sheet, startRow + rows.length - sheet.rows.length);
  growColumns(sheet, startColumn + widthOf(rows) - sheet.columnProperties.length);
  const updates = {
    spreadsheetId: draft.spreadsheetId,
    ...writeValues(sheet, startRow, startColumn, rows, options),
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

const valueRangeShape = z.object({
  values: z.array(z.array(json)).default([]),
  majorDimension: z.enum(['ROWS', 'COLUMNS']).nullish(),
});

/** The rows of a ValueRange that came in; a column-wise one is turned. */
function rowsOf(body: unknown): Json[][] {
  const values = isJsonObject(body) ? body['values'] : undefined;
  if (typeof values === 'string') throw notAListValue(values);
  const sent = parseRequest(valueRangeShape, isJsonObject(body) ? body : {});
  if (sent.majorDimension !== 'COLUMNS') return sent.values;
  const height = Math.max(0, ...sent.values.map((column) => column.length));
  return Array.from({ length: height }, (_, row) => sent.values.map((column) => column[row] ?? null));
}

function notAListValue(value: string) {
  const field = 'data.values';
  const description = `Invalid value at '${field}' (type.googleapis.com/google.protobuf.ListValue), "${value}"`;
  return badField(description, field, description);
}

function refuseBeyond(sheet: Sheet, area: Area, rows: Json[][]): void {
  const within = `Requested writing within range [${formatRange(sheet, area)}]`;
  const lastRow = area.startRow + rows.length;
  const lastColumn = area.startColumn + widthOf(rows);
  if (lastRow > area.endRow)
    throw invalidArgument(`${within}, but tried writing to row [${area.endRow + 1}]`);
  if (lastColumn > area.endColumn) {
    const [, letters = ''] = /!([A-Z]+)/.exec(formatRange(sheet, areaAt(0, area.endColumn, 1, 1))) ?? [];
    throw invalidArgument(`${within}, but tried writing to column [${letters}]`);
  }
}

/** Writes rows of JSON values; `null` leaves a cell alone, `""` empties it. */
function writeValues(
  sheet: Sheet,
  startRow: number,
  startColumn: number,
  rows: Json[][],
  options: WriteOptions,
): JsonObject {
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
      writeInput(sheet, startRow + down, startColumn + right, input, options.input);
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
  const updatedData = options.includeValues && valueRange(sheet, area, options.includeValues);
  return { updatedRange: formatRange(sheet, area), ...counts, ...(updatedData && { updatedData }) };
}

function writeInput(
  sheet: Sheet,
  row: number,
  column: number,
  input: Json,
  option: WriteOptions['input'],
): void {
  const current = cellAt(sheet, row, column);
  const cell = option === 'RAW' ? withValue(current, plainValue(input)) : typeIntoCell(current, input);
  const refusal = cell && refusalOfCell(cell);
  if (refusal) throw invalidArgument(refusal);
  setCell(sheet, row, column, cell);
}

function widthOf(rows: Json[][]): number {
  return Math.max(0, ...rows.map((row) => row.length));
}
