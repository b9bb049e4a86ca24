import type { IncomingHttpHeaders } from 'node:http';

const secondMs = 1000;
const pauseMinMs = secondMs;
const pauseMaxMs = 900 * secondMs;
/** Numbers from here on are moments, not spans: as seconds this is the year 2001. */
export const epochSecondsMin = 1e9;
/** And from here on they count milliseconds: as seconds this is the year 33658. */
export const epochMillisecondsMin = 1e12;

/**
 * How long the answer to a refused request (429) asks to wait, between 1 s and 15 min, or `undefined` where
 * it does not say. The CRM's specification does not show this answer, so every usual form is read:
 * `Retry-After` in seconds or as a date (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after), else
 * `X-RateLimit-Reset` as seconds from now or as a moment in epoch seconds or milliseconds. Moments are taken
 * against the answer's own `Date`, so that it does not matter how far the clocks are apart, else against
 * `now` (epoch ms). Fractions of a millisecond are rounded up: the mirror keeps times as whole numbers.
 */
export function readRefusalPause(headers: IncomingHttpHeaders, now: number): number | undefined {
  const answeredAt = readDate(headers.date) ?? now;
  const pauseMs =
    readPause(headers['retry-after'], answeredAt) ?? readPause(headers['x-ratelimit-reset'], answeredAt);
  return pauseMs === undefined ? undefined : Math.ceil(Math.min(pauseMaxMs, Math.max(pauseMinMs, pauseMs)));
}

function readPause(value: string | string[] | undefined, answeredAt: number): number | undefined {
  const text = [value].flat()[0]?.trim();
  if (!text) return undefined;
  const number = Number(text);
  if (Number.isNaN(number)) {
    const until = readDate(text);
    return until === undefined ? undefined : until - answeredAt;
  }
  if (number >= epochMillisecondsMin) return number - answeredAt;
  if (number >= epochSecondsMin) return number * secondMs - answeredAt;
  return number * secondMs;
}

function readDate(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}
