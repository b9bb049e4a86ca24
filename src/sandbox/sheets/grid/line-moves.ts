const AXES = { ROWS: 'row', COLUMNS: 'column' } as const;

type Dimension = keyof typeof AXES;

/**
 * One change of where the rows or columns of a tab stand. Every tab keeps all of them in order, so that a place that
 * somebody saw earlier can be found again: in a real sheet, too, an edit reaches the cell the person looked at.
 */
export type LineMove =
  | { kind: 'insert'; dimension: Dimension; start: number; count: number }
  | { kind: 'delete'; dimension: Dimension; start: number; count: number }
  /** Brings back, by undo, what the deletion `of` had taken away. */
  | { kind: 'restore'; dimension: Dimension; start: number; count: number; of: LineMove }
  /** Whole lines: `order[n]` is the index of the line that stands at `start + n` now. */
  | { kind: 'move'; dimension: Dimension; start: number; order: readonly number[] }
  /** The same for the cells of rows, of all columns or of some. */
  | { kind: 'sort'; dimension: 'ROWS'; start: number; order: readonly number[]; columns?: Columns };

interface Columns {
  from: number;
  to: number;
}

/** A cell, or a whole row or column where the other index is missing. */
export interface Place {
  row?: number;
  column?: number;
}

/** Where an index is now; `takenBy` is the deletion that took it away, `index` its place among the deleted lines. */
interface Line {
  index: number;
  takenBy?: LineMove;
}

/** Where a place is after the moves; undefined when its row or column is deleted. */
export function followMoves(place: Place, moves: readonly LineMove[]): Place | undefined {
  const lines: { row?: Line; column?: Line } = {
    ...(place.row !== undefined && { row: { index: place.row } }),
    ...(place.column !== undefined && { column: { index: place.column } }),
  };
  for (const move of moves) {
    const axis = AXES[move.dimension];
    const line = lines[axis];
    if (line && reaches(move, lines.column)) lines[axis] = followMove(line, move);
  }
  if (lines.row?.takenBy || lines.column?.takenBy) return undefined;
  return {
    ...(lines.row && { row: lines.row.index }),
    ...(lines.column && { column: lines.column.index }),
  };
}

/** A sort of some columns moves their cells and neither the cells beside them nor whole rows. */
function reaches(move: LineMove, column: Line | undefined): boolean {
  if (move.kind !== 'sort' || !move.columns) return true;
  if (!column || column.takenBy) return false;
  return column.index >= move.columns.from && column.index < move.columns.to;
}

function followMove(line: Line, move: LineMove): Line {
  if (line.takenBy) {
    const isBack = move.kind === 'restore' && move.of === line.takenBy;
    return isBack ? { index: move.start + line.index } : line;
  }
  const { index } = line;
  if (index < move.start) return line;
  if (move.kind === 'move' || move.kind === 'sort') {
    const position = move.order.indexOf(index);
    return position < 0 ? line : { index: move.start + position };
  }
  if (move.kind !== 'delete') return { index: index + move.count };
  const isTaken = index < move.start + move.count;
  return isTaken ? { index: index - move.start, takenBy: move } : { index: index - move.count };
}
