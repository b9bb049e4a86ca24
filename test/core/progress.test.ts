import { describe, expect, test } from 'vitest';
import { endAtPace, endOfWriting } from '../../src/core/reading/progress.ts';
import {
  addSample,
  type Sample,
  sampleEveryMs,
  samplesMax,
  sentBetween,
} from '../../src/core/reading/samples.ts';
import { judgeStanding } from '../../src/core/standing.ts';

const start = Date.UTC(2026, 0, 5);
const none = { settle: 0, edit: 0, newest: 0, sweep: 0 };
const sampleOf = (place: number, rowsWritten = 0): Sample => ({
  at: start + place * sampleEveryMs,
  sent: none,
  allowed: 100,
  waiting: 0,
  pending: 0,
  rowsWritten,
});

describe('the end of work', () => {
  test('is told from the pace since it began', () => {
    expect(endAtPace({ done: 250, total: 1_000 }, start, start + 10_000)).toBe(start + 40_000);
    expect(endAtPace({ done: 1_000, total: 1_000 }, start, start + 10_000)).toBe(start + 10_000);
  });

  test('is not told before anything is done, too early, or when there is more than was expected', () => {
    expect(endAtPace({ done: 0, total: 1_000 }, start, start + 10_000)).toBeUndefined();
    expect(endAtPace({ done: 100, total: 1_000 }, start, start + 500)).toBeUndefined();
    expect(endAtPace({ done: 1_001, total: 1_000 }, start, start + 10_000)).toBeUndefined();
  });

  test('of writing rows follows the pace of the last minute, and is unknown when none was written in it', () => {
    const before = Array.from({ length: 20 }, (_, place) => sampleOf(place, 900));
    const slow = Array.from({ length: 6 }, (_, place) => sampleOf(20 + place, 10));
    expect(endOfWriting(120, [...before, ...slow], start)).toBe(start + 120_000);
    const idle = Array.from({ length: 6 }, (_, place) => sampleOf(20 + place));
    expect(endOfWriting(120, [...before, ...idle], start)).toBeUndefined();
  });
});

test('an hour of samples is kept, the newest last', () => {
  const all = Array.from({ length: samplesMax + 5 }, (_, place) => sampleOf(place));
  const kept = all.reduce<readonly Sample[]>(addSample, []);
  expect(kept).toEqual(all.slice(5));
  expect(samplesMax * sampleEveryMs).toBe(3_600_000);
});

test('what was sent between two looks is counted by lane', () => {
  expect(sentBetween({ ...none, edit: 3, sweep: 10 }, { ...none, edit: 5, sweep: 31 })).toEqual({
    ...none,
    edit: 2,
    sweep: 21,
  });
});

test('of all that holds the worst is told', () => {
  const well = { problems: 0, isFilled: true, questions: 0, steps: 0, isPlanned: false };
  expect(judgeStanding(well)).toBe('inStep');
  expect(judgeStanding({ ...well, isPlanned: true })).toBe('planned');
  expect(judgeStanding({ ...well, isPlanned: true, steps: 1 })).toBe('working');
  expect(judgeStanding({ ...well, steps: 1, questions: 1 })).toBe('asking');
  expect(judgeStanding({ ...well, isPlanned: true, questions: 1 })).toBe('planned');
  expect(judgeStanding({ ...well, questions: 1, isFilled: false })).toBe('filling');
  expect(judgeStanding({ ...well, problems: 1, isFilled: false, questions: 1, steps: 1 })).toBe('failing');
});
