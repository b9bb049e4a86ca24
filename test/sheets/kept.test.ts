import { expect, it } from 'vitest';
import { emptyCell, textCell } from '../../src/core/cell.ts';
import { findHit, findKeptColumns, toKeptRow } from '../../src/sheets/kept.ts';
import { placedCells } from '../../src/sheets/placed-cells.ts';

const headers = ['ID', 'Title'].map(textCell);
const tab = {
  columnCount: 4,
  columns: { id: 0, sync: undefined, fields: new Map([['title', { index: 1 }]]) },
  rows: [headers],
  hiddenRows: new Set<number>(),
};

it('S2: a column without a header has not moved where the row of headers was kept with more cells than it was read', () => {
  const met = findKeptColumns(tab, [...headers, emptyCell, emptyCell]);
  const hit = findHit(
    tab,
    {
      kind: 'set',
      entity: 'lead',
      position: 1,
      idSeen: textCell('1'),
      cells: {},
      place: { headers: ['ID', 'Title', '', ''], columns: { ID: 0, title: 1 }, cells: [] },
      others: [{ column: 3, written: emptyCell }],
    },
    met!,
  );
  expect(hit).toBeUndefined();
});

it.each([
  ['renamed', 'Name', undefined],
  ['deleted beside a copy of another one', 'ID', ['title']],
])(
  'S2: tells whether a new row has strayed where a column was %s while it was written',
  (_what, header, strayed) => {
    const met = findKeptColumns(tab, ['ID', header].map(textCell));
    const step = {
      kind: 'append',
      entity: 'lead',
      id: textCell('1'),
      cells: { title: textCell('Acme') },
    } as const;
    expect(findHit(tab, step, met!)?.strayed).toEqual(strayed);
  },
);

it('S2: gives what stood below a header that was pasted over another one back to no managed column that shows the same, once that is undone', () => {
  const [due, begin] = ['2026-01-05', '2026-01-12'].map(textCell);
  const row = [textCell('1'), due!, due!];
  const planned = {
    ...tab,
    columns: {
      ...tab.columns,
      fields: new Map([
        ['due', { index: 1 }],
        ['begin', { index: 2 }],
      ]),
    },
    rows: [['ID', 'Due', 'Begin'].map(textCell), row],
  };
  const step = { kind: 'set', entity: 'task', position: 1, idSeen: textCell('1') } as const;
  const met = findKeptColumns(planned, ['ID', 'Due', 'Due'].map(textCell))!;
  const others = findHit(planned, { ...step, cells: { begin: due! } }, met)?.others ?? [];
  expect(others).toEqual([{ column: 2, written: due }]);
  const { place } = toKeptRow(met, [textCell('1'), due!, begin!], 5);
  expect(placedCells(planned, { ...step, cells: {}, place, others })).toEqual([]);
});
