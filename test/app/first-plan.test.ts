import { expect, test } from 'vitest';
import { describeWork } from '../../src/cli/fill/progress-line.ts';
import { followReading } from '../../src/cli/guide/first-plan.ts';

const startedAt = Date.UTC(2026, 10, 21, 10, 0);
const now = startedAt + 30_000;

test('a list that the CRM says the length of is read with a bar, and with the end that its pace comes to', () => {
  const work = followReading(startedAt)('lead', { done: 3_000, total: 9_000 }, now);
  expect(work.endsAt).toBe(now + 60_000);
  expect(describeWork(work, now)).toMatch(
    /^Reading leads \[#{8}\.{16}\] 3000 of 9000 records, 100 a second, until /,
  );
});

test('a list that nobody knows the length of has neither', () => {
  const work = followReading(startedAt)('task', { done: 3_000, total: undefined }, now);
  expect(describeWork(work, now)).toBe('Reading tasks: 3000 records, 100 a second');
});

test('the pace of a list counts from the end of the list before it', () => {
  const follow = followReading(startedAt);
  follow('lead', { done: 100, total: 200 }, now - 20_000);
  follow('lead', { done: 200, total: 200 }, now - 10_000);
  expect(follow('task', { done: 100, total: 300 }, now)).toMatchObject({
    startedAt: now - 10_000,
    endsAt: now + 20_000,
  });
  expect(follow('task', { done: 200, total: 300 }, now + 10_000).endsAt).toBe(now + 20_000);
});
