import { addDays, differenceInCalendarDays, isValid, parse } from 'date-fns';

const dayMs = 86_400_000;
/** Spreadsheets count days from here: https://developers.google.com/workspace/sheets/api/guides/formats */
const serialOrigin = new Date(1899, 11, 30);
const serialOriginMs = Date.UTC(1899, 11, 30);
const yearMax = 9999;

/** `YYYY-MM-DD` as days since 1899-12-30. */
export function dateToSerial(date: string): number {
  return differenceInCalendarDays(parse(date, 'yyyy-MM-dd', serialOrigin), serialOrigin);
}

/** The calendar day of a serial number, or `undefined` outside of the years 1900 to 9999. */
export function serialToDate(serial: number): string | undefined {
  const day = addDays(serialOrigin, Math.floor(serial));
  return isValid(day) && day.getFullYear() >= 1900 && day.getFullYear() <= yearMax
    ? formatDay(day)
    : undefined;
}

const typedForms = ['yyyy-MM-dd', 'dd.MM.yyyy'] as const;

/**
 * A date that a person typed as text. Only forms that mean one day everywhere are understood: `3/4/2026` is
 * March in one country and April in the next.
 */
export function parseTypedDate(text: string): string | undefined {
  for (const form of typedForms) {
    const day = parse(text.trim(), form, serialOrigin);
    if (isValid(day) && day.getFullYear() >= 1900) return formatDay(day);
  }
  return undefined;
}

function formatDay(day: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function wallTime(epochMs: number, timeZone: string): WallTime {
  let formatter = formatters.get(timeZone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formatters.set(timeZone, formatter);
  }
  const parts = new Map(formatter.formatToParts(epochMs).map((part) => [part.type, Number(part.value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return {
    year: part('year'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
    second: part('second'),
  };
}

/** An instant as the serial number of its wall time in the zone, to the second. */
export function instantToSerial(epochMs: number, timeZone: string): number {
  const wall = wallTime(epochMs, timeZone);
  const wallMs = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
  return (wallMs - serialOriginMs) / dayMs;
}

/** An instant for people: `2026-11-21 10:22` in the zone. */
export function formatInstant(epochMs: number, timeZone: string): string {
  const wall = wallTime(epochMs, timeZone);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${wall.year}-${two(wall.month)}-${two(wall.day)} ${two(wall.hour)}:${two(wall.minute)}`;
}
