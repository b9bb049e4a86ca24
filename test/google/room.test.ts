import { describe, expect, test } from 'vitest';
import type { Grid } from '../../src/google/grid.ts';
import { checkRoom, countCells, roomOf } from '../../src/google/room.ts';

const grid: Grid = {
  sheetId: 1,
  title: 'Leads',
  rowCount: 380_000,
  columnCount: 26,
  rows: [],
  merges: [],
  typed: [],
  tables: [],
  hiddenRows: new Set<number>(),
  tags: [],
};

describe('the ten million cells of a spreadsheet', () => {
  test('leave a tab the rows that still fit, and none when it is full', () => {
    expect(countCells([grid])).toBe(9_880_000);
    expect(roomOf(grid, 9_880_000)).toBe(4_615);
    expect(roomOf(grid, 10_000_000)).toBe(0);
  });

  test('are watched before tabs and columns are added', () => {
    const addSheet = { properties: { gridProperties: { rowCount: 1_000, columnCount: 26 } } };
    const appendDimension = { sheetId: 1, dimension: 'COLUMNS', length: 1 };
    expect(() => checkRoom([grid], [{ addSheet }])).not.toThrow();
    expect(() => checkRoom([grid], [{ appendDimension }])).toThrow('would get 380000 more');
  });
});
