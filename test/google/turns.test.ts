import { expect, test } from 'vitest';
import type { Grid } from '../../src/google/grid.ts';
import { type Turn, Turns } from '../../src/google/poll/turns.ts';
import { createManualClock } from '../support/manual-clock.ts';

const fullReadMs = 300_000;
const everyMs = 5_000;

/** A tab of so many rows, in a grid that ends with them. */
const tab = (sheetId: number, rows: number, rowCount = rows): Grid => ({
  sheetId,
  title: `Tab ${sheetId}`,
  rowCount,
  columnCount: 1,
  rows: Array.from({ length: rows }, () => []),
  merges: [],
  tags: [],
  typed: [],
  tables: [],
  hiddenRows: new Set(),
});

/** The turns that come in some time, looked for every few seconds. */
async function turnsIn(ms: number, grids: readonly Grid[], turns = new Turns(clock, fullReadMs)) {
  turns.start();
  const taken: Turn[] = [];
  for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += everyMs) {
    await clock.advance(everyMs);
    const turn = turns.due(grids, new Map(), false);
    if (!turn) continue;
    turns.end(turn);
    taken.push(turn);
  }
  return taken;
}

const clock = createManualClock();
const heightOf = ({ spans }: Turn) =>
  [...spans.values()].flat().reduce((sum, { end, from }) => sum + end - from, 0);
const listOf = ({ spans }: Turn) =>
  [...spans].flatMap(([sheetId, own]) => own.map(({ end, from }) => [sheetId, from, end]));

test('each row has its turn once in that time, whatever tab it is in', async () => {
  const grids = [tab(1, 11_000), tab(2, 999), tab(3, 1)];
  const counts = new Map(grids.map(({ sheetId, rows }) => [sheetId, rows.map(() => 0)]));
  for (const turn of await turnsIn(fullReadMs, grids))
    for (const [sheetId, from, end] of listOf(turn) as [number, number, number][])
      for (let row = from; row < end; row += 1) {
        const own = counts.get(sheetId);
        if (own) own[row] = (own[row] ?? 0) + 1;
      }
  expect(new Set([...counts.values()].flat())).toEqual(new Set([1]));
});

test('turns are no rarer because each takes a while, nor because looks come a little early', async () => {
  const turns = new Turns(clock, fullReadMs);
  turns.start();
  const taken: number[] = [];
  for (let look = 1; look <= 12; look += 1) {
    await clock.advance(everyMs - 2_100);
    const turn = turns.due([tab(1, 3_000)], new Map(), false);
    await clock.advance(2_000);
    if (!turn) continue;
    taken.push(look);
    turns.end(turn);
  }
  expect(taken).toEqual([4, 7, 10]);
});

test('a turn brings no more rows because there are more tabs', async () => {
  const one = await turnsIn(fullReadMs, [tab(1, 40_000)]);
  const four = await turnsIn(fullReadMs, [tab(1, 40_000), tab(2, 1), tab(3, 1), tab(4, 1)]);
  expect(Math.max(...four.map(heightOf))).toBe(Math.max(...one.map(heightOf)));
});

test('goes on with the next tab, and with the first one behind the last', async () => {
  const [first, second, third] = await turnsIn(60_000, [tab(1, 700), tab(2, 100)]);
  expect([first, second, third].flatMap((turn) => (turn ? [listOf(turn)] : []))).toEqual([
    [[1, 0, 500]],
    [
      [1, 500, 700],
      [1, 0, 200],
      [2, 0, 100],
    ],
    [[1, 200, 700]],
  ]);
});

test('the last rows of a tab go on to where a user may have written below', async () => {
  const [only] = await turnsIn(20_000, [tab(1, 100, 1_000)]);
  expect(only && listOf(only)).toEqual([[1, 0, 500]]);
});

test('goes on with the same row where rows above it came or went, and in no other tab', async () => {
  const grids = [tab(1, 3_000), tab(2, 3_000)];
  const turns = new Turns(clock, fullReadMs);
  await turnsIn(20_000, grids, turns);
  const withAdded = (count: number) => [
    ...Array.from({ length: 10 }, (_, row) => row),
    ...Array.from({ length: count }, () => -1),
    ...Array.from({ length: 2_990 }, (_, row) => 10 + row),
  ];
  const moved = new Map([
    [1, withAdded(20)],
    [2, withAdded(290)],
  ]);
  await clock.advance(20_000);
  // A look that fails is done again, and finds the same.
  for (const _attempt of [1, 2]) {
    const turn = turns.due(grids, moved, false);
    expect(turn && listOf(turn)).toEqual([[1, 520, 1_020]]);
  }
  turns.move(moved);
  const later = turns.due(grids, new Map(), false);
  expect(later && listOf(later)).toEqual([[1, 520, 1_020]]);
});

test('begins with the first tab where the one it was at is gone', async () => {
  const turns = new Turns(clock, fullReadMs);
  await turnsIn(20_000, [tab(2, 3_000)], turns);
  await clock.advance(20_000);
  const turn = turns.due([tab(3, 3_000)], new Map(), false);
  expect(turn && listOf(turn)).toEqual([[3, 0, 500]]);
});

test('there is no turn for a while after one that failed, and with it all that was asked for', async () => {
  const grids = [tab(1, 3_000)];
  const turns = new Turns(clock, fullReadMs);
  turns.start();
  await clock.advance(60_000);
  const areDue = () => [true, false].map((hasNews) => turns.due(grids, new Map(), hasNews) !== undefined);
  expect(areDue()).toEqual([true, true]);
  await expect(turns.read(grids, () => Promise.reject(new Error('cut off')))).rejects.toThrow();
  await clock.advance(fullReadMs / 10 - 1);
  expect(areDue()).toEqual([false, false]);
  await clock.advance(1);
  expect(areDue()).toEqual([true, true]);
});
