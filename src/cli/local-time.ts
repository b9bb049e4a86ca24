import { formatInstant } from '../core/text/dates.ts';

/** The time zone of this machine, in which a person at its terminal reads times. */
export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A time as a person at the terminal reads it: `2026-11-21 10:22`. */
export const localTime = (epochMs: number): string => formatInstant(epochMs, localZone());

/** The same without the day where that is the day of `now`. */
export function localClock(epochMs: number, now: number): string {
  const [day, clock] = localTime(epochMs).split(' ');
  return localTime(now).startsWith(`${day} `) ? (clock ?? '') : `${day} ${clock}`;
}

const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * What a person means by `1h`, `2d`, a day, or a day with a time, which are of this machine's zone where they name none. Any other text is
 * returned as it is: the daemon says what it takes.
 */
export function readSince(text: string, now: number): string {
  const [, count, unit = ''] = /^(\d+)\s*(s|min|m|h|d|w)$/i.exec(text.trim()) ?? [];
  if (count !== undefined) return isoOf(now - Number(count) * (unitsMs[unit.toLowerCase()] ?? 0)) ?? text;
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?$/.exec(text.trim()) ?? [];
  // Without a zone a time is local to JavaScript, but a day alone is not.
  const at = Date.parse(`${day}T${time ?? '00:00'}`);
  // The 30th of February is the 2nd of March to JavaScript.
  return Number.isNaN(at) || !localTime(at).startsWith(`${day} `) ? text : (isoOf(at) ?? text);
}

function isoOf(epochMs: number): string | undefined {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
