import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { type Cell, emptyCell, equalCells } from '../core/cell.ts';
import { SyncError } from '../core/errors.ts';
import type { Request } from './client.ts';
import type { ManagedColumn, ManagedColumns } from './columns.ts';
import { cellAt } from './grid.ts';
import { type BoundTab, endOfRows } from './read.ts';
import type { TabWrite } from './receipt.ts';
import { placeCells } from './steps.ts';
import { enteredValue } from './write.ts';

/** The same write under the columns as they stand now, and the requests that make it true. */
export interface RealignedWrite extends TabWrite {
  readonly requests: readonly Request[];
}

/**
 * Mends a write whose columns a person moved in the same moment: cells that were hit in other columns get
 * back what stood there, and the values go under their own headers. A column is known again by its header;
 * what a column without one held is not known, so that a cell that was hit there becomes empty. Fails with
 * SHEET_UNREACHABLE when the ID column is gone: the next read tells people.
 */
export function realign(write: TabWrite, headers: readonly Cell[]): RealignedWrite {
  const oldIndexes = findOldIndexes(write.before.rows[0] ?? [], headers);
  const columns = moveColumns(write.before.columns, oldIndexes);
  if (!columns) {
    throw new SyncError(
      'SHEET_UNREACHABLE',
      `“${write.before.title}” lost its ID column while it was written.`,
    );
  }
  const move = (tab: BoundTab): BoundTab => ({
    ...tab,
    columns,
    rows: [headers, ...tab.rows.slice(1).map((row) => oldIndexes.map((index) => row[index] ?? emptyCell))],
  });
  const after = move(write.after);
  const requests = hitCells(write).flatMap(({ row, column }) =>
    [...new Set([column, oldIndexes.indexOf(column)])]
      .filter((index) => index >= 0)
      .map((index) => restoreCell(after, row, index)),
  );
  return { ...write, before: move(write.before), after, requests };
}

/**
 * Where each column stood before; -1 for a new one. A header that is new where another one vanished was only
 * rewritten.
 */
function findOldIndexes(oldHeaders: readonly Cell[], headers: readonly Cell[]): number[] {
  const indexIn = (list: readonly Cell[], header: Cell | undefined) =>
    header && header.kind !== 'empty' ? list.findIndex((candidate) => equalCells(candidate, header)) : -1;
  return headers.map((header, index) => {
    const oldIndex = indexIn(oldHeaders, header);
    const isRewritten = oldIndex < 0 && index < oldHeaders.length && indexIn(headers, oldHeaders[index]) < 0;
    return isRewritten ? index : oldIndex;
  });
}

function moveColumns(columns: ManagedColumns, oldIndexes: readonly number[]): ManagedColumns | undefined {
  const found = (index: number | undefined) => {
    const moved = index === undefined ? -1 : oldIndexes.indexOf(index);
    return moved < 0 ? undefined : moved;
  };
  const id = found(columns.id);
  if (id === undefined) return undefined;
  const fields = [...columns.fields].flatMap(([field, column]): [string, ManagedColumn][] => {
    const moved = found(column.index);
    return moved === undefined ? [] : [[field, { ...column, index: moved }]];
  });
  return { id, sync: found(columns.sync), fields: new Map(fields) };
}

/** The cells that a write reached, by their row after it and by the column that was meant. */
function hitCells({ before, steps }: TabWrite): { row: number; column: number }[] {
  const end = endOfRows(before.rows, before.columns);
  const rowAfter = (position: number) =>
    position - steps.deletes.filter((step) => step.position < position).length;
  const written = [
    ...steps.sets.map((step) => ({ step, row: rowAfter(step.position) })),
    ...steps.appends.map((step, index) => ({ step, row: rowAfter(end + index) })),
  ];
  return written.flatMap(({ step, row }) =>
    placeCells(step, before.columns).map(({ column }) => ({ row, column })),
  );
}

const restoreCell = ({ sheetId, rows }: BoundTab, row: number, column: number): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: row, columnIndex: column },
    rows: [{ values: [restoredValue(cellAt(rows, row, column))] }],
    fields: 'userEnteredValue',
  },
});

/** Of an error that no formula shows only the message is known, and that is no value. */
const restoredValue = (cell: Cell): sheets_v4.Schema$CellData =>
  cell.kind === 'error' && cell.formula === undefined ? {} : enteredValue(cell);
