import { describe, expect, test } from 'vitest';
import * as fillProgress from '../../src/cli/fill/fill-progress.ts';
import { type FillStatus, LinkFill, pauseAfterMs } from '../../src/cli/fill/fill-progress.ts';

/** A status of which only what a fill is about is given. */
const fillOf = (told: object) => fillProgress.fillOf(told as FillStatus);

const status = (state: string, ...progress: object[]) => ({
  standing: { state, since: 0 },
  progress,
  tabs: [] as object[],
  brakes: [] as object[],
  holds: [] as object[],
});

test('while any list is read, all records that are known count, with a total once each list has one', () => {
  const filling = { work: 'filling', title: 'Leads', done: 5, total: 200, endsAt: 1_000 };
  const tasks = { work: 'reading', title: 'Tasks', done: 30 };
  const opportunities = { work: 'reading', title: 'Opportunities', done: 100, total: 250, endsAt: 3_000 };
  expect(fillOf(status('filling', tasks, opportunities, filling))).toEqual({ phase: 'reading', done: 330 });
  const listed = { ...tasks, total: 60, endsAt: 2_000 };
  expect(
    new LinkFill().read(status('filling', listed, opportunities, filling) as object as FillStatus),
  ).toEqual({
    phase: 'reading',
    done: 330,
    total: 510,
    endsAt: 3_000,
  });
});

test('once all is read, the rows of all tabs count together, with the end that the daemon tells', () => {
  const leads = { work: 'filling', title: 'Leads', done: 5, total: 200, endsAt: 1_000 };
  const tasks = { work: 'filling', title: 'Tasks', done: 10, total: 100, endsAt: 1_000 };
  expect(fillOf(status('filling', leads, tasks))).toEqual({
    phase: 'filling',
    done: 15,
    total: 300,
    endsAt: 1_000,
  });
});

describe('followed, a fill goes on counting', () => {
  const followed = () => {
    const fill = new LinkFill();
    const read = (
      state: string,
      leads: number,
      tasks: number,
      filled: readonly string[],
      brakes: object[] = [],
    ) => {
      const tabs = [
        { title: 'Leads', recordsInTable: leads, recordsWanted: 200 },
        { title: 'Tasks', recordsInTable: tasks, recordsWanted: 100 },
        { title: 'Opportunities', recordsInTable: 7, recordsWanted: 7 },
      ];
      const progress = tabs
        .filter(({ title }) => filled.includes(title))
        .map(({ title, recordsInTable: done, recordsWanted: total }) => ({
          work: 'filling',
          title,
          done,
          total,
        }));
      return fill.read({ ...status(state, ...progress), tabs, brakes } as object as FillStatus);
    };
    expect(read('filling', 5, 10, ['Leads', 'Tasks'])).toMatchObject({ done: 15, total: 300 });
    return read;
  };

  test('a tab that is full', () => {
    const read = followed();
    expect(read('filling', 50, 100, ['Leads'])).toMatchObject({ done: 150, total: 300 });
    expect(read('inStep', 200, 100, [])).toBeUndefined();
  });

  test('of a tab that a brake stops what stands there', () => {
    const read = followed();
    const brakes = [{ scope: 'brake:lead:changed' }];
    expect(read('filling', 5, 50, ['Tasks'], brakes)).toMatchObject({ done: 55, total: 300 });
    expect(read('asking', 5, 100, [], brakes)).toMatchObject({ isStopped: true });
  });
});

test.each(['inStep', 'asking', 'working'])('a daemon that is %s has ended its fill', (state) => {
  expect(fillOf(status(state, { work: 'resync', title: 'all records', done: 1, total: 2 }))).toBeUndefined();
});

test('a fill of which trouble hides the standing goes on', () => {
  const filling = { work: 'filling', title: 'Leads', done: 5, total: 200 };
  expect(fillOf(status('failing', filling))).toMatchObject({ phase: 'filling', done: 5, total: 200 });
});

test('a fill that a brake stops is not told to be done', () => {
  const stopped = { ...status('asking'), brakes: [{ scope: 'brake:lead:first' }] };
  expect(fillOf(stopped)).toMatchObject({ isStopped: true });
});

test('a fill whose tab is left alone until somebody mends it is not told to be done', () => {
  const holds = [{ entity: 'lead', reason: 'There is no tab “Leads”.' }];
  expect(fillOf({ ...status('asking'), holds })).toMatchObject({ isStopped: true });
  const row = [{ entity: 'lead', id: '7', position: 3, reason: 'It is paused.' }];
  expect(fillOf({ ...status('asking'), holds: row })).toBeUndefined();
});

test('a fill goes on by itself after something of which nobody is asked was found out', () => {
  const waiting = { ...status('asking'), brakes: [{ scope: 'brake:lead:reading' }] };
  expect(fillOf(waiting)).toEqual({ phase: 'filling', done: 0, total: 0 });
});

test.each([
  ['soon where it answers at once', 3, 2_000],
  ['the later the longer it took to answer', 300, 6_000],
  ['in time for the next line of the log, however long it took', 30_000, 10_000],
])('a daemon is asked again %s', (_when, answerMs, pauseMs) => {
  expect(pauseAfterMs(answerMs)).toBe(pauseMs);
});
