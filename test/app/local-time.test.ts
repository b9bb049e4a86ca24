import { expect, test } from 'vitest';
import { localClock, localTime, readSince } from '../../src/cli/local-time.ts';

const now = new Date(2026, 10, 25, 9, 14, 30).getTime();
const iso = (epochMs: number) => new Date(epochMs).toISOString();

test.each([
  ['30m', iso(now - 30 * 60_000)],
  ['90min', iso(now - 90 * 60_000)],
  ['1h', iso(now - 3_600_000)],
  ['2 d', iso(now - 2 * 86_400_000)],
  ['2026-11-20', iso(new Date(2026, 10, 20).getTime())],
  ['2026-11-20 08:05', iso(new Date(2026, 10, 20, 8, 5).getTime())],
  ['2026-11-20T08:05:07', iso(new Date(2026, 10, 20, 8, 5, 7).getTime())],
  ['2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z'],
  ['2026-02-30', '2026-02-30'],
  ['2026-02-40', '2026-02-40'],
  ['99999999999999d', '99999999999999d'],
  ['yesterday', 'yesterday'],
])('since %s is asked for as %s', (text, asked) => {
  expect(readSince(text, now)).toBe(asked);
});

test('a time is shown as the clock here shows it, with its day where that is another one', () => {
  expect(localTime(now)).toBe('2026-11-25 09:14');
  expect(localClock(now - 60_000, now)).toBe('09:13');
  expect(localClock(now - 86_400_000, now)).toBe('2026-11-24 09:14');
});
