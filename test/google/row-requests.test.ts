import { expect, test } from 'vitest';
import { requestsFor } from '../../src/google/poll/row-requests.ts';
import { windowMax } from '../../src/google/read-pace.ts';

const spans = (...rows: readonly [from: number, end: number][]) => rows.map(([from, end]) => ({ from, end }));
const lone = (count: number) =>
  spans(...Array.from({ length: count }, (_, place): [number, number] => [place * 10, place * 10 + 1]));
const heights = (requests: ReturnType<typeof requestsFor>) =>
  requests.map((request) => [...request.values()].flat().reduce((sum, { end, from }) => sum + end - from, 0));

test('rows that meet are asked for in one range, in their order', () => {
  const [only, ...others] = requestsFor(new Map([[7, spans([5, 6], [1, 2], [2, 4], [5, 6])]]), windowMax);
  expect([only?.get(7), others]).toEqual([spans([1, 4], [5, 6]), []]);
});

test('there is one request where no row is wanted, for what is said of the tabs', () => {
  expect(requestsFor(new Map([[7, []]]), windowMax)).toEqual([new Map()]);
});

test('a request has 60 ranges at most, of whatever tab', () => {
  const wanted = new Map([
    [7, lone(70)],
    [8, lone(40)],
  ]);
  expect(heights(requestsFor(wanted, windowMax))).toEqual([60, 50]);
});

test('a request has 2,000 rows at most, also of one range', () => {
  expect(
    heights(requestsFor(new Map([[7, spans([0, 1_500], [1_600, 2_300], [3_000, 7_500])]]), windowMax)),
  ).toEqual([1_500, 700, 2_000, 2_000, 500]);
});
