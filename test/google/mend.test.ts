import { expect, test } from 'vitest';
import type { Grid, GridPart } from '../../src/google/grid.ts';
import { mendGrid } from '../../src/google/poll/mend.ts';
import { textCell } from '../../src/sheet/port/cell.ts';

const build = {
  sheetId: 1,
  title: 'Leads',
  rowCount: 9,
  columnCount: 1,
  merges: [],
  tags: [],
  typed: [],
  tables: [],
};
const rowsOf = (...ids: string[]) => ids.map((id) => [textCell(id)]);

test('a hidden row that is removed hides no other one, and those below it are hidden where they are now', () => {
  const kept: Grid = { ...build, rows: rowsOf('ID', 'a', 'b', 'c', 'd', 'e'), hiddenRows: new Set([2, 5]) };
  const part: GridPart = {
    ...build,
    blocks: [{ startRow: 0, rows: rowsOf('ID') }],
    hiddenRows: new Set(),
  };
  const origins = [0, 1, 3, 4, 5];
  const look = { part, spans: [], origins, columns: [0], idColumn: 0, valueAt: () => undefined };
  expect(mendGrid(kept, look)).toMatchObject({
    grid: { rows: rowsOf('ID', 'a', 'c', 'd', 'e'), hiddenRows: new Set([4]) },
  });
});

test('a merge in rows that are not read is no doubt, and one that is not found in those that are is one', () => {
  const merges = [{ startRowIndex: 3, endRowIndex: 5, startColumnIndex: 0, endColumnIndex: 1 }];
  const kept: Grid = { ...build, merges, rows: rowsOf('ID', 'a', 'b', 'c', 'd'), hiddenRows: new Set() };
  const part: GridPart = {
    ...build,
    blocks: [{ startRow: 0, rows: rowsOf('ID', 'e') }],
    hiddenRows: new Set(),
  };
  const look = { part, columns: [0], idColumn: 0, valueAt: () => 'e' };
  const mended = mendGrid(kept, { ...look, spans: [{ from: 1, end: 2 }] });
  expect(mended).toMatchObject({ grid: { merges, rows: rowsOf('ID', 'e', 'b', 'c', 'd') } });
  expect(mendGrid(kept, { ...look, spans: [{ from: 1, end: 4 }] })).toBe('doubt');
});
