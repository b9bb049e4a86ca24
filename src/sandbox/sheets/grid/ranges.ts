import type { Cell } from '../cell.ts';
import { effectiveValue } from '../display/display.ts';
import { cellAt, type Sheet, type Spreadsheet, setCell, sizeOf } from '../spreadsheet.ts';
import { moveMetadata } from './dimensions.ts';
import type { Area } from './grid-range.ts';

/** The cells of a rectangle apart from their place, row by row. */
export type Block = readonly (readonly (Cell | undefined)[])[];

/** A copy of a rectangle's cells. */
export function cellsIn(sheet: Sheet, area: Area): Block {
  const width = Math.max(0, area.endColumn - area.startColumn);
  return sheet.rows
    .slice(area.startRow, area.endRow)
    .map((row) => Array.from({ length: width }, (_, right) => row[area.startColumn + right]));
}

/** Writes a block of cells; what would fall outside the grid is cut off. */
export function putCells(sheet: Sheet, row: number, column: number, block: Block): void {
  for (const [down, cells] of block.entries()) {
    if (row + down >= sheet.rows.length) return;
    for (const [right, cell] of cells.entries()) {
      if (column + right < sheet.columnProperties.length) setCell(sheet, row + down, column + right, cell);
    }
  }
}

/** The same cells with columns for rows. */
export function transpose(block: Block): Block {
  return (block[0] ?? []).map((_, column) => block.map((row) => row[column]));
}

export function clearCells(sheet: Sheet, area: Area): void {
  putCells(
    sheet,
    area.startRow,
    area.startColumn,
    cellsIn(sheet, area).map((row) => row.map(() => undefined)),
  );
}

/** One key of a sort: a column of the grid and its direction. */
export interface SortKey {
  column: number;
  isDescending: boolean;
}

/**
 * Sorts the rows of a rectangle; cells beside it stay where they are, so a partial sort tears rows apart.
 * Numbers come before text before FALSE before TRUE; blanks are last in either direction.
 */
export function sortArea(draft: Spreadsheet, sheet: Sheet, area: Area, keys: readonly SortKey[]): void {
  const order = Array.from(
    { length: Math.max(0, area.endRow - area.startRow) },
    (_, down) => area.startRow + down,
  );
  order.sort((one, other) => {
    for (const { column, isDescending } of keys) {
      const difference = compareCells(cellAt(sheet, one, column), cellAt(sheet, other, column), isDescending);
      if (difference !== 0) return difference;
    }
    return one - other;
  });
  orderRows(draft, sheet, area, order);
}

/**
 * Puts the rows of a rectangle into another order: `order` names them from the top down by their indexes now. The metadata of a row goes
 * where its cells go, however few of them are sorted.
 */
export function orderRows(draft: Spreadsheet, sheet: Sheet, area: Area, order: readonly number[]): void {
  const { startRow: start, startColumn: from, endColumn: to } = area;
  const block = order.flatMap((row) => cellsIn(sheet, { ...area, startRow: row, endRow: row + 1 }));
  putCells(sheet, start, from, block);
  if (draft.choices.sortedRowMetadata === 'follows') {
    const newIndexes = new Map(order.map((row, offset) => [row, start + offset]));
    moveMetadata(draft, sheet, 'ROWS', (index) => newIndexes.get(index) ?? index);
  }
  const isWhole = from === 0 && to >= sizeOf(sheet).columnCount;
  const move = { kind: 'sort', dimension: 'ROWS', start, order } as const;
  sheet.moves = [...sheet.moves, isWhole ? move : { ...move, columns: { from, to } }];
}

function compareCells(one: Cell | undefined, other: Cell | undefined, isDescending: boolean): number {
  const [first, second] = [sortRank(one), sortRank(other)];
  if (!first || !second) return Number(!first) - Number(!second);
  const difference = first.rank - second.rank || compareWithin(first.value, second.value);
  return isDescending ? -difference : difference;
}

function compareWithin(one: number | string, other: number | string): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one).localeCompare(String(other), 'en', { sensitivity: 'base' });
}

function sortRank(cell: Cell | undefined): { rank: number; value: number | string } | undefined {
  const value = effectiveValue(cell);
  if (!value) return undefined;
  if ('numberValue' in value) return { rank: 0, value: value.numberValue };
  if ('stringValue' in value) return { rank: 1, value: value.stringValue };
  if ('boolValue' in value) return { rank: 2, value: Number(value.boolValue) };
  return { rank: 3, value: value.errorValue.type };
}
