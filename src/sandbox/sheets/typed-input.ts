import { type Cell, type ExtendedValue, withNumberFormat, withValue } from './cell.ts';
import type { Json, JsonObject } from './json.ts';
import { isJsonObject } from './json.ts';
import { DATE_TYPES, serialOfDate } from './number-format.ts';

/** What Google Sheets makes of typed text: a value and, for dates, percents and amounts, a format. */
export interface TypedInput {
  value: ExtendedValue;
  numberFormat?: { type: string; pattern: string };
}

/** Puts a value into a cell as if a person had typed it: parsed, unless the cell is formatted as text. */
export function typeIntoCell(cell: Cell | undefined, input: Json): Cell | undefined {
  if (input === '' || input === null) return withValue(cell, undefined);
  const current = numberFormatOf(cell);
  if (current?.['type'] === 'TEXT') {
    return withValue(cell, { stringValue: String(input).replace(/^'/, '') });
  }
  const typed = typeof input === 'string' ? parseTyped(input) : { value: plainValue(input) };
  const written = withValue(cell, typed.value);
  const keepsFormat =
    !typed.numberFormat || isSameFamily(String(current?.['type'] ?? ''), typed.numberFormat.type);
  return keepsFormat || !typed.numberFormat ? written : withNumberFormat(written, typed.numberFormat);
}

/** Stores a JSON value as it is, as the RAW input option does. */
export function plainValue(input: Json): ExtendedValue {
  if (typeof input === 'number') return { numberValue: input };
  if (typeof input === 'boolean') return { boolValue: input };
  return { stringValue: String(input) };
}

export function numberFormatOf(cell: Cell | undefined): JsonObject | undefined {
  const format = cell?.userEnteredFormat?.['numberFormat'];
  return isJsonObject(format) ? format : undefined;
}

/** A typed date keeps the date format a cell has already, a typed amount its number format. */
function isSameFamily(current: string, typed: string): boolean {
  return current !== '' && DATE_TYPES.has(current) === DATE_TYPES.has(typed);
}

/** Reads text in the en_US way; what is nothing else stays text. */
export function parseTyped(text: string): TypedInput {
  if (text.startsWith("'")) return { value: { stringValue: text.slice(1) } };
  if (/^=./s.test(text)) return { value: { formulaValue: text } };
  const trimmed = text.trim();
  if (/^(true|false)$/i.test(trimmed)) return { value: { boolValue: /^true$/i.test(trimmed) } };
  return parseNumber(trimmed) ?? parseDateTime(trimmed) ?? { value: { stringValue: text } };
}

const NUMBER = /^([-+])?(\$)?([-+])?(\d{1,3}(?:,\d{3})+|\d*)(\.\d*)?(?:e([-+]?\d+))?\s?(%)?$/i;

function parseNumber(text: string): TypedInput | undefined {
  const isBracketed = /^\(.+\)$/.test(text);
  const match = NUMBER.exec(isBracketed ? text.slice(1, -1) : text);
  if (!match || !/\d/.test(text)) return undefined;
  const [, sign, currency, innerSign, whole = '', fraction = '', exponent, percent] = match;
  const isNegative = isBracketed || sign === '-' || innerSign === '-';
  const digits = `${whole.replaceAll(',', '') || '0'}${fraction === '.' ? '' : fraction}`;
  const amount = Number(exponent ? `${digits}e${exponent}` : digits) * (isNegative ? -1 : 1);
  if (!Number.isFinite(amount)) return undefined;
  const decimals = fraction.length > 1 ? '.00' : '';
  const numberFormat = formatOfNumber({
    currency,
    percent,
    exponent,
    isGrouped: whole.includes(','),
    decimals,
  });
  // Dividing keeps 50.1% at 0.501 where multiplying by 0.01 would not.
  const value = { numberValue: percent ? Number((amount / 100).toPrecision(15)) : amount };
  return numberFormat ? { value, numberFormat } : { value };
}

interface NumberMarks {
  currency: string | undefined;
  percent: string | undefined;
  exponent: string | undefined;
  isGrouped: boolean;
  decimals: string;
}

function formatOfNumber({ currency, percent, exponent, isGrouped, decimals }: NumberMarks) {
  if (percent) return { type: 'PERCENT', pattern: `0${decimals}%` };
  if (currency) return { type: 'CURRENCY', pattern: `"$"#,##0${decimals}` };
  if (exponent) return { type: 'SCIENTIFIC', pattern: '0.00E+00' };
  return isGrouped ? { type: 'NUMBER', pattern: `#,##0${decimals}` } : undefined;
}

const TIME = /^(\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?\s*(am|pm)?$/i;

function parseDateTime(text: string): TypedInput | undefined {
  const [first = '', second, ...rest] = text.split(/[ T](?=\d)/);
  const time = parseTime(second ?? first);
  if (second === undefined && time) {
    return { value: { numberValue: time.serial }, numberFormat: { type: 'TIME', pattern: time.pattern } };
  }
  const date = parseDate(first);
  if (!date || rest.length > 0) return undefined;
  if (second === undefined) {
    return { value: { numberValue: date.serial }, numberFormat: { type: 'DATE', pattern: date.pattern } };
  }
  if (!time) return undefined;
  const numberFormat = { type: 'DATE_TIME', pattern: `${date.pattern} ${time.pattern}` };
  return { value: { numberValue: date.serial + time.serial }, numberFormat };
}

function parseTime(text: string): { serial: number; pattern: string } | undefined {
  const match = TIME.exec(text);
  if (!match) return undefined;
  const [, hours = '', minutes = '', seconds, fraction = '', half] = match;
  const isAfternoon = half?.toLowerCase() === 'pm';
  const hour = half ? (Number(hours) % 12) + (isAfternoon ? 12 : 0) : Number(hours);
  if (hour > 23 || Number(minutes) > 59 || Number(seconds ?? 0) > 59) return undefined;
  const inSeconds = hour * 3600 + Number(minutes) * 60 + Number((seconds ?? '0') + fraction);
  const pattern = `h:mm${seconds ? ':ss' : ''}${half ? ' am/pm' : ''}`;
  return { serial: inSeconds / 86_400, pattern };
}

const DATE_SHAPES: { shape: RegExp; order: 'ymd' | 'mdy'; pattern: string }[] = [
  { shape: /^(\d{4})-(\d{1,2})-(\d{1,2})$/, order: 'ymd', pattern: 'yyyy-mm-dd' },
  { shape: /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/, order: 'ymd', pattern: 'yyyy/mm/dd' },
  { shape: /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/, order: 'mdy', pattern: 'm/d/yyyy' },
  { shape: /^(\d{1,2})-(\d{1,2})-(\d{4})$/, order: 'mdy', pattern: 'm-d-yyyy' },
];

function parseDate(text: string): { serial: number; pattern: string } | undefined {
  for (const { shape, order, pattern } of DATE_SHAPES) {
    const [, one, two, three] = shape.exec(text)?.map(Number) ?? [];
    if (one === undefined || two === undefined || three === undefined) continue;
    const serial = order === 'ymd' ? serialOfDate(one, two, three) : serialOfDate(three, one, two);
    if (serial !== undefined) return { serial, pattern };
  }
  return undefined;
}
