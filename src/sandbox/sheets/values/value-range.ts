import { z } from 'zod';
import type { Cell } from '../cell.ts';
import type { Choices } from '../control/choices.ts';
import { cellAsRead } from '../display/chips.ts';
import { type DateTimeRenderOption, renderCell, type ValueRenderOption } from '../display/display.ts';
import type { Area } from '../grid/grid-range.ts';
import { formatRange, resolveA1 } from '../grid/range-reference.ts';
import { parseRequest } from '../requests/request-kind.ts';
import { json } from '../requests/request-shapes.ts';
import type { Dimension, Sheet, Spreadsheet } from '../spreadsheet.ts';
import { badFields, invalidArgument } from '../wire/google-error.ts';
import { isJsonObject, type Json, type JsonObject, withoutNulls } from '../wire/json.ts';
import { protoText } from './proto-text.ts';

export interface RenderOptions {
  majorDimension: Dimension;
  valueRender: ValueRenderOption;
  dateRender: DateTimeRenderOption;
  chipText: Choices['chipText'];
}

export const DEFAULT_RENDER: RenderOptions = {
  majorDimension: 'ROWS',
  valueRender: 'FORMATTED_VALUE',
  dateRender: 'SERIAL_NUMBER',
  chipText: 'placeholder',
};

/** `values.get`: what the cells show, trailing empty cells and rows cut off; no `values` when there are none. */
export function getValues(spreadsheet: Spreadsheet, range: string, options: RenderOptions): JsonObject {
  const { sheet, area } = resolveA1(spreadsheet, range);
  return valueRange(sheet, area, options);
}

/** A rectangle as a ValueRange. */
export function valueRange(sheet: Sheet, area: Area, options: RenderOptions): JsonObject {
  const { majorDimension, valueRender, dateRender, chipText } = options;
  const shownCell = (cell: Cell | undefined) => {
    const isStored = !cell || valueRender === 'FORMATTED_VALUE';
    return renderCell(isStored ? cell : cellAsRead(cell, chipText), valueRender, dateRender, sheet.locale);
  };
  const shown = sheet.rows
    .slice(area.startRow, area.endRow)
    .map((row) => row.slice(area.startColumn, area.endColumn).map(shownCell));
  const lines = majorDimension === 'COLUMNS' ? transpose(shown) : shown;
  const trimmed = lines.map((line) => line.slice(0, line.findLastIndex((value) => value !== '') + 1));
  const values = trimmed.slice(0, trimmed.findLastIndex((line) => line.length > 0) + 1);
  return { range: formatRange(sheet, area), majorDimension, ...(values.length > 0 && { values }) };
}

function transpose(rows: Json[][]): Json[][] {
  const width = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? ''));
}

const valueRangeShape = z.object({
  values: z.array(z.array(json)).default([]),
  majorDimension: z.enum(['ROWS', 'COLUMNS']).optional(),
});

/** The rows of a ValueRange that came in; a column-wise one is turned. */
export function rowsOf(body: unknown): Json[][] {
  refuseNoRows(body, 'data');
  const sent = parseRequest(valueRangeShape, withoutNulls(isJsonObject(body) ? body : {}));
  refuseNested(sent.values);
  if (sent.majorDimension !== 'COLUMNS') return sent.values;
  const height = Math.max(0, ...sent.values.map((column) => column.length));
  return Array.from({ length: height }, (_, row) => sent.values.map((column) => column[row] ?? null));
}

/** Names whatever stands in the place of the list of rows, or of a row in it; `place` is what the request calls the ValueRange. */
export function refuseNoRows(body: unknown, place: string): void {
  const values = isJsonObject(body) ? body['values'] : undefined;
  if (values === undefined || values === null) return;
  const field = `${place}.values`;
  const wrong = Array.isArray(values)
    ? values.flatMap((row, index) => (Array.isArray(row) ? [] : [[`${field}[${index}]`, row] as const]))
    : [[field, values] as const];
  const violations = wrong.map(([name, value]) => ({
    field: name,
    description: `Invalid value at '${name}' (type.googleapis.com/google.protobuf.ListValue), ${JSON.stringify(value)}`,
  }));
  if (violations.length > 0) throw badFields(violations);
}

/** A cell holds one value; a list or an object in its place is quoted back. */
function refuseNested(rows: readonly Json[][]): void {
  for (const [row, values] of rows.entries()) {
    const column = values.findIndex((value) => typeof value === 'object' && value !== null);
    if (column >= 0) throw invalidArgument(`Invalid values[${row}][${column}]: ${protoText(values[column])}`);
  }
}

/** The width of the widest row. */
export function widthOf(rows: Json[][]): number {
  return Math.max(0, ...rows.map((row) => row.length));
}
