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
  const splice = { from: 2, keptEnd: 3, end: 2 };
  const look = { part, spans: [], splice, columns: [0], idColumn: 0, valueAt: () => undefined };
  expect(mendGrid(kept, look)).toMatchObject({
    grid: { rows: rowsOf('ID', 'a', 'c', 'd', 'e'), hiddenRows: new Set([4]) },
  });
});
