import type { FieldKind } from '../../core/fields/field-kind.ts';
import { idHeader, syncHeader } from '../../core/fields/headers.ts';
import {
  type Cell,
  describeCell,
  emptyCell,
  equalCells,
  isComputed,
  isSameKept,
} from '../../sheet/port/cell.ts';
import type { Damage } from '../../sheet/port/damage.ts';
import { type TabKind, tabKinds } from '../../sheet/port/layout.ts';
import type { AppendStep, RowCells, RowStep, SetStep } from '../../sheet/port/table.ts';
import { type ColumnIndexes, placesFromLeft, placesOf } from '../columns.ts';
import { afterSteps, type Rows } from '../grid.ts';
import { readIdNumbers } from '../id-numbers.ts';
import { mapKnown } from '../map-known.ts';
import { type BoundTab, endOfRows } from '../read.ts';

/** The cells of a grid row by column; what is missing at the end is empty. */
export type Row = readonly Cell[];

/** The tabs as they were read. */
export type Tabs = ReadonlyMap<TabKind, BoundTab>;

/** One cell to be written, by its grid column. `kind` is absent for cells that carry no field. */
export interface PlacedCell {
  readonly column: number;
  readonly cell: Cell;
  readonly kind?: FieldKind;
  /** The row of the hidden tab that keeps it with its formula and its format, and its column there; absent where no copy of it was made. */
  readonly from?: { readonly row: number; readonly column: number };
}

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
  /** The dropdown of one of its cells, by its grid column. */
  readonly choices?: { readonly column: number; readonly labels: readonly string[] };
  /** Of a delete: the row stays if users wrote into columns of their own since. */
  readonly sparesOwn?: true;
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

/** `hasDeletes`: something is deleted in the tab. */
export const planTab = (
  { columns, hiddenRows, rows, sheetId }: BoundTab,
  hasDeletes = false,
): PlannedTab => ({
  sheetId,
  headers: rows[0] ?? [],
  columns,
  hiddenRows,
  end: endOfRows(rows, columns),
  ...(hasDeletes ? { unseen: [...hiddenRows].map((row) => rows[row] ?? []) } : {}),
});

/** The steps as they reach the tabs that were read. */
export function planSteps(steps: readonly RowStep[], tabs: Tabs): PlannedStep[] {
  const sharedIds = mapKnown(tabs, (tab, entity) => findShared(steps, entity, tab));
  return steps.map((step, number) => {
    const { entity, kind } = step;
    const tab = tabs.get(entity);
    if (!tab) throw new Error(`The tab of ${entity} was written without a read before it.`);
    if (kind === 'append')
      return {
        number,
        kind,
        entity,
        position: -1,
        placed: placeAll(tab, step),
        read: [],
        ...placeChoices(tab, step),
      };
    const { position } = step;
    const read = tab.rows[position] ?? [];
    const isShared = sharedIds.get(entity)?.has(idOf(read, tab)) ?? false;
    const placed = kind === 'set' ? placeAll(tab, step, read) : [];
    const sparesOwn = kind === 'delete' && step.sparesOwn ? { sparesOwn: true as const } : {};
    return { number, kind, entity, position, placed, read, ...(isShared ? { isShared } : {}), ...sparesOwn };
  });
}

const idOf = (row: Row, { columns }: BoundTab): string => describeCell(row[columns.id] ?? emptyCell);

/** The new rows of records that the tabs do not show. A row without an ID is never known again, and a question comes once more by itself. */
export function findAwaited(batch: Batch, added: readonly PlannedStep[], tabs: Tabs): PlannedStep[] {
  if (added.length === 0) return [];
  const shown = mapKnown(tabs, (tab) => new Set(tab.rows.map((row) => idOf(row, tab))));
  return added.filter(({ entity, placed }) => {
    const id = placed.find(({ column }) => column === batch.tabs.get(entity)?.columns.id)?.cell;
    return entity !== 'question' && id !== undefined && !shown.get(entity)?.has(describeCell(id));
  });
}

/** The IDs of rows that steps reach in a tab, where other rows show the same ID. */
function findShared(steps: readonly RowStep[], entity: TabKind, tab: BoundTab): ReadonlySet<string> {
  const reached = steps.flatMap((step) =>
    step.kind === 'append' || step.entity !== entity ? [] : [idOf(tab.rows[step.position] ?? [], tab)],
  );
  const counts = new Map(reached.map((id) => [id, 0]));
  const numbers = new Set(reached.map(Number));
  const { numbers: ids } = readIdNumbers(tab.rows, tab.columns.id, tab.ids);
  for (let row = 1; counts.size > 0 && row < tab.rows.length; row += 1) {
    const number = ids[row] ?? Number.NaN;
    if (!Number.isNaN(number) && !numbers.has(number)) continue;
    const cell = tab.rows[row]?.[tab.columns.id] ?? emptyCell;
    const id = describeCell(cell);
    const count = counts.get(id);
    if (count !== undefined) counts.set(id, count + 1);
  }
  return new Set(reached.filter((id) => (counts.get(id) ?? 0) > 1));
}

/** A step with own cells restores what a question named: formulas, which are right in their copies alone, are left to the user. */
function placeAll(tab: BoundTab, step: SetStep | AppendStep, read: Row = []): PlacedCell[] {
  const cells = placeCells(step, tab.columns);
  if (!step.own) return cells;
  return fromLeft([...cells.filter(({ cell }) => !isComputed(cell)), ...placeOwnCells(step.own, tab, read)]);
}

function placeChoices({ columns }: BoundTab, { choices }: AppendStep): Pick<PlannedStep, 'choices'> {
  if (!choices) return {};
  const column = columns.fields.get(choices.field)?.index;
  return column === undefined ? {} : { choices: { column, labels: choices.labels } };
}

/**
 * The managed cells of a row by grid column, from left to right. A cell whose column was not found cannot be
 * written.
 */
export function placeCells({ id, sync, cells }: RowCells, columns: ColumnIndexes): PlacedCell[] {
  const named: Readonly<Record<string, Cell>> = {
    ...(id && { [idHeader]: id }),
    ...(sync && { [syncHeader]: sync }),
    ...cells,
  };
  const placed: PlacedCell[] = [];
  for (const [name, column] of placesFromLeft(columns)) {
    const [cell, kind] = [named[name], columns.fields.get(name)?.kind];
    if (cell) placed.push({ column, cell, ...(kind && { kind }) });
  }
  const names = Object.keys(named);
  if (placed.length === names.length) return placed;
  const places = placesOf(columns);
  const lost = names.filter((name) => !places.has(name)).join(', ');
  throw new Error(`The column of ${lost} was not in the last read; its cell was written.`);
}

/** Cells as a row has them. */
export const fromLeft = (placed: readonly PlacedCell[]): PlacedCell[] =>
  placed.toSorted((one, other) => one.column - other.column);

/**
 * Users' own cells that are given back, each under the one column with its header, where the row still shows what was written. Formulas,
 * which are right in their copies alone, are left out.
 */
function placeOwnCells(
  own: Damage['own'],
  { rows: [headers = []] }: Pick<BoundTab, 'rows'>,
  row: readonly Cell[],
): PlacedCell[] {
  const texts = headers.map(describeCell);
  return Object.entries(own).flatMap(([header, { before, written }]): PlacedCell | [] => {
    const column = texts.indexOf(header);
    const isOnly = column >= 0 && texts.lastIndexOf(header) === column;
    return isOnly && !isComputed(before) && isSameKept(row[column], written) ? { column, cell: before } : [];
  });
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

/**
 * The steps of one tab by kind. They are applied in this order, so that no step moves a row that a later one
 * names.
 */
export interface TabSteps {
  readonly sets: readonly PlannedStep[];
  readonly appends: readonly PlannedStep[];
  /** From the bottom to the top. */
  readonly deletes: readonly PlannedStep[];
}

export function sortSteps(steps: readonly PlannedStep[]): TabSteps {
  return {
    sets: steps.filter((step) => step.kind === 'set').toSorted((one, other) => one.position - other.position),
    appends: steps.filter((step) => step.kind === 'append'),
    deletes: steps
      .filter((step) => step.kind === 'delete')
      .toSorted((one, other) => other.position - one.position),
  };
}

/** How many rows a tab has of which so many are `left`: where none is but the header and what is frozen, a blank one is added. */
export const rowsAfter = ({ frozenRows = 0, rowCount }: BoundTab, left: number): number =>
  left < Math.min(rowCount, Math.max(frozenRows, 1) + 1) ? left + 1 : left;

/** Where rows are once some rows of the tab are deleted; deleted ones are left out. */
function withoutRows(rows: readonly number[], deletes: readonly PlannedStep[]): ReadonlySet<number> {
  const gone = deletes.map(({ position }) => position).toSorted((one, other) => one - other);
  const left = new Set<number>();
  let above = 0;
  for (const row of rows.toSorted((one, other) => one - other)) {
    while ((gone[above] ?? row) < row) above += 1;
    if (gone[above] !== row) left.add(row - above);
  }
  return left;
}

/** The tab as it is after the steps, if no user changed it. */
export function applySteps(tab: BoundTab, { sets, appends, deletes }: TabSteps): BoundTab {
  const rows = [...tab.rows];
  for (const { placed, position } of sets) {
    while (rows.length <= position) rows.push([]);
    rows[position] = overlay(rows[position] ?? [], placed);
  }
  const end = endOfRows(tab.rows, tab.columns);
  rows.splice(end, 0, ...appends.map(({ placed }) => overlay([], placed)));
  const hidden = [...tab.hiddenRows].map((row) => (row < end ? row : row + appends.length));
  for (const { position } of deletes) rows.splice(position, 1);
  const left = tab.rowCount + appends.length - deletes.length;
  const added = { at: end, count: appends.length, isOutside: tab.tableGrowth === 'never' };
  const deleted = deletes.map(({ position }) => position);
  return {
    ...tab,
    rows,
    hiddenRows: withoutRows(hidden, deletes),
    tables: tab.tables.map((area) => afterSteps(area, added, deleted)),
    typed: tab.typed.map((column) => afterSteps(column, added, deleted)),
    rowCount: rowsAfter(tab, left),
  };
}
