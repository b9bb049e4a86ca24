/** Google's GridRange: zero based, half open, an absent end means "to the edge". */
export type GridRange = {
  sheetId?: number | undefined;
  startRowIndex?: number | undefined;
  endRowIndex?: number | undefined;
  startColumnIndex?: number | undefined;
  endColumnIndex?: number | undefined;
};

/** A rectangle of cells with all four sides known, half open. */
export interface Area {
  startRow: number;
  endRow: number;
  startColumn: number;
  endColumn: number;
}

export interface GridSize {
  rowCount: number;
  columnCount: number;
}

/** The rectangle a range covers in a grid of that size; it may be empty or begin outside. */
export function areaOf(range: GridRange, size: GridSize): Area {
  return {
    startRow: range.startRowIndex ?? 0,
    endRow: Math.min(range.endRowIndex ?? size.rowCount, size.rowCount),
    startColumn: range.startColumnIndex ?? 0,
    endColumn: Math.min(range.endColumnIndex ?? size.columnCount, size.columnCount),
  };
}

export function beginsOutside(range: GridRange, size: GridSize): boolean {
  return (range.startRowIndex ?? 0) >= size.rowCount || (range.startColumnIndex ?? 0) >= size.columnCount;
}

export function rangeOf(sheetId: number, area: Area): GridRange {
  return {
    sheetId,
    startRowIndex: area.startRow,
    endRowIndex: area.endRow,
    startColumnIndex: area.startColumn,
    endColumnIndex: area.endColumn,
  };
}

export function areaAt(row: number, column: number, height: number, width: number): Area {
  return { startRow: row, endRow: row + height, startColumn: column, endColumn: column + width };
}

export function areasOverlap(one: Area, other: Area): boolean {
  return (
    one.startRow < other.endRow &&
    other.startRow < one.endRow &&
    one.startColumn < other.endColumn &&
    other.startColumn < one.endColumn
  );
}

/** The positions of a rectangle, row by row. */
export function* cellsOf(area: Area): Generator<{ row: number; column: number }> {
  for (let row = area.startRow; row < area.endRow; row += 1) {
    for (let column = area.startColumn; column < area.endColumn; column += 1) yield { row, column };
  }
}
