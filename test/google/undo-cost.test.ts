import { expect, test } from 'vitest';
import { compensate } from '../../src/google/write/compensate.ts';
import { type GridDamage, meetColumns } from '../../src/google/write/judge.ts';
import { overlay, type Row } from '../../src/google/write/planned.ts';
import { findMet } from '../../src/google/write/read-back.ts';
import { numberCell, textCell } from '../../src/sheet/port/cell.ts';

const width = 20;
const rowsOfTab = 2_000;
const damaged = 100;

const names = Array.from({ length: width - 1 }, (_, index) => `field ${index}`);
const headers: Row = ['ID', ...names].map(textCell);
const fields = new Map(names.map((name, index) => [name, { index: index + 1 }]));
const met = meetColumns({ columns: { id: 0, sync: undefined, fields }, headers }, headers);

const rowOf = (id: number): Row => [numberCell(id), ...names.map((name) => textCell(`${name} of ${id}`))];
const ids = Array.from({ length: rowsOfTab }, (_, index) => index + 1);
const placed = [{ column: 1, cell: textCell('Ours') }];

/** Damage to every second of the first rows, as it was before rows moved once more. */
const damage = (known: (row: Row) => Pick<GridDamage, 'kind' | 'before' | 'right'>): GridDamage[] =>
  Array.from({ length: damaged }, (_, number) => {
    const row = rowOf(2 * number + 1);
    const common = { number, entity: 'lead', headers, names: met.names, expected: 2 * number + 1 } as const;
    return { ...common, placed, ...known(row) };
  });

/** The rows, the last one first; each calls `look` when one of its cells is looked at. */
const watched = (rows: readonly Row[], look: () => void): Row[] =>
  rows.toReversed().map(
    (row) =>
      new Proxy(row, {
        get(target, name, receiver) {
          if (typeof name === 'string' && /^\d+$/.test(name)) look();
          return Reflect.get(target, name, receiver);
        },
      }),
  );

const isHit = (id: number): boolean => id % 2 === 1 && id < 2 * damaged;
const whole = ids.map(rowOf);
const written = whole.map((row, index) => (isHit(index + 1) ? overlay(row, placed) : row));
const without = whole.filter((_, index) => !isHit(index + 1));

test.each<[string, GridDamage[], readonly Row[]]>([
  ['rows that moved since', damage((before) => ({ kind: 'overwritten', before })), written],
  [
    'rows that a filter hid',
    damage((row) => ({ kind: 'overwritten', before: [], right: overlay(row, placed) })),
    written,
  ],
  ['rows that were to go', damage((right) => ({ kind: 'deleted', before: [], right })), without],
  ['rows that came back', damage((right) => ({ kind: 'deleted', before: [], right })), whole],
])('what undoing a write in a long tab looks at follows the damage, for %s', (_case, own, rows) => {
  let looks = 0;
  const shown = [headers, ...watched(rows, () => (looks += 1))];
  const tab = { rows: shown, hiddenRows: new Set<number>(), columns: { fields: new Map() }, unseen: [] };
  const { done, escalated, steps, undone } = compensate(own, new Map([['lead', tab]]), true);
  expect(steps.length + done.size + undone.length).toBe(damaged);
  expect(escalated).toEqual([]);
  // Each ID once, and a few times all cells of each damaged row.
  expect(looks).toBeLessThanOrEqual(rowsOfTab + damaged * width * 6);
});

test('all rows that moved since are found by their IDs', () => {
  const own = damage((before) => ({ kind: 'overwritten', before }));
  const tab = {
    rows: [headers, ...written.toReversed()],
    hiddenRows: new Set<number>(),
    columns: { fields: new Map() },
  };
  const { steps } = compensate(own, new Map([['lead', tab]]), true);
  expect(steps.map(({ position }) => position)).toEqual(own.map(({ expected }) => rowsOfTab + 1 - expected));
});

test('of the rows that a filter hid, those alone are compared with what was planned that are gone', () => {
  const compared: Row[] = [];
  const gone = rowOf(7);
  const tab = {
    rows: [headers, ...whole.filter((row) => row !== whole[6])],
    hiddenRows: new Set<number>(),
    columns: { fields: new Map() },
    unseen: whole,
    isPlanned: (row: Row) => compared.push(row) === 0,
  };
  const own = damage((right) => ({ kind: 'deleted', before: [], right })).slice(0, 1);
  const { steps } = compensate(own, new Map([['lead', tab]]), true);
  expect(steps.map(({ placed: [id] }) => id?.cell)).toEqual([numberCell(7)]);
  expect(compared).toEqual([gone]);
});

test('the row that a set met under a filter is found by its ID, without a look at other cells', () => {
  let looks = 0;
  const rows = [headers, ...watched(whole, () => (looks += 1))];
  const step = { number: 0, kind: 'set', entity: 'lead', position: 5, placed, read: [] } as const;
  expect(findMet(step, met, rows, overlay(rowOf(9), placed))).toEqual(rowOf(9));
  expect(looks).toBeLessThanOrEqual(rowsOfTab + width * 6);
});
