import type { z } from 'zod';
import { storedColorMask } from '../display/colors.ts';
import type { NextId, Spreadsheet } from '../spreadsheet.ts';
import { type FieldMask, parseFieldMask } from '../wire/field-mask.ts';
import { badField, GoogleError, invalidArgument } from '../wire/google-error.ts';
import type { JsonObject } from '../wire/json.ts';
import { snakeCase } from '../wire/names.ts';

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

/** What Google calls the kinds of values that JSON can get wrong. */
const TYPE_NAMES: Record<string, string> = {
  int: 'TYPE_INT32',
  number: 'TYPE_INT32',
  string: 'TYPE_STRING',
  boolean: 'TYPE_BOOL',
  array: 'type.googleapis.com/google.protobuf.ListValue',
  object: 'type.googleapis.com/google.protobuf.Struct',
};

/** @throws GoogleError 400 that names the first member which is wrong. */
export function parseRequest<Request>(shape: z.ZodType<Request>, request: unknown): Request {
  const parsed = shape.safeParse(request);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  const value = path.reduce<unknown>(memberOf, request);
  const name = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${snakeCase(String(part))}`))
    .join('');
  if (value === undefined)
    throw invalidArgument(`'${String(path.at(-1) ?? 'value')}' is required but not specified`);
  const enumeration = `type.googleapis.com/google.apps.sheets.v4.${pascalCase(String(path.at(-1) ?? ''))}`;
  const type = issue?.code === 'invalid_type' ? TYPE_NAMES[issue.expected] : enumeration;
  throw new MisshapenValue(name, type ?? enumeration, value);
}

/** A member of a request that has the wrong type; where the request stands is put before its path. */
class MisshapenValue extends GoogleError {
  readonly #path: string;
  readonly #type: string;
  readonly #value: unknown;

  constructor(path: string, type: string, value: unknown) {
    const field = path.replace(/^\./, '');
    const words = `Invalid value at '${field}' (${type}), ${JSON.stringify(value)}`;
    super(400, 'INVALID_ARGUMENT', words, badField(words, field, words).body);
    this.#path = path;
    this.#type = type;
    this.#value = value;
  }

  within(place: string): MisshapenValue {
    return new MisshapenValue(place + this.#path, this.#type, this.#value);
  }
}

function memberOf(value: unknown, part: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined;
}

function pascalCase(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
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
  if (error instanceof MisshapenValue) return error.within(`requests[${position}].${snakeCase(kind)}`);
  if (!(error instanceof GoogleError) || error.status !== 'INVALID_ARGUMENT') return error;
  return invalidArgument(`Invalid requests[${position}].${kind}: ${error.message}`);
}
