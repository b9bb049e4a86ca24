import { describe, expect, it } from 'vitest';
import { compensate } from '../../src/google/write/compensate.ts';
import { type GridDamage, judge, meetColumns } from '../../src/google/write/judge.ts';
import type { PlannedStep, Row } from '../../src/google/write/planned.ts';
import { findMet } from '../../src/google/write/read-back.ts';
import type { SeenTab } from '../../src/google/write/seen-tab.ts';
import { type Cell, chipCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { TabKind } from '../../src/sheet/port/layout.ts';

const headers: Row = [textCell('ID'), textCell('Title'), textCell('Note')];
const columns = { id: 0, sync: undefined, fields: new Map([['title', { index: 1 }]]) };
const met = meetColumns({ columns, headers }, headers);

const row = (id: number | undefined, title: string, note = ''): Row => [
  id === undefined ? emptyCell : numberCell(id),
  textCell(title),
  note === '' ? emptyCell : textCell(note),
];
const [acme, bolt, corp] = [row(1, 'Acme', 'a'), row(2, 'Bolt', 'b'), row(3, 'Corp', 'c')];

/** A delete that took a row which was not meant; of one that a filter hid nothing is known but the row that was meant. */
const deleted = (number: number, known: Pick<GridDamage, 'before' | 'right'>): GridDamage => ({
  number,
  entity: 'lead',
  kind: 'deleted',
  headers,
  names: met.names,
  placed: [],
  expected: -1,
  ...known,
});

const seen = (rows: readonly Row[], unseen: readonly Row[] = []): ReadonlyMap<TabKind, SeenTab> =>
  new Map([['lead', { rows: [headers, ...rows], hiddenRows: new Set(), columns, unseen }]]);

const addedRows = ({ steps }: ReturnType<typeof compensate>) =>
  steps.map(({ kind, placed }) => [kind, placed.map(({ cell }) => cell)]);

describe('a delete of which nothing was kept', () => {
  it('took its own row where that is gone', () => {
    const plan = compensate([deleted(0, { before: [], right: acme })], seen([bolt, corp], [acme]), true);
    expect([[...plan.done], plan.steps]).toEqual([[[0, { edited: [], own: { Note: textCell('a') } }]], []]);
  });

  it('took the row that a filter hid and that is gone, where its own row is there', () => {
    const plan = compensate([deleted(0, { before: [], right: acme })], seen([acme, corp], [bolt]), true);
    expect(addedRows(plan)).toEqual([['append', bolt]]);
    expect(plan.done.size).toBe(0);
  });

  it('did not take the row that another delete was meant for, although a copy of its own row is there', () => {
    const damage = [deleted(0, { before: [], right: acme }), deleted(1, { before: [], right: bolt })];
    const plan = compensate(damage, seen([acme, corp], [acme, bolt]), true);
    expect([plan.steps, plan.escalated, [...plan.done.keys()], plan.undone.length]).toEqual([[], [], [1], 1]);
  });

  it('brings back no row that a read showed and that is gone: a user may have deleted that', () => {
    const plan = compensate([deleted(0, { before: [], right: acme })], seen([acme, corp]), true);
    expect([plan.steps, plan.done.size, plan.undone.length]).toEqual([[], 0, 1]);
  });

  it('has not taken its own row where another step took that by mistake: it comes back', () => {
    const damage = [deleted(0, { before: [], right: acme }), deleted(1, { before: acme })];
    const plan = compensate(damage, seen([bolt, corp]), true);
    expect(addedRows(plan)).toEqual([['append', acme]]);
    expect(plan.done.size).toBe(0);
  });
});

describe('the row that a set met, by how it is after it', () => {
  const find = (rows: readonly Row[], placed: Row, now: Row) =>
    findMet(planned(placed), met, [headers, ...rows], now);

  /** Sets the cells that are given in the second row. */
  const planned = (cells: readonly (Cell | undefined)[]): PlannedStep => ({
    number: 0,
    kind: 'set',
    entity: 'lead',
    position: 2,
    placed: cells.flatMap((cell, column) => (cell ? [{ cell, column }] : [])),
    read: bolt,
  });
  const title = [undefined, textCell('Written')] as unknown as Row;
  const idAndTitle = [numberCell(7), textCell('Written')];

  it('is the one that was read in its place, where nothing else changed', () => {
    expect(find([acme, bolt, corp], title, row(2, 'Written', 'b'))).toEqual(bolt);
  });

  it('is the one that was read with the ID, where that was not written', () => {
    expect(find([acme, bolt, corp], title, row(3, 'Written', 'c'))).toEqual(corp);
  });

  it('is not known where a row came that was not read', () => {
    expect(find([acme, bolt, corp], title, row(9, 'Written', 'x'))).toBeUndefined();
  });

  it('is not known where all was written by which it could be told', () => {
    expect(find([acme, bolt, corp], idAndTitle, row(7, 'Written', 'x'))).toBeUndefined();
  });

  it('is not known where several rows have the ID and differ', () => {
    const copy = row(3, 'Corp', 'mine');
    expect(find([acme, bolt, corp, copy], title, row(3, 'Written', 'c'))).toBeUndefined();
  });

  describe('which had no ID before the set gave it one', () => {
    const wide: Row = ['ID', 'Title', 'City', 'Phone', 'Note'].map(textCell);
    const fields = new Map(['Title', 'City', 'Phone'].map((name, place) => [name, { index: place + 1 }]));
    const wideMet = meetColumns({ columns: { id: 0, sync: undefined, fields }, headers: wide }, wide);
    const fresh = (...texts: readonly string[]): Row => [emptyCell, ...texts.map(textCell)];
    const [dune, east] = [fresh('Dune', 'Bonn', '1', 'n'), fresh('East', 'Kiel', '2', 'n')];
    const claim = { ...planned([numberCell(7)]), read: east };
    const claimed = (...texts: readonly string[]) =>
      findMet(claim, wideMet, [wide, dune, east], [numberCell(7), ...texts.map(textCell)]);

    it('is the one in its place with what a user retyped there, where most of it is as it was', () => {
      expect(claimed('East', 'Kiel', '3', 'mine')).toEqual(fresh('East', 'Kiel', '3', 'mine'));
    });

    it('is another one that moved there as it was', () => {
      expect(claimed('Dune', 'Bonn', '1', 'n')).toEqual(dune);
    });

    it('is not known where most of it is something else', () => {
      expect(claimed('East', 'Rome', '3', 'n')).toBeUndefined();
    });
  });
});

describe('a row that goes only where users wrote nothing beside it', () => {
  const tab = { sheetId: 1, headers, columns, hiddenRows: new Set<number>(), end: 4 };
  const step = {
    number: 0,
    kind: 'delete',
    entity: 'lead',
    position: 1,
    placed: [],
    sparesOwn: true,
  } as const;
  const endOf = (beside: Cell) => {
    const batch = {
      run: '1',
      from: 0,
      steps: [{ ...step, read: row(1, 'Acme') }],
      tabs: new Map([['lead', tab] as const]),
    };
    const met: Row = [numberCell(1), textCell('Acme'), beside];
    const { damage, done } = judge(batch, {
      headers: new Map([['lead', headers]]),
      rows: new Map([[0, met]]),
      others: [],
    });
    return [done.size, damage.length];
  };

  it.each([
    ['nothing', emptyCell, [1, 0]],
    ['a formula', { kind: 'formula', formula: '=1+1' }, [1, 0]],
    ['a note', textCell('Call'), [0, 1]],
    ['a smart chip', chipCell, [0, 1]],
  ] satisfies [string, Cell, number[]][])('with %s that came at that moment', (_what, beside, ends) => {
    expect(endOf(beside)).toEqual(ends);
  });
});

describe('a set of which nothing was kept, because a filter hid its row', () => {
  const right = row(1, 'Acme & Co', 'a');
  const set: GridDamage = {
    ...deleted(0, { before: [], right }),
    kind: 'overwritten',
    placed: [{ column: 1, cell: textCell('Acme & Co') }],
    expected: 2,
  };
  const endOf = (rows: readonly Row[]) => {
    const { done, escalated } = compensate([set], seen(rows), true);
    return { done: done.size, escalated };
  };

  it('has met the right row where that shows what was written', () => {
    expect(endOf([right, bolt])).toEqual({ done: 1, escalated: [] });
    expect(endOf([bolt, right])).toEqual({ done: 1, escalated: [] });
  });

  it('has met another row that shows it in its place, also where the right one shows the same', () => {
    const cells = { title: { written: textCell('Acme & Co'), before: emptyCell } };
    const asked = { entity: 'lead', kind: 'overwritten', id: numberCell(2), cells, own: {}, isUnseen: true };
    const met = row(2, 'Acme & Co', 'b');
    expect(endOf([right, met])).toEqual({ done: 0, escalated: [asked] });
    expect(endOf([acme, met])).toEqual({ done: 0, escalated: [asked] });
  });

  it('has not met a row in which a chip replaced what it would have written', () => {
    const chip: Row = [numberCell(2), chipCell, textCell('b')];
    expect(endOf([right, chip])).toEqual({ done: 1, escalated: [] });
  });

  it('that emptied a cell has met the right row where that shows it, whatever blank rows there are', () => {
    const emptied = row(1, 'Acme');
    const emptying = { ...set, right: emptied, placed: [{ column: 2, cell: emptyCell }] };
    const { done, escalated, undone } = compensate([emptying], seen([emptied, bolt, []]), true);
    expect([done.size, escalated, undone]).toEqual([1, [], []]);
  });

  it('has met a blank row wherever that is now, and not the one in its place', () => {
    const met = row(2, 'Acme & Co', 'b');
    const blank: Row = [emptyCell, textCell('Acme & Co')];
    const { escalated, steps } = compensate([set], seen([acme, met, blank]), true);
    expect(escalated).toEqual([]);
    expect(steps).toMatchObject([{ kind: 'set', position: 3, placed: [{ column: 1, cell: emptyCell }] }]);
  });
});
