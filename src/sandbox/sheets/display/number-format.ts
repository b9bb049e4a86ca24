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
  const [section = ''] = pattern.split(';');
  const tokens = section.match(/"[^"]*"|\\.|\[[^\]]*\]|am\/pm|a\/p|([ymdhs])\1*|./gi) ?? [];
  const isTwelveHour = tokens.some((token) => /^a/i.test(token));
  return tokens
    .map((token, index) => {
      if (token.startsWith('[')) return elapsed(date, token);
      const isName = token.length > 2 && /^[md]/i.test(token) && !isMinutes(tokens, index);
      return isName
        ? nameOf(date, token, language)
        : dateToken(date, token, isMinutes(tokens, index), isTwelveHour);
    })
    .join('');
}

function isMinutes(tokens: string[], index: number): boolean {
  const isLetter = (token: string) => /^\[?[ymdhs]/i.test(token);
  const before = tokens.slice(0, index).findLast(isLetter);
  const after = tokens.slice(index + 1).find(isLetter);
  return /^\[?h/i.test(before ?? '') || /^s/i.test(after ?? '');
}

/** `[h]`, `[m]` and `[s]` count beyond a day, an hour or a minute; other brackets show nothing. */
function elapsed(date: Date, token: string): string {
  const [, unit = ''] = /^\[([hms])\1*\]$/i.exec(token) ?? [];
  const length: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000 };
  const unitMs = length[unit.toLowerCase()];
  if (unitMs === undefined) return '';
  return String(Math.floor((date.getTime() - EPOCH_MS) / unitMs)).padStart(token.length - 2, '0');
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
