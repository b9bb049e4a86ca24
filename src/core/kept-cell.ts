import {
  bareCell,
  type Cell,
  describeCell,
  emptyCell,
  equalCells,
  isComputed,
  isSpilled,
  isUnfilled,
} from './cell.ts';

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

/** One text for all cells that count as the same, to find one of many by. */
export function keptText(cell: Cell): string {
  if (isComputed(cell)) return 'computed';
  const bare = withoutTick(bareCell(cell));
  return `${bare.kind} ${describeCell(bare)}`;
}

/** Whether more than half of what stood in the cells of a row as it was read stands in those of another one. */
export function isMostlyAlike(
  read: Readonly<Record<string, Cell>>,
  other: Readonly<Record<string, Cell>>,
): boolean {
  const filled = Object.entries(read).filter(([, cell]) => !isUnfilled(cell));
  const same = filled.filter(([name, cell]) => isSameKept(cell, other[name]));
  return same.length > filled.length / 2;
}
