import { type Cell, describeCell, emptyCell, equalCells, isComputed } from '../../sheet/port/cell.ts';
import { isSameKept } from '../../sheet/port/kept-cell.ts';
import { type TabKind, tabKinds } from '../../sheet/port/layout.ts';
import type { AppendStep, RowStep, SetStep } from '../../sheet/port/table.ts';
import type { ColumnIndexes } from '../columns.ts';
import { cellAt, type Rows } from '../grid.ts';
import { type BoundTab, endOfRows } from '../read.ts';
import { type PlacedCell, placeCells, placeOwnCells } from './placed-cells.ts';

/** The cells of a grid row by column; what is missing at the end is empty. */
export type Row = readonly Cell[];

/** The tabs as they were read. */
export type Tabs = ReadonlyMap<TabKind, BoundTab>;

/** A step in the terms of the grid, so that nothing else has to be known to judge and to undo it. */
export interface PlannedStep {
  readonly number: number;
  readonly kind: RowStep['kind'];
  readonly entity: TabKind;
  /** Zero-based grid row; -1 for a new one. */
  readonly position: number;
  /** From left to right; none for a delete. */
  readonly placed: readonly PlacedCell[];
  /** The row as it was read; empty for a new one. */
  readonly read: Row;
  /** Other rows showed the same ID, so that it does not say which of them was meant. */
  readonly isShared?: true;
  /** It gives back what was there, formulas and formats included. */
  readonly restores?: true;
}

/** A tab as it was read, as far as judging a write needs it. */
export interface PlannedTab {
  readonly sheetId: number;
  readonly headers: Row;
  readonly columns: ColumnIndexes;
  readonly hiddenRows: ReadonlySet<number>;
  /** Where new rows are inserted. */
  readonly end: number;
  /** Rows that a filter hid: of one that a delete takes by mistake no copy can be made. Absent where nothing is deleted. */
  readonly unseen?: Rows;
}

/** Steps that are sent together, and what of the hidden tab is theirs. */
export interface Batch {
  /** Marks its rows of the hidden tab. */
  readonly run: string;
  /** Its first row of the hidden tab: a header row for each of {@link tabKinds}, then one row for each step to a row that is there. */
  readonly from: number;
  readonly steps: readonly PlannedStep[];
  readonly tabs: ReadonlyMap<TabKind, PlannedTab>;
}

/** The steps that reach a row which is there already, in the order in which the hidden tab keeps their rows. */
const keptSteps = ({ steps }: Pick<Batch, 'steps'>): readonly PlannedStep[] =>
  steps.filter(({ kind }) => kind !== 'append');

/** By the number of each step, the row of the hidden tab that keeps what it reaches. */
export const keptRows = (batch: Batch): ReadonlyMap<number, number> =>
  new Map(keptSteps(batch).map(({ number }, slot) => [number, batch.from + tabKinds.length + slot]));

/** The first row of the hidden tab behind those of a batch. */
export const endOfBatch = (batch: Batch): number => batch.from + tabKinds.length + keptSteps(batch).length;

export const planTab = ({ columns, hiddenRows, rows, sheetId }: BoundTab): PlannedTab => ({
  sheetId,
  headers: rows[0] ?? [],
  columns,
  hiddenRows,
  end: endOfRows(rows, columns),
});

export const withUnseen = (tab: BoundTab): PlannedTab => ({
  ...planTab(tab),
  unseen: [...tab.hiddenRows].map((row) => tab.rows[row] ?? []),
});

/** The steps as they reach the tabs that were read. */
export function planSteps(steps: readonly RowStep[], tabs: Tabs): PlannedStep[] {
  const counts = new Map([...tabs].map(([kind, tab]) => [kind, countIds(tab)]));
  return steps.map((step, number) => {
    const { entity, kind } = step;
    const tab = tabs.get(entity);
    if (!tab) throw new Error(`The tab of ${entity} was written without a read before it.`);
    if (kind === 'append')
      return { number, kind, entity, position: -1, placed: placeAll(tab, step), read: [] };
    const { position } = step;
    const read = tab.rows[position] ?? [];
    const id = describeCell(read[tab.columns.id] ?? emptyCell);
    const isShared = (counts.get(entity)?.get(id) ?? 0) > 1;
    const placed = kind === 'set' ? placeAll(tab, step, read) : [];
    return { number, kind, entity, position, placed, read, ...(isShared ? { isShared } : {}) };
  });
}

/** A step with own cells restores what a question named: formulas, which are right in their copies alone, are left to the user. */
function placeAll(tab: BoundTab, step: SetStep | AppendStep, read: Row = []): PlacedCell[] {
  const cells = placeCells(step, tab.columns);
  if (!step.own) return cells;
  return [...cells.filter(({ cell }) => !isComputed(cell)), ...placeOwnCells(step.own, tab, read)].toSorted(
    (one, other) => one.column - other.column,
  );
}

function countIds({ columns, rows }: BoundTab): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (let row = 1; row < rows.length; row += 1) {
    const id = describeCell(cellAt(rows, row, columns.id));
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** A row with what was placed into it. */
export function overlay(row: Row, placed: readonly PlacedCell[]): Row {
  const cells = [...row];
  for (const { cell, column } of placed) {
    while (cells.length < column) cells.push(emptyCell);
    cells[column] = cell;
  }
  return cells;
}

/** Whether both are the same ID. */
export const isSameId = (one: Cell, other: Cell): boolean => one.kind !== 'empty' && equalCells(one, other);

/** Whether two rows hold the same in all columns. */
export const isSameRow = (read: Row, other: Row): boolean =>
  Array.from({ length: Math.max(read.length, other.length) }, (_, column) =>
    isSameKept(read[column], other[column]),
  ).every(Boolean);

/** How many rows above the row of a step go in the same batch. */
export const deletedAbove = (steps: readonly PlannedStep[], { entity, position }: PlannedStep): number =>
  steps.filter((other) => other.kind === 'delete' && other.entity === entity && other.position < position)
    .length;
