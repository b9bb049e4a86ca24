import { expect, test } from 'vitest';
import { describeWork } from '../../src/cli/fill/progress-line.ts';

const startedAt = Date.UTC(2026, 10, 21, 10, 0);

test('the line of work shows its share, its rate and its end', () => {
  const work = { done: 600, total: 1_200, startedAt, endsAt: startedAt + 20_000 };
  expect(describeWork(work, startedAt + 10_000)).toMatch(
    /^\[#{12}\.{12}\] 600 of 1200 records, 60 a second, until \d\d:\d\d:20$/,
  );
});

test('the line of work counts what was done since the work began for its rate, and says what is done', () => {
  const work = { name: 'Filling the sheet', done: 160, doneBefore: 100, total: 200, startedAt };
  expect(describeWork(work, startedAt + 20_000)).toBe(
    'Filling the sheet [###################.....] 160 of 200 records, 3.0 a second',
  );
});

test('the line of work has no bar and no end where nobody knows how much there is', () => {
  expect(describeWork({ done: 30, startedAt }, startedAt + 1_000)).toBe('30 records, 30 a second');
});
