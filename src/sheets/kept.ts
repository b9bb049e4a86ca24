import { bareCell, type Cell, describeCell, emptyCell, textCell } from '../core/cell.ts';
import { idHeader, syncHeader } from '../core/headers.ts';
import {
  type AppendStep,
  type ColumnPlaces,
  type Hit,
  isNewRecord,
  type KeptRow,
  type OtherCell,
  type PlannedPlace,
  type RowCells,
  type SetStep,
} from '../core/table.ts';
import type { FieldName } from '../core/value.ts';
import type { ColumnIndexes } from './columns.ts';
import type { Rows } from './grid.ts';
import { type PlannedTab, placeCells, placedCells } from './placed-cells.ts';

type Row = Rows[number];

/** Where the columns of a tab stood when a write reached it. */
export interface KeptColumns {
  readonly columns: ColumnIndexes;
  readonly headers: Row;
  /** Where each column stood when the tab was read; -1 for a new one. */
  readonly oldIndexes: readonly number[];
}

/**
 * Finds the columns of a tab, as it was read, under the header row that a write met; `undefined` where the ID column was gone, so that
 * nobody knows which rows the write reached.
 */
export function findKeptColumns(tab: PlannedTab, headers: Row): KeptColumns | undefined {
  const oldIndexes = findOldIndexes(tab.rows[0] ?? [], headers);
  const columns = moveColumns(tab.columns, oldIndexes);
  return columns && { columns, headers, oldIndexes };
}

/**
 * A column is known again by its header, one without a header by its place; of several with one header, as where somebody calls a managed
 * column like one of people's own, by their order. A header that is new where another one vanished was only rewritten, unless it stands above
 * another column too: then that may have been copied, and its copy stands where the other column was.
 */
function findOldIndexes(oldHeaders: Row, headers: Row): number[] {
  const [oldNames, names] = [nameHeaders(oldHeaders), nameHeaders(headers)];
  const hasNone = (list: readonly string[], index: number) => (list[index] ?? '') === '';
  const indexIn = (list: readonly string[], name = '') => (name === '' ? -1 : list.indexOf(name));
  // A row of headers ends with the last one: also behind it columns stood.
  return Array.from({ length: Math.max(headers.length, oldHeaders.length) }, (_, index) => {
    if (hasNone(names, index) && hasNone(oldNames, index)) return index;
    const oldIndex = indexIn(oldNames, names[index]);
    const isVanished = index < oldNames.length && indexIn(names, oldNames[index]) < 0;
    const isRewritten = oldIndex < 0 && isVanished && !isRepeated(names[index]);
    return isRewritten ? index : oldIndex;
  });
}

/** Whether another column with the header stands before the one with this name. */
const isRepeated = (name = ''): boolean => name !== '' && !name.startsWith('0 ');

/** A name for each header that no other one has, with how many others with its text stand before it, and an empty one where there is none. */
function nameHeaders(headers: Row): string[] {
  const counts = new Map<string, number>();
  return headers.map((header) => {
    if (header.kind === 'empty') return '';
    const text = JSON.stringify(bareCell(header));
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return `${count} ${text}`;
  });
}

function moveColumns(columns: ColumnIndexes, oldIndexes: readonly number[]): ColumnIndexes | undefined {
  const found = (index: number | undefined) => {
    const moved = index === undefined ? -1 : oldIndexes.indexOf(index);
    return moved < 0 ? undefined : moved;
  };
  const id = found(columns.id);
  if (id === undefined) return undefined;
  const fields = [...columns.fields].flatMap(([field, column]): [FieldName, { index: number }][] => {
    const moved = found(column.index);
    return moved === undefined ? [] : [[field, { ...column, index: moved }]];
  });
  return { id, sync: found(columns.sync), fields: new Map(fields) };
}

/** A row as a write found it, and the row of the hidden tab that keeps it, if one does. */
export function toKeptRow(met: KeptColumns, cells: Row, row?: number): KeptRow {
  const { columns } = met;
  const cellIn = (column: number | undefined) => bareCell(cells[column ?? -1] ?? emptyCell);
  return {
    id: cellIn(columns.id),
    sync: cellIn(columns.sync),
    cells: Object.fromEntries([...columns.fields].map(([field, { index }]) => [field, cellIn(index)])),
    place: {
      ...placeColumns(met, cells.length),
      ...(row === undefined ? {} : { row }),
      cells: cells.map(bareCell),
    },
  };
}

/** A row that no copy was made of, as it was read, under the columns that the write met. */
export function toReadRow(met: KeptColumns, read: Row): KeptRow {
  const { oldIndexes } = met;
  const width = Math.max(oldIndexes.length, read.length);
  const cells = Array.from({ length: width }, (_, index) => read[oldIndexes[index] ?? index] ?? emptyCell);
  return toKeptRow(met, cells);
}

/** The columns of a tab of which so many cells of a row are there. */
const placeColumns = (
  { columns, headers }: Pick<KeptColumns, 'columns' | 'headers'>,
  width: number,
): ColumnPlaces => ({
  headers: Array.from({ length: Math.max(headers.length, width) }, (_, column) => {
    const header = headers[column] ?? emptyCell;
    return header.kind === 'empty' ? '' : describeCell(header);
  }),
  columns: {
    ...Object.fromEntries([...columns.fields].map(([field, { index }]) => [field, index])),
    [idHeader]: columns.id,
    ...(columns.sync === undefined ? {} : { [syncHeader]: columns.sync }),
  },
});

/** Where the columns of a tab stand as it was read. */
const columnsOf = ({ columnCount, columns, rows }: PlannedTab): ColumnPlaces =>
  placeColumns({ columns, headers: rows[0] ?? [] }, columnCount);

/** What is to be known later of a tab as it was read. */
export const placesOf = (tab: PlannedTab): PlannedPlace => ({
  ...columnsOf(tab),
  ...(tab.hiddenRows.size > 0 ? { hiddenRows: [...tab.hiddenRows] } : {}),
});

/** The tab as it was planned from, as far as its header row and its columns tell. */
export function toPlannedTab({ headers, columns, hiddenRows }: PlannedPlace): PlannedTab {
  const { [idHeader]: id = -1, [syncHeader]: sync, ...fields } = columns;
  return {
    columnCount: headers.length,
    columns: {
      id,
      sync,
      fields: new Map(Object.entries(fields).map(([field, index]) => [field, { index }])),
    },
    rows: [headers.map((header) => (header === '' ? emptyCell : textCell(header)))],
    hiddenRows: new Set(hiddenRows),
  };
}

/** What a step hit, or `undefined` where all of its cells reached their columns. */
export function findHit(tab: PlannedTab, step: SetStep | AppendStep, met: KeptColumns): Hit | undefined {
  const { columns, oldIndexes } = met;
  const placed = placedCells(tab, step);
  const strayed = placed.filter(({ column }) => (oldIndexes[column] ?? column) !== column);
  if (strayed.length === 0) return undefined;
  // A row of ours that is new and lacks its ID is written anew where it stands; one that was to come back comes anew.
  const comesBack = step.kind === 'append' && step.place !== undefined;
  const isIdInPlace = !comesBack && step.id && !strayed.some(({ column }) => column === tab.columns.id);
  const hits = step.kind === 'append' && !isIdInPlace ? placed : strayed;
  const fields = new Map([...columns.fields].map(([field, { index }]) => [index, field]));
  const cells: Record<FieldName, Cell> = {};
  const others: OtherCell[] = [];
  const hit: { id?: Cell; sync?: Cell } = {};
  for (const { cell, column } of hits) {
    const field = fields.get(column);
    if (field !== undefined) cells[field] = cell;
    else if (column === columns.id) hit.id = cell;
    else if (column === columns.sync) hit.sync = cell;
    else others.push({ column, written: cell });
  }
  const width = Math.max(...placed.map(({ column }) => column + 1));
  const ownId = isIdInPlace ? { ownId: step.id } : {};
  const isWhole = isNewRecord(step) && !isIdInPlace;
  const planned = Object.entries(columnsOf(tab).columns);
  const names = strayed.flatMap(({ column }) => planned.find(([, index]) => index === column)?.[0] ?? []);
  return {
    cells,
    others,
    strayed: names,
    ...(isWhole ? { id: emptyCell } : {}),
    ...hit,
    ...ownId,
    place: { ...placeColumns(met, width), cells: isWhole ? wantedCells(step, columns) : [] },
  };
}

/** The cells of a new row as they were meant, by the columns that it met. */
function wantedCells({ cells, id, sync }: RowCells, columns: ColumnIndexes): readonly Cell[] {
  const found = Object.entries(cells).filter(([field]) => columns.fields.has(field));
  const wanted = {
    cells: Object.fromEntries(found),
    ...(id ? { id } : {}),
    ...(sync && columns.sync !== undefined ? { sync } : {}),
  };
  const placed = placeCells(wanted, columns);
  const width = Math.max(...placed.map(({ column }) => column + 1));
  return Array.from(
    { length: width },
    (_, index) => placed.find(({ column }) => column === index)?.cell ?? emptyCell,
  );
}
