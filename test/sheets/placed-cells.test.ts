import { describe, expect, it } from 'vitest';
import { type Cell, emptyCell, textCell } from '../../src/core/cell.ts';
import { givenCells } from '../../src/sheets/placed-cells.ts';

describe('a row that comes back', () => {
  /** By column, what is given back of a row that was kept under these headers, the second of which was that of the title. */
  function giveBack(kept: Readonly<Record<string, Cell>>, headersNow: readonly string[]) {
    const headers = Object.keys(kept).map((header) => header.trim());
    const tab = {
      columnCount: 5,
      columns: {
        id: 0,
        sync: undefined,
        fields: new Map([
          ['title', { index: headersNow.indexOf('Title'), header: 'Title', kind: 'text' as const }],
        ]),
      },
      rows: [headersNow.map(textCell)],
      hiddenRows: new Set<number>(),
    };
    const place = { row: 5, headers, columns: { ID: 0, title: 1 }, cells: Object.values(kept) };
    const given = givenCells(tab, { kind: 'append', entity: 'lead', id: textCell('7'), cells: {}, place });
    return given.map(({ cell, column }) => [column, cell]).toSorted();
  }

  const [id, title] = [textCell('7'), textCell('Acme')];

  it('has in the one of two columns with one header that is left what stood in the first of them, and not the blank of the other', () => {
    const kept = { ID: id, Title: title, Notes: textCell('Call back'), 'Notes ': emptyCell };
    expect(giveBack(kept, ['ID', 'Title', 'Notes'])).toEqual([
      [0, id],
      [1, title],
      [2, textCell('Call back')],
    ]);
  });

  it('has in the one of two columns with one header that is left what somebody wrote in the second of them, where the first was blank', () => {
    const kept = { ID: id, Title: title, Notes: emptyCell, 'Notes ': textCell('Call back') };
    expect(giveBack(kept, ['ID', 'Title', 'Notes'])).toEqual([
      [0, id],
      [1, title],
      [2, textCell('Call back')],
    ]);
  });

  it('has its own title, and not what stood in a copy of that column, where one of both is gone', () => {
    const kept = { ID: id, Title: title, 'Title ': textCell('Of last year') };
    expect(giveBack(kept, ['ID', 'Title'])).toEqual([
      [0, id],
      [1, title],
    ]);
  });
});
