import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { booleanCell, type Cell, emptyCell, numberCell, spilledCell, textCell } from '../../src/core/cell.ts';
import { createAloneSearch } from '../../src/core/decide/alone.ts';
import { isMostlyAlike } from '../../src/core/kept-cell.ts';
import type { ObservedRow } from '../../src/core/table.ts';

const rowAt = (position: number, cells: Readonly<Record<string, Cell>>): ObservedRow => ({
  position,
  id: emptyCell,
  sync: emptyCell,
  cells,
});

describe('a row that has lost its ID', () => {
  const cell = fc.constantFrom<Cell>(
    emptyCell,
    booleanCell(false),
    booleanCell(true),
    numberCell(1),
    { kind: 'number', number: 1, shown: '100%' },
    textCell('1'),
    { kind: 'formula', formula: '=A1' },
    { kind: 'error', message: '#REF!' },
    spilledCell,
  );
  const tab = fc.array(fc.record({ a: cell, b: cell, c: cell, d: cell, e: cell }), { maxLength: 8 });

  it('is alone exactly if each of the others lacks half of what it shows', () => {
    fc.assert(
      fc.property(tab, (all) => {
        const rows = all.map((cells, index) => rowAt(index + 1, cells));
        const isAlone = createAloneSearch(rows);
        const isUnlike = (row: ObservedRow) =>
          rows.every((other) => other === row || !isMostlyAlike(row.cells, other.cells));
        expect(rows.map(isAlone)).toEqual(rows.map(isUnlike));
      }),
    );
  });

  it('is told from others of a table that puts unticked boxes into every row', () => {
    const boxes = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, booleanCell(false)]));
    const rows = ['Acme', 'Beta'].map((title, index) =>
      rowAt(index + 1, { ...boxes, title: textCell(title) }),
    );
    expect(rows.map(createAloneSearch(rows))).toEqual([true, true]);
  });

  it('is told from all others in a tab in which tens of thousands have lost theirs', () => {
    const rows = Array.from({ length: 60_000 }, (_, index) =>
      rowAt(index + 1, {
        title: textCell(`Task ${index}`),
        note: textCell(`Note ${index}`),
        state: textCell(index % 2 === 0 ? 'Open' : 'Done'),
      }),
    );
    expect(rows.every(createAloneSearch(rows))).toBe(true);
  });
});
