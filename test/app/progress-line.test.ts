import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { expect, test } from 'vitest';
import { describeWork, ProgressLine } from '../../src/cli/fill/progress-line.ts';

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

test('without a terminal each piece of work has a line for each of its own tenths', () => {
  const stream = new PassThrough();
  const line = new ProgressLine(stream as unknown as WriteStream);
  for (const name of ['Reading leads', 'Reading tasks'])
    for (const done of [50, 55, 100]) line.show({ name, done, total: 100, startedAt });
  const lines = String(stream.read()).trim().split('\n');
  expect(lines.map((text) => text.replace(/\[.*\] (\d+) of .*/, '$1'))).toEqual([
    'Reading leads 50',
    'Reading leads 100',
    'Reading tasks 50',
    'Reading tasks 100',
  ]);
});
