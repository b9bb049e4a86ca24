import { type Cell, type ExtendedValue, withNumberFormat, withValue } from '../cell.ts';
import { DATE_TYPES, serialOfDate } from '../display/number-format.ts';
import { type Regional, regionalOf } from '../display/regional.ts';
import { isJsonObject, type Json, type JsonObject } from '../wire/json.ts';

/** What Google Sheets makes of typed text: a value and, for dates, percents and amounts, a format. */
export interface TypedInput {
  value: ExtendedValue;
  numberFormat?: { type: string; pattern: string };
}

/**
 * Puts a value into a cell as if a person had typed it: parsed by the spreadsheet's locale, unless the cell is formatted as text. A day
 * without a year is one of the year of `nowMs`, which is not shown; where nobody says when it is, it stays text.
 */
export function typeIntoCell(
  cell: Cell | undefined,
  input: Json,
  locale = 'en_US',
  nowMs?: number,
): Cell | undefined {
  if (input === '' || input === null) return withValue(cell, undefined);
  const current = numberFormatOf(cell);
  if (current?.['type'] === 'TEXT') {
    return withValue(cell, { stringValue: String(input).replace(/^'/, '') });
  }
  const typed =
    typeof input === 'string' ? parseTyped(input, regionalOf(locale), nowMs) : { value: plainValue(input) };
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

/** Reads text as the locale writes it; what is nothing else stays text. */
function parseTyped(text: string, regional: Regional, nowMs: number | undefined): TypedInput {
  if (text.startsWith("'")) return { value: { stringValue: text.slice(1) } };
  if (/^=./s.test(text)) return { value: { formulaValue: text } };
  const trimmed = text.trim();
  if (/^(true|false)$/i.test(trimmed)) return { value: { boolValue: /^true$/i.test(trimmed) } };
  return (
    parseNumber(trimmed, regional) ??
    parseDateTime(trimmed, regional, nowMs) ?? { value: { stringValue: text } }
  );
}

/** A number without its sign, currency and percent sign, written with commas between thousands and a decimal point. */
const NUMBER = /^(\d{1,3}(?:,\d{3})+|\d*)(\.\d*)?(?:e([-+]?\d+))?$/i;

function parseNumber(text: string, regional: Regional): TypedInput | undefined {
  if (!/\d/.test(text)) return undefined;
  const { rest, isNegative, currency, percent } = stripMarks(text, regional);
  const match = NUMBER.exec(inPlainMarks(rest, regional));
  if (!match) return undefined;
  const [, whole = '', fraction = '', exponent] = match;
  const digits = `${whole.replaceAll(',', '') || '0'}${fraction === '.' ? '' : fraction}`;
  const amount = Number(exponent ? `${digits}e${exponent}` : digits) * (isNegative ? -1 : 1);
  if (!Number.isFinite(amount)) return undefined;
  const decimals = fraction.length > 1 ? '.00' : '';
  const marks = { currency, percent, exponent, isGrouped: whole.includes(','), decimals };
  const numberFormat = formatOfNumber(marks, regional);
  // Dividing keeps 50.1% at 0.501 where multiplying by 0.01 would not.
  const value = { numberValue: percent ? Number((amount / 100).toPrecision(15)) : amount };
  return numberFormat ? { value, numberFormat } : { value };
}

function stripMarks(text: string, { currency: symbol }: Regional) {
  let isNegative = /^\(.+\)$/.test(text);
  let rest = isNegative ? text.slice(1, -1) : text;
  let currency: string | undefined;
  const takeSign = () => {
    const sign = /^[-+]/.exec(rest)?.[0];
    if (sign === undefined) return;
    isNegative = sign === '-';
    rest = rest.slice(1);
  };
  takeSign();
  if (symbol !== '' && (rest.startsWith(symbol) || rest.endsWith(symbol))) {
    currency = symbol;
    rest = rest.startsWith(symbol) ? rest.slice(symbol.length) : rest.slice(0, -symbol.length);
    rest = rest.trim();
    if (!/^[-+]{2}/.test(text)) takeSign();
  }
  const percent = /\s?%$/.exec(rest)?.[0];
  if (percent !== undefined) rest = rest.slice(0, -percent.length);
  return { rest, isNegative, currency, percent };
}

/** `1.234,5` of a German as `1,234.5`; spaces of any width may stand where the locale has one between thousands. */
function inPlainMarks(text: string, { decimal, group }: Regional): string {
  const isSpaced = /^\s$/u.test(group);
  return [...text]
    .map((character) => {
      if (character === decimal) return '.';
      if (character === group || (isSpaced && /\s/u.test(character))) return ',';
      return /[.,\s]/u.test(character) ? '?' : character;
    })
    .join('');
}

interface NumberMarks {
  currency: string | undefined;
  percent: string | undefined;
  exponent: string | undefined;
  isGrouped: boolean;
  decimals: string;
}

function formatOfNumber(
  { currency, percent, exponent, isGrouped, decimals }: NumberMarks,
  regional: Regional,
) {
  if (percent) return { type: 'PERCENT', pattern: `0${decimals}%` };
  if (currency) return { type: 'CURRENCY', pattern: regional.currencyPattern(decimals) };
  if (exponent) return { type: 'SCIENTIFIC', pattern: '0.00E+00' };
  return isGrouped ? { type: 'NUMBER', pattern: `#,##0${decimals}` } : undefined;
}

const TIME = /^(\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?\s*(am|pm)?$/i;

function parseDateTime(text: string, regional: Regional, nowMs: number | undefined): TypedInput | undefined {
  const [first = '', second, ...rest] = text.split(/[ T](?=\d)/);
  const time = parseTime(second ?? first);
  if (second === undefined && time) {
    return { value: { numberValue: time.serial }, numberFormat: { type: 'TIME', pattern: time.pattern } };
  }
  const date = parseDate(first, regional, nowMs);
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

/** A date that begins with its year means the same everywhere; what another one means the locale says. */
function parseDate(
  text: string,
  regional: Regional,
  nowMs: number | undefined,
): { serial: number; pattern: string } | undefined {
  const { dateOrder, dateSeparator, datePattern } = regional;
  const [, one = '', mark = '', two = '', three = ''] =
    /^(\d{1,4})([-/.])(\d{1,2})(?:\2(\d{1,4}))?$/.exec(text) ?? [];
  if (mark === '.' && dateSeparator !== '.') return undefined;
  if (three === '' && /^\d{1,2}$/.test(one) && nowMs !== undefined) {
    const [month, day] = dateOrder === 'dmy' ? [two, one] : [one, two];
    const year = String(new Date(nowMs).getUTCFullYear());
    const typed = datePattern.split(dateSeparator).filter((part) => !part.startsWith('y'));
    return dated([year, month, day], typed.join(mark));
  }
  if (/^\d{4}$/.test(one) && /^\d{1,2}$/.test(three)) {
    return dated([one, two, three], `yyyy${mark}mm${mark}dd`);
  }
  if (!/^\d{1,2}$/.test(one) || !/^\d{4}$/.test(three) || dateOrder === 'ymd') return undefined;
  const pattern = datePattern.replaceAll(dateSeparator, mark);
  return dated(dateOrder === 'dmy' ? [three, two, one] : [three, one, two], pattern);
}

function dated(parts: [year: string, month: string, day: string], pattern: string) {
  const [year, month, day] = parts.map(Number);
  const serial = serialOfDate(year ?? 0, month ?? 0, day ?? 0);
  return serial === undefined ? undefined : { serial, pattern };
}
