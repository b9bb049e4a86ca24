import type { z } from 'zod';
import { storedColorMask } from './colors.ts';
import { type FieldMask, parseFieldMask } from './field-mask.ts';
import { GoogleError, invalidArgument } from './google-error.ts';
import type { JsonObject } from './json.ts';
import type { NextId, Spreadsheet } from './spreadsheet.ts';

/** Applies one request of a batch to a draft and gives what the reply says; undefined when it says nothing. */
export type RequestKind = (
  draft: Spreadsheet,
  request: unknown,
  nextId: NextId,
  account: string,
) => JsonObject | undefined;

/** Joins a request's shape and its effect; what does not fit the shape is refused before it is applied. */
export function requestKind<Request>(
  shape: z.ZodType<Request>,
  apply: (draft: Spreadsheet, request: Request, nextId: NextId, account: string) => JsonObject | undefined,
): RequestKind {
  return (draft, request, nextId, account) => apply(draft, parseRequest(shape, request), nextId, account);
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
  return storedColorMask(parseFieldMask(fields));
}

/** Puts the request's place and name before a refusal, as Google does. */
export function refuseRequest(error: unknown, position: number, kind: string): unknown {
  if (!(error instanceof GoogleError) || error.status !== 'INVALID_ARGUMENT') return error;
  return invalidArgument(`Invalid requests[${position}].${kind}: ${error.message}`);
}
