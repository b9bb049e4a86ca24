import { tzOffset } from '@date-fns/tz';
import { UTCDate } from '@date-fns/utc';
import { addDays, format, isMatch, isValid, parse } from 'date-fns';

// Days are reckoned in UTC, which has all of them: the zone of this machine may have skipped some.

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Spreadsheets count days from here: https://developers.google.com/workspace/sheets/api/guides/formats */
const serialOrigin = new UTCDate(1899, 11, 30);
const yearMin = 1900;
const yearMax = 9999;
const dayForm = 'yyyy-MM-dd';

const isUnderstood = (day: Date): boolean =>
  isValid(day) && day.getFullYear() >= yearMin && day.getFullYear() <= yearMax;

/** `YYYY-MM-DD` as days since 1899-12-30; `NaN` for any other text. */
export function dateToSerial(date: string): number {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return Number.NaN;
  return (parse(date, dayForm, serialOrigin).getTime() - serialOrigin.getTime()) / dayMs;
}

/** The calendar day of a serial number, or `undefined` outside of the years 1900 to 9999. */
export function serialToDate(serial: number): string | undefined {
  const day = addDays(serialOrigin, Math.floor(serial));
  return isUnderstood(day) ? format(day, dayForm) : undefined;
}

const typedForms = ['yyyy-M-d', 'd.M.yyyy'];

/**
 * A date that a person typed as text. Only forms that mean one day everywhere are understood: `3/4/2026` is
 * March in one country and April in the next.
 */
export function parseTypedDate(text: string): string | undefined {
  const typed = text.trim();
  const form = typedForms.find((candidate) => isMatch(typed, candidate));
  const day = form && parse(typed, form, serialOrigin);
  return day && isUnderstood(day) ? format(day, dayForm) : undefined;
}

/** What a clock in the zone shows at an instant, as a date whose UTC parts are the clock's. */
const wallTime = (epochMs: number, timeZone: string): UTCDate =>
  new UTCDate(epochMs + tzOffset(timeZone, new Date(epochMs)) * minuteMs);

/** An instant as the serial number of its wall time in the zone, to the second. */
export function instantToSerial(epochMs: number, timeZone: string): number {
  const wall = wallTime(epochMs, timeZone).setMilliseconds(0);
  return (wall - serialOrigin.getTime()) / dayMs;
}

/** An instant for people: `2026-11-21 10:22` in the zone. */
export const formatInstant = (epochMs: number, timeZone: string): string =>
  format(wallTime(epochMs, timeZone), 'yyyy-MM-dd HH:mm');
