import { expect, test } from 'vitest';
import { isTooMuch, loginError, sheetError } from '../../src/google/errors.ts';
import { firstPace, largestOf, type Pace, slowDown, speedUp, windowsOf } from '../../src/google/read-pace.ts';

const times = (count: number, pace: Pace, change: (pace: Pace) => Pace): Pace =>
  Array.from({ length: count }).reduce<Pace>((now) => change(now), pace);

const rowsIn = (pace: Pace, rowCount: number) =>
  windowsOf([{ sheetId: 1, rowCount }], pace).map(([range]) => [range?.startRowIndex, range?.endRowIndex]);

const readError = 'read the spreadsheet';

test.each([
  [
    'where Google says that it is down',
    sheetError({ config: {}, response: { status: 503 } }, readError),
    true,
  ],
  [
    'where the answer does not come in time',
    sheetError({ config: {}, code: 'TimeoutError' }, readError),
    true,
  ],
  ['where to log in takes too long', loginError({ config: {}, code: 'TimeoutError' }), false],
  ['where Google cannot be reached', sheetError({ config: {}, code: 'ECONNREFUSED' }, readError), false],
  ['where it refuses', sheetError({ config: {}, response: { status: 429 } }, readError), false],
])('a read may have asked for too much %s: %s', (_when, error, isSo) => {
  expect(isTooMuch(error)).toBe(isSo);
});

test('one failure leaves a read as it is, as a short break of Google does', () => {
  expect(slowDown(firstPace).halvings).toBe(0);
});

test.each([
  [3_000, [1_500, 750, 500, 500]],
  [40_000, [1_000, 500, 500, 500]],
])(
  'two failures in a row halve what a request brings of %i rows, and so does each one that follows',
  (rows, heights) => {
    const largest = largestOf([{ rowCount: rows }]);
    const paces = [2, 3, 4, 99].map((count) => times(count, firstPace, (pace) => slowDown(pace, largest)));
    expect(paces.map((pace) => rowsIn(pace, rows)[0])).toEqual(heights.map((end) => [0, end]));
  },
);

test('a success between two failures begins anew', () => {
  expect(slowDown(speedUp(slowDown(firstPace))).halvings).toBe(0);
});

test('a request brings no fewer than 500 rows, however often it fails', () => {
  const pace = times(99, firstPace, (now) => slowDown(now, 3_000));
  expect(rowsIn(pace, 3_000)).toEqual(
    [500, 1_000, 1_500, 2_000, 2_500, 3_000].map((end) => [end - 500, end]),
  );
});

test('as long as it is not known how long the tabs are, a request is halved once', () => {
  expect(times(99, firstPace, (now) => slowDown(now)).halvings).toBe(1);
});

test('thirty successes in a row double what a request brings again, until it brings all', () => {
  const slow = times(4, firstPace, (pace) => slowDown(pace, 4_000));
  expect([29, 30, 60, 90, 999].map((count) => times(count, slow, speedUp).halvings)).toEqual([3, 2, 1, 0, 0]);
});

test('the windows of a tab follow each other and end with its last row', () => {
  expect(rowsIn({ ...firstPace, halvings: 1 }, 2_001)).toEqual([
    [0, 1_001],
    [1_001, 2_001],
  ]);
});

test('short tabs share a request, and bring no more than one window of a long one', () => {
  const tabs = [
    { sheetId: 1, rowCount: 4_000 },
    { sheetId: 2, rowCount: 600 },
    { sheetId: 3, rowCount: 400 },
    { sheetId: 4, rowCount: 1 },
  ];
  const requests = windowsOf(tabs, { ...firstPace, halvings: 1 });
  expect(requests.slice(4)).toEqual([
    [
      { sheetId: 2, startRowIndex: 0, endRowIndex: 600 },
      { sheetId: 3, startRowIndex: 0, endRowIndex: 400 },
    ],
    [{ sheetId: 4, startRowIndex: 0, endRowIndex: 1 }],
  ]);
});
