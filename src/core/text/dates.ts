// Each function by its own path: the whole of date-fns is some 800 modules, which cost seconds and hundreds of megabytes at start.
import { tzOffset } from '@date-fns/tz/tzOffset';
import { UTCDateMini } from '@date-fns/utc/date/mini';
import { addDays } from 'date-fns/addDays';
import { isValid } from 'date-fns/isValid';
import { lightFormat } from 'date-fns/lightFormat';

// Days are reckoned in UTC, which has all of them: the zone of this machine may have skipped some.

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Serial numbers of days count from here, as in Lotus 1-2-3 and its successors. */
const serialOrigin = new UTCDateMini(Date.UTC(1899, 11, 30));
const yearMin = 1;
const yearMax = 9999;

const utc = (value: Date | number | string) => new UTCDateMini(+new Date(value));

/** `YYYY-MM-DD` as days since 1899-12-30; `NaN` for any other text. */
export function dateToSerial(date: string): number {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return Number.NaN;
  const day = new Date(`${date}T00:00Z`);
  // Days that a month does not have are those of the next one.
  if (day.getUTCDate() !== Number(date.slice(-2))) return Number.NaN;
  return (day.getTime() - serialOrigin.getTime()) / dayMs;
}

/** The calendar day of a serial number, or `undefined` outside of the years 1 to 9999. Before 1899-12-30 serial numbers are negative. */
export function serialToDate(serial: number): string | undefined {
  const day = addDays(serialOrigin, Math.floor(serial));
  const year = day.getFullYear();
  return isValid(day) && year >= yearMin && year <= yearMax ? lightFormat(day, 'yyyy-MM-dd') : undefined;
}

/** A serial number for people, as `2026-11-21 10:22`; `undefined` where it is no day. */
export const formatSerial = (serial: number): string | undefined =>
  serialToDate(serial) === undefined
    ? undefined
    : lightFormat(utc(serialOrigin.getTime() + Math.round(serial * dayMs)), 'yyyy-MM-dd HH:mm');

/** What a calendar and a clock show of a serial number. */
export type Moment = ReturnType<typeof momentOfSerial>;

/** The day and time of a serial number, to the second, also of one before 1900. */
export function momentOfSerial(serial: number) {
  const wall = utc(serialOrigin.getTime() + Math.round((serial * dayMs) / 1000) * 1000);
  return {
    year: wall.getFullYear(),
    month: wall.getMonth() + 1,
    day: wall.getDate(),
    hour: wall.getHours(),
    minute: wall.getMinutes(),
  };
}

/** What a clock in the zone shows at an instant, as a date whose UTC parts are the clock's. */
const wallTime = (epochMs: number, timeZone: string): Date =>
  new UTCDateMini(epochMs + offsetAt(epochMs, timeZone) * minuteMs);

/** By how many minutes clocks of the zone are ahead of UTC. Of a day at both ends of which that is the same, it is asked for once. */
function offsetAt(epochMs: number, timeZone: string): number {
  const startOf = (day: number) => tzOffset(timeZone, new Date(day * dayMs));
  const day = Math.floor(epochMs / dayMs);
  const known = offsets.get(timeZone) ?? new Map<number, number | undefined>();
  offsets.set(timeZone, known);
  if (!known.has(day)) {
    if (known.size >= knownDaysMax) known.clear();
    const offset = startOf(day);
    known.set(day, offset === startOf(day + 1) ? offset : undefined);
  }
  return known.get(day) ?? tzOffset(timeZone, new Date(epochMs));
}

/** The offsets of whole days by their zone; `undefined` of a day in which it changes. To ask the zone data takes microseconds each time. */
const offsets = new Map<string, Map<number, number | undefined>>();
const knownDaysMax = 10_000;

/** An instant as the serial number of its wall time in the zone, to the second. */
export function instantToSerial(epochMs: number, timeZone: string): number {
  const wall = wallTime(epochMs, timeZone).setMilliseconds(0);
  return (wall - serialOrigin.getTime()) / dayMs;
}

/** An instant for people: `2026-11-21 10:22` in the zone. Rows that were written together say the same. */
export function formatInstant(epochMs: number, timeZone: string): string {
  const minute = Math.floor(epochMs / minuteMs);
  if (lastFormatted?.minute !== minute || lastFormatted.timeZone !== timeZone) {
    const text = lightFormat(wallTime(epochMs, timeZone), 'yyyy-MM-dd HH:mm');
    lastFormatted = { minute, timeZone, text };
  }
  return lastFormatted.text;
}

let lastFormatted: { readonly minute: number; readonly timeZone: string; readonly text: string } | undefined;

/** True if the name is one of a time zone. */
export const isTimeZone = (name: string): boolean => Number.isFinite(tzOffset(name, new Date(0)));
