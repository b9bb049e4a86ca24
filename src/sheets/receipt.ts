import { bareCell, type Cell, emptyCell, equalCells } from '../core/cell.ts';
import type { SetStep, WriteReceipt } from '../core/table.ts';
import { cellAt, cellFields } from './grid.ts';
import type { BoundTab } from './read.ts';
import type { TabSteps } from './steps.ts';

/** Field mask of what the reply of a write must bring: the ID column and the header row. */
export const receiptFields = `sheets(properties.sheetId,data(startRow,startColumn,rowData.values(${cellFields})))`;

/** What stood in a tab right after a write. */
export interface ReadBack {
  /** The ID column by grid row; `ids[0]` is its header. */
  readonly ids: readonly Cell[];
  readonly headers: readonly Cell[];
}

/** What one batch meant to do to one tab. */
export interface TabWrite {
  readonly before: BoundTab;
  /** The tab as it stands afterwards if nobody else changed it. */
  readonly after: BoundTab;
  readonly steps: TabSteps;
}

/** What a read-back shows. */
export interface WriteCheck extends WriteReceipt {
  /** The header row is another than before, so that no cell of the tab surely reached its column. */
  readonly haveColumnsMoved: boolean;
}

/**
 * Compares what stands in a tab after a write with what must stand there if nobody else moved rows. A set
 * that leaves the ID alone is judged by the ID beside it. One that writes the ID itself would always find its
 * own, so that it is judged by traces: the old ID is still somewhere, or another one is gone that nobody
 * meant to remove and no delete can have taken. That one is what it hit.
 */
export function checkWrite(
  { before, after, steps }: TabWrite,
  { ids: idsRead, headers }: ReadBack,
): WriteCheck {
  const ids = idsRead.map(bareCell);
  const expected = after.rows.map((_, row) => bareCell(cellAt(after.rows, row, after.columns.id)));
  const lost = withoutEach(expected, ids);
  const surplus = withoutEach(ids, expected);
  const isSurplus = (id: Cell) => surplus.some((cell) => equalCells(cell, id));
  const astray = steps.deletes.filter((step) => isSurplus(step.idSeen));
  const haveColumnsMoved = !equalRows(headers, before.rows[0] ?? []);

  const idHit = (step: SetStep): Cell | undefined => {
    const moved = steps.deletes.filter((gone) => gone.position < step.position).length;
    const found = ids[step.position - moved] ?? emptyCell;
    if (!step.id) return haveColumnsMoved || !equalCells(found, step.idSeen) ? found : undefined;
    const isMisplaced = haveColumnsMoved || lost.length > astray.length || isSurplus(step.idSeen);
    return isMisplaced ? (lost.shift() ?? emptyCell) : undefined;
  };

  const misplaced = steps.sets.flatMap((step) => {
    const idFound = idHit(step);
    return idFound ? [{ step, idFound }] : [];
  });
  return { misplaced, astray, haveColumnsMoved };
}

function equalRows(left: readonly Cell[], right: readonly Cell[]): boolean {
  const length = Math.max(left.length, right.length);
  return Array.from({ length }, (_, index) => index).every((index) =>
    equalCells(left[index] ?? emptyCell, right[index] ?? emptyCell),
  );
}

/** The filled cells of a list without those of another, one for one, in order. */
function withoutEach(cells: readonly Cell[], others: readonly Cell[]): Cell[] {
  const counts = new Map<string, number>();
  for (const other of others) {
    const key = JSON.stringify(other);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return cells.filter((cell) => {
    if (cell.kind === 'empty') return false;
    const key = JSON.stringify(cell);
    const count = counts.get(key) ?? 0;
    counts.set(key, count - 1);
    return count <= 0;
  });
}
