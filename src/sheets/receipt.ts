import { bareCell, type Cell, emptyCell, equalCells } from '../core/cell.ts';
import type { SetStep, WriteReceipt } from '../core/table.ts';
import { cellAt, cellFields } from './grid.ts';
import type { BoundTab } from './read.ts';
import { placeCells, type TabSteps } from './steps.ts';

/** Field mask of what the reply of a write must bring: the ID column, the header row, and rows whose ID was written. */
export const receiptFields = `sheets(properties.sheetId,data(startRow,startColumn,rowData.values(${cellFields})))`;

/** What stood in a tab right after a write. */
export interface ReadBack {
  /** The ID column by grid row; `ids[0]` is its header. */
  readonly ids: readonly Cell[];
  readonly headers: readonly Cell[];
  /** By grid row, the rows that {@link rowsToReadBack} names. */
  readonly rows: ReadonlyMap<number, readonly Cell[]>;
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
 * own, so that it is judged by the rest of the row: that tells which row it was. Where somebody changed the row
 * in the same moment only traces are left: the old ID is still somewhere, or another one is gone, which also
 * a person may have deleted. Then nobody knows which row was hit.
 */
export function checkWrite(write: TabWrite, { ids: idsRead, headers, rows }: ReadBack): WriteCheck {
  const { before, after, steps } = write;
  const ids = idsRead.map(bareCell);
  const expected = after.rows.map((_, row) => bareCell(cellAt(after.rows, row, after.columns.id)));
  const lost = withoutEach(expected, ids);
  const surplus = withoutEach(ids, expected);
  const isSurplus = (id: Cell) => surplus.some((cell) => equalCells(cell, id));
  const astray = steps.deletes.filter((step) => isSurplus(step.idSeen));
  const haveColumnsMoved = !equalRows(headers, before.rows[0] ?? []);

  const idHit = (step: SetStep): Cell | undefined => {
    const row = rowAfter(steps, step);
    const found = ids[row] ?? emptyCell;
    if (!step.id) return haveColumnsMoved || !equalCells(found, step.idSeen) ? found : undefined;
    const position = haveColumnsMoved ? undefined : findFormer(write, step, rows.get(row) ?? []);
    if (position === step.position) return undefined;
    if (position !== undefined) return bareCell(cellAt(before.rows, position, before.columns.id));
    return lost.length > astray.length || isSurplus(step.idSeen) ? emptyCell : undefined;
  };

  const misplaced = steps.sets.flatMap((step) => {
    const idFound = idHit(step);
    return idFound ? [{ step, idFound }] : [];
  });
  return { misplaced, astray, overtyped: [], haveColumnsMoved };
}

/** Where the row of a set stands after the write. */
const rowAfter = ({ deletes }: TabSteps, { position }: SetStep): number =>
  position - deletes.filter((gone) => gone.position < position).length;

/** Grid rows that have to be read back whole. */
export const rowsToReadBack = (steps: TabSteps): number[] =>
  steps.sets.filter(({ id }) => id !== undefined).map((step) => rowAfter(steps, step));

/**
 * Where the row that a set reached stood before: the row that is most like it in the cells that the set left alone, because somebody may
 * have changed one of them in the same moment; its own place where that may be, `undefined` where nothing tells.
 */
function findFormer({ before }: TabWrite, step: SetStep, found: readonly Cell[]): number | undefined {
  const written = new Set(placeCells(step, before.columns).map(({ column }) => column));
  const likeness = (row: readonly Cell[]) =>
    found.filter(
      (cell, column) =>
        cell.kind !== 'empty' && !written.has(column) && equalCells(cell, row[column] ?? emptyCell),
    ).length;
  const positions = [step.position, ...before.rows.keys()].filter((position) => position > 0);
  const likenesses = positions.map((position) => likeness(before.rows[position] ?? []));
  const most = Math.max(...likenesses);
  return most > 0 ? positions[likenesses.indexOf(most)] : undefined;
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
