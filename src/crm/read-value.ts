import type { FieldKind } from '../core/fields/field-kind.ts';
import { dateToSerial } from '../core/text/dates.ts';
import type { Value } from '../core/value.ts';

/**
 * What an answer has for a field: its value, or what is wrong with it, in words that follow the field's name and never quote it. Numbers
 * are understood as texts too, as the CRM itself takes them.
 */
export type ReadValue = { readonly value: Value } | { readonly fault: string };

type Reader = (json: string | number | boolean) => ReadValue;

/** A reader of what is understood by `read`; the fault of all else is in `words`. */
const reader =
  (read: (json: unknown) => Value | undefined, words: string): Reader =>
  (json) => {
    const value = read(json);
    return value === undefined ? { fault: words } : { value };
  };

const numeric = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** A number, also as text; `undefined` for anything else. */
function toNumber(json: unknown): number | undefined {
  const number = typeof json === 'string' && numeric.test(json.trim()) ? Number(json) : json;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** A whole number, also as text; `undefined` for anything else. */
export function toWhole(json: unknown): number | undefined {
  const number = toNumber(json);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** An id: a whole number, or a text of its digits as they are written; `undefined` for anything else. */
export function toId(json: unknown): number | undefined {
  const id = typeof json === 'string' && /^(?:0|[1-9]\d*)$/.test(json) ? Number(json) : json;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

/** A text that may be a number as well, as ids and phone numbers are; `undefined` for anything else. */
export function toText(json: unknown): string | undefined {
  if (typeof json === 'string') return json;
  return Number.isSafeInteger(json) ? String(json) : undefined;
}

/** Dates are calendar days; should one come with a time, the written day counts. */
function toDay(json: unknown): string | undefined {
  const [day] = /^\d{4}-\d{2}-\d{2}(?![^T\s])/.exec(String(json)) ?? [];
  return day === undefined || Number.isNaN(dateToSerial(day)) ? undefined : day;
}

function toInstant(told: unknown): string | undefined {
  if (typeof told !== 'string') return undefined;
  // A zone may be given by its hours alone, which the built-in reader takes for something else.
  const text = told.replace(/:[\d.,]+[+-]\d{2}$/, '$&:00');
  const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(text);
  // Without a zone the text would be read in the zone of this machine.
  const instant = new Date(hasZone ? text : `${text}Z`);
  return Number.isNaN(instant.getTime()) ? undefined : instant.toISOString();
}

const truths = new Map<unknown, boolean>([
  ...[true, 1, '1', 'true', 'yes'].map((json) => [json, true] as const),
  ...[false, 0, '0', 'false', 'no'].map((json) => [json, false] as const),
]);

/** Yes or no in one of the forms that the CRM takes itself; `undefined` for anything else. */
export const toTruth = (json: unknown): boolean | undefined =>
  truths.get(typeof json === 'string' ? json.toLowerCase() : json);

const undocumented: ReadValue = { fault: 'is not in the form that is documented' };

const readWhole = reader(toWhole, 'is not a whole number');
const readText = reader(toText, 'is not a text');
/** Only custom fields are of such a kind. */
const readNothing: Reader = () => undocumented;

/** All kinds, so that a new one does not compile without its reader. */
const readers: Readonly<Record<FieldKind, Reader>> = {
  text: readText,
  number: reader(toNumber, 'is not a number'),
  integer: readWhole,
  date: reader(toDay, 'is not a date'),
  instant: reader(toInstant, 'is not a time'),
  lead: readWhole,
  task: readWhole,
  stage: readWhole,
  'lead-status': readText,
  'task-status': readWhole,
  'task-priority': readWhole,
  boolean: readNothing,
  select: readNothing,
  'multi-select': readNothing,
  user: readNothing,
  users: readNothing,
};

/** Reads what the CRM has for one of its own fields. Nothing, and an empty text, are `null`. */
export function readStandard(kind: FieldKind, json: unknown): ReadValue {
  if (json === null || json === '') return { value: null };
  const isPlain = typeof json === 'string' || typeof json === 'number' || typeof json === 'boolean';
  return isPlain ? readers[kind](json) : undocumented;
}

/**
 * Reads what the CRM has for a custom field. A field that was made one of another kind may have values of the kind before, which stay as they are:
 * only what is no value at all cannot be understood. An empty list is `null` as well.
 */
export function readCustom(kind: FieldKind | undefined, json: unknown): ReadValue {
  if (json === null || json === '') return { value: null };
  if (kind === 'number') return readLoosely(toNumber(json) ?? json);
  if (kind === 'boolean') return readLoosely(toTruth(json) ?? json);
  return readLoosely(json);
}

function readLoosely(json: unknown): ReadValue {
  if (typeof json === 'string' || typeof json === 'number' || typeof json === 'boolean')
    return { value: json };
  const isList = Array.isArray(json) && json.every((member) => member !== null && typeof member !== 'object');
  if (!isList) return { fault: 'is nothing that a custom field can hold' };
  return { value: json.length === 0 ? null : json.map(String) };
}
