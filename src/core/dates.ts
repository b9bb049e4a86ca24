const dayMs = 86_400_000;
/** Spreadsheets count days from here: https://developers.google.com/workspace/sheets/api/guides/formats */
const serialOriginMs = Date.UTC(1899, 11, 30);
const yearMin = 1900;
const yearMax = 9999;

// Days are reckoned in UTC, which has all of them: the zone of this machine may have skipped some.

/** `YYYY-MM-DD` as days since 1899-12-30; `NaN` for any other text. */
export function dateToSerial(date: string): number {
  return (Date.parse(`${date}T00:00:00Z`) - serialOriginMs) / dayMs;
}

/** The calendar day of a serial number, or `undefined` outside of the years 1900 to 9999. */
export function serialToDate(serial: number): string | undefined {
  const day = new Date(serialOriginMs + Math.floor(serial) * dayMs);
  const year = day.getUTCFullYear();
  return year >= yearMin && year <= yearMax ? formatDay(day) : undefined;
}

const typedForms = [
  /^(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})$/,
  /^(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})$/,
];

/**
 * A date that a person typed as text. Only forms that mean one day everywhere are understood: `3/4/2026` is
 * March in one country and April in the next.
 */
export function parseTypedDate(text: string): string | undefined {
  const match = typedForms.map((form) => form.exec(text.trim())).find((found) => found !== null);
  const [year, month, day] = ['year', 'month', 'day'].map((part) => Number(match?.groups?.[part]));
  if (year === undefined || month === undefined || day === undefined || !(year >= yearMin)) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day));
  // The 30th of February would be the 2nd of March.
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? formatDay(date) : undefined;
}

const formatDay = (day: Date): string => day.toISOString().slice(0, 'YYYY-MM-DD'.length);

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
