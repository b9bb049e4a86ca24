import type { z } from 'zod';
import { type FieldMask, parseFieldMask } from './field-mask.ts';
import { GoogleError, invalidArgument } from './google-error.ts';
import { type Area, areaOf, beginsOutside, type GridRange } from './grid-range.ts';
import type { JsonObject } from './json.ts';
import { type NextId, type Sheet, type Spreadsheet, sheetById, sizeOf } from './spreadsheet.ts';

/** Applies one request of a batch to a draft and gives what the reply says; undefined when it says nothing. */
export type RequestKind = (draft: Spreadsheet, request: unknown, nextId: NextId) => JsonObject | undefined;

/** Joins a request's shape and its effect; what does not fit the shape is refused before it is applied. */
export function requestKind<Request>(
  shape: z.ZodType<Request>,
  apply: (draft: Spreadsheet, request: Request, nextId: NextId) => JsonObject | undefined,
): RequestKind {
  return (draft, request, nextId) => apply(draft, parseRequest(shape, request), nextId);
}

/** @throws GoogleError 400 that names the first member which is wrong. */
export function parseRequest<Request>(shape: z.ZodType<Request>, request: unknown): Request {
  const parsed = shape.safeParse(request);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalidArgument(`Invalid value at '${issue?.path.join('.') ?? ''}': ${issue?.message ?? 'unknown'}`);
}

/** The mask of a request that changes fields; Google insists on one. */
export function requiredMask(fields: string): FieldMask {
  if (fields.trim() === '') {
    throw invalidArgument("At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)");
  }
  return parseFieldMask(fields);
}

/** The tab and rectangle of a range, clipped at the grid's end; one that begins outside is refused. */
export function gridAreaOf(draft: Spreadsheet, range: GridRange): { sheet: Sheet; area: Area } {
  const sheet = sheetById(draft, range.sheetId);
  const size = sizeOf(sheet);
  if (beginsOutside(range, size)) {
    const limits = `Max rows: ${size.rowCount}, max columns: ${size.columnCount}`;
    throw invalidArgument(`Range (${JSON.stringify(range)}) exceeds grid limits. ${limits}`);
  }
  return { sheet, area: areaOf(range, size) };
}

/** Puts the request's place and name before a refusal, as Google does. */
export function refuseRequest(error: unknown, position: number, kind: string): unknown {
  if (!(error instanceof GoogleError) || error.code !== 400) return error;
  return invalidArgument(`Invalid requests[${position}].${kind}: ${error.message}`);
}
