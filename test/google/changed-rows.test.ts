import { expect, test } from 'vitest';
import { finishAtOnce } from '../../src/core/slices.ts';
import { alignRows, type PolledColumn } from '../../src/google/poll/changed-rows.ts';
import { textCell } from '../../src/sheet/port/cell.ts';

type Row = readonly [id: string, title: string];

const header: Row = ['ID', 'Title'];
const rowsOf = (from: number, end: number): Row[] =>
  Array.from({ length: end - from }, (_, place) => [String(from + place), `Title ${from + place}`]);
const cellsOf = (rows: readonly Row[]) => rows.map((row) => row.map(textCell));

/** Aligns rows as they were kept with those of a poll, and gives each as it is then known: `undefined` where it is to be read. */
function align(kept: readonly Row[], now: readonly Row[]) {
  const columns = [0, 1].map((index): PolledColumn => ({ index, now: now.map((row) => row[index]) }));
  const heights = { before: kept.length, now: now.length };
  const changed = finishAtOnce(alignRows(cellsOf(kept), { columns, idColumn: 0 }, heights));
  if (!changed) return undefined;
  const { origins = [...kept.keys()], rows } = changed;
  return { rows, known: now.map((_, row) => (rows.includes(row) ? undefined : kept[origins[row] ?? -1])) };
}

/** All but these are known as they are. */
const allBut = (now: readonly Row[], read: readonly number[]) => ({
  rows: read,
  known: now.map((row, place) => (read.includes(place) ? undefined : row)),
});

test('rows that are sorted are known wherever they are, and one that is edited besides is read', () => {
  const kept = [header, ...rowsOf(1, 3_000)];
  const now = [header, ...rowsOf(1, 3_000).toReversed()];
  now[700] = [now[700]?.[0] ?? '', 'Edited'];
  expect(align(kept, now)).toEqual(allBut(now, [700]));
});

test('parts of several moments are put together, and of a row that is in two of them one is taken', () => {
  const added: Row = ['new', 'Added'];
  // The first part was read before a row was added and another deleted.
  const kept = [header, ...rowsOf(1, 2_000), ...rowsOf(1_999, 4_000)];
  const now = [header, ...rowsOf(1, 3), added, ...rowsOf(3, 2_500), ...rowsOf(2_501, 4_000)];
  expect(align(kept, now)).toEqual(allBut(now, [3]));
});

test('rows without an ID are known by all that they show', () => {
  const nameless = (rows: readonly Row[]): Row[] => rows.map(([, title]) => ['', title]);
  const kept = [header, ...nameless(rowsOf(1, 2_000))];
  const now = [header, ...nameless([...rowsOf(1_000, 2_000), ...rowsOf(1, 1_000)]), ['', 'Added'] as const];
  expect(align(kept, now)).toEqual(allBut(now, [2_000]));
});

test('a copy of a row is read: what else is in it is not known', () => {
  const kept = [header, ...rowsOf(1, 10)];
  const now = [header, ...rowsOf(1, 4), ...rowsOf(2, 3), ...rowsOf(4, 10)];
  expect(align(kept, now)).toEqual(allBut(now, [4]));
});

test('too many rows that show something else are a doubt, but for those below the last one', () => {
  const kept = [header, ...rowsOf(1, 3_000)];
  const edited = rowsOf(1, 1_500).map(([id]): Row => [id, 'Edited']);
  expect(align(kept, [header, ...edited, ...rowsOf(1_500, 3_000)])).toBeUndefined();
  expect(align(kept, [...kept, ...rowsOf(3_000, 6_000)])?.rows).toHaveLength(3_000);
});
