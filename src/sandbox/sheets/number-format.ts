import type { Regional } from './regional.ts';

const DAY_MS = 86_400_000;
/** Serial dates count days from 1899-12-30, without a zone. */
const EPOCH_MS = Date.UTC(1899, 11, 30);

/** Days since 1899-12-30 of a calendar date; undefined when there is no such day. */
export function serialOfDate(year: number, month: number, day: number): number | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? (date.getTime() - EPOCH_MS) / DAY_MS : undefined;
}

/** The format a cell without a pattern of its own gets from its type. */
export function defaultPattern(type: string, regional: Regional): string {
  const patterns: Record<string, string> = {
    DATE: regional.datePattern,
    DATE_TIME: `${regional.datePattern} H:mm:ss`,
    TIME: regional.timePattern,
    PERCENT: '0.00%',
    CURRENCY: regional.currencyPattern('.00'),
    NUMBER: '#,##0.00',
    SCIENTIFIC: '0.00E+00',
  };
  return patterns[type] ?? '';
}

export const DATE_TYPES: ReadonlySet<string> = new Set(['DATE', 'DATE_TIME', 'TIME']);

/** A number without a format: whole numbers in full, others with ten significant digits. */
export function formatGeneral(value: number, { decimal }: Regional): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  return String(Number(value.toPrecision(10)))
    .replace(/e([+-])(\d)$/, 'E$10$2')
    .replace('e', 'E')
    .replace('.', decimal);
}

/** A serial date by a pattern of y, m, d, h, s, am/pm; `m` beside hours or seconds means minutes. */
export function formatDate(serial: number, pattern: string, { language }: Regional): string {
  // Half a second more than a thousandth short of a whole one must not show the second before.
  const date = new Date(EPOCH_MS + Math.round((serial * DAY_MS) / 1000) * 1000);
  const tokens = pattern.match(/"[^"]*"|\\.|am\/pm|a\/p|([ymdhs])\1*|./gi) ?? [];
  const isTwelveHour = tokens.some((token) => /^a/i.test(token));
  return tokens
    .map((token, index) => {
      const isName = token.length > 2 && /^[md]/i.test(token) && !isMinutes(tokens, index);
      return isName
        ? nameOf(date, token, language)
        : dateToken(date, token, isMinutes(tokens, index), isTwelveHour);
    })
    .join('');
}

function isMinutes(tokens: string[], index: number): boolean {
  const isLetter = (token: string) => /^[ymdhs]/i.test(token);
  const before = tokens.slice(0, index).findLast(isLetter);
  const after = tokens.slice(index + 1).find(isLetter);
  return /^h/i.test(before ?? '') || /^s/i.test(after ?? '');
}

function dateToken(date: Date, token: string, asMinutes: boolean, isTwelveHour: boolean): string {
  const padded = (value: number) => String(value).padStart(Math.min(token.length, 2), '0');
  const hours = date.getUTCHours();
  switch (token[0]?.toLowerCase()) {
    case 'y':
      return token.length > 2
        ? String(date.getUTCFullYear())
        : String(date.getUTCFullYear() % 100).padStart(2, '0');
    case 'm':
      if (asMinutes) return padded(date.getUTCMinutes());
      return padded(date.getUTCMonth() + 1);
    case 'd':
      return padded(date.getUTCDate());
    case 'h':
      return padded(isTwelveHour ? hours % 12 || 12 : hours);
    case 's':
      return padded(date.getUTCSeconds());
    case 'a':
      return /^a\/p$|^am\/pm$/i.test(token) ? (hours < 12 ? 'AM' : 'PM') : token;
    case '"':
      return token.slice(1, -1);
    case '\\':
      return token.slice(1);
    default:
      return token;
  }
}

/** The name of the month or the weekday: `mmm` and `ddd` short, more letters in full. */
function nameOf(date: Date, token: string, language: string): string {
  const style = token.length === 3 ? 'short' : 'long';
  const part = /^m/i.test(token) ? ({ month: style } as const) : ({ weekday: style } as const);
  return new Intl.DateTimeFormat(language, { ...part, timeZone: 'UTC' }).format(date);
}

/** A number by a pattern such as `#,##0.00`, `0%`, `"$"#,##0` or `0.00E+00`; sections are split by `;`. */
export function formatNumber(value: number, pattern: string, regional: Regional): string {
  const [positive = '', negative] = pattern.split(';');
  if (value < 0 && negative) return fillPattern(-value, negative, regional);
  return (value < 0 ? '-' : '') + fillPattern(Math.abs(value), positive, regional);
}

function fillPattern(value: number, pattern: string, regional: Regional): string {
  const literal = (text: string) => text.replace(/"([^"]*)"|\\(.)|[_*]./g, '$1$2');
  const digitRun = /[#0?][#0?,]*(?:\.([#0?]+))?(E\+0+)?/.exec(
    pattern.replace(/"[^"]*"/g, (text) => ' '.repeat(text.length)),
  );
  if (!digitRun) return literal(pattern);
  const digits = numberDigits(pattern.includes('%') ? value * 100 : value, digitRun, regional);
  const before = literal(pattern.slice(0, digitRun.index));
  return before + digits + literal(pattern.slice(digitRun.index + digitRun[0].length));
}

function numberDigits(
  value: number,
  [digitRun, decimals = '', exponent]: RegExpExecArray,
  { decimal, group }: Regional,
): string {
  if (exponent) {
    const [mantissa = '', power = '0'] = value.toExponential(decimals.length).split('e');
    return `${mantissa.replace('.', decimal)}E${power.startsWith('-') ? '-' : '+'}${power.replace(/[+-]/, '').padStart(2, '0')}`;
  }
  const leastDecimals = decimals.replace(/[^0]/g, '').length;
  const [whole = '0', fraction = ''] = Number(value.toPrecision(15)).toFixed(decimals.length).split('.');
  const shown = fraction.replace(/0+$/, '').padEnd(leastDecimals, '0');
  const leastWhole = digitRun.split('.')[0]?.replace(/[^0]/g, '').length ?? 1;
  const padded = whole === '0' && leastWhole === 0 ? '' : whole.padStart(leastWhole, '0');
  const grouped = digitRun.includes(',') ? padded.replace(/\B(?=(\d{3})+$)/g, group) : padded;
  return grouped + (shown && decimal + shown);
}
