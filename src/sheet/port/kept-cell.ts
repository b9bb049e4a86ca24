import { bareCell, type Cell, emptyCell, equalCells, isComputed, isSpilled, isUnfilled } from './cell.ts';

const withoutTick = (cell: Cell): Cell => (isUnfilled(cell) ? emptyCell : cell);

/**
 * Whether a cell that a table kept as a copy may be the one that was read. A formula moved when it was copied, a number lost its format,
 * and a checkbox that nobody has ticked counts for nothing.
 */
export function isSameKept(read: Cell = emptyCell, kept: Cell = emptyCell): boolean {
  // Whether a copy of a smart chip is one, or a text, no document says.
  if (read.kind === 'chip') return kept.kind !== 'empty';
  // What an array formula fills in is not copied with its cell.
  if (isComputed(read)) return isComputed(kept) || isSpilled(read);
  return equalCells(withoutTick(bareCell(read)), withoutTick(bareCell(kept)));
}
