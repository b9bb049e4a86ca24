import { cellAt, type Rows } from './grid.ts';

/** The IDs of a tab by row, as far as they are plain numbers; NaN for all others. To look through them touches no row. */
export interface IdNumbers {
  readonly rows: Rows;
  readonly column: number;
  readonly numbers: Float64Array;
}

/** Reads the IDs of rows that are not as they were read `before`. */
export function readIdNumbers(rows: Rows, column: number, before?: IdNumbers): IdNumbers {
  const isOfSameSize = before?.column === column && before.rows.length === rows.length;
  if (isOfSameSize && before.rows === rows) return before;
  const numbers = isOfSameSize ? before.numbers.slice() : new Float64Array(rows.length);
  for (let row = 0; row < rows.length; row += 1)
    if (!isOfSameSize || before.rows[row] !== rows[row]) numbers[row] = numberAt(rows, row, column);
  return { rows, column, numbers };
}

function numberAt(rows: Rows, row: number, column: number): number {
  const cell = cellAt(rows, row, column);
  return cell.kind === 'number' && cell.shown === undefined ? cell.number : Number.NaN;
}
