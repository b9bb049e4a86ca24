import { expect, test } from 'vitest';
import { describeWork } from '../../src/cli/fill/progress-line.ts';
import { readingOf } from '../../src/cli/guide/first-plan.ts';

const startedAt = Date.UTC(2026, 10, 21, 10, 0);
const now = startedAt + 30_000;

test('a list that the CRM says the length of is read with a bar, and with the end that its pace comes to', () => {
  const work = readingOf('lead', { done: 3_000, total: 9_000, startedAt }, now);
  expect(work.endsAt).toBe(now + 60_000);
  expect(describeWork(work, now)).toMatch(
    /^Reading leads \[#{8}\.{16}\] 3000 of 9000 records, 100 a second, until /,
  );
});

test('a list that nobody knows the length of has neither', () => {
  const work = readingOf('task', { done: 3_000, total: undefined, startedAt }, now);
  expect(describeWork(work, now)).toBe('Reading tasks: 3000 records, 100 a second');
});
