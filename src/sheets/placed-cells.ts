import { bareCell, type Cell, describeCell, emptyCell } from '../core/cell.ts';
import { idHeader, syncHeader } from '../core/headers.ts';
import { isSameKept } from '../core/kept-cell.ts';
import type { AppendStep, KeptPlace, RowCells, SetStep } from '../core/table.ts';
import type { ColumnIndexes, ManagedColumn } from './columns.ts';
import { cellAt } from './grid.ts';
import type { BoundTab } from './read.ts';

/** A tab as it was read, as far as it tells where cells are written. */
export interface PlannedTab extends Pick<BoundTab, 'columnCount' | 'hiddenRows' | 'rows'> {
  readonly columns: ColumnIndexes;
}

/** One cell of a row that is written. `kind` is absent for the ID and the Sync cell. */
export interface PlacedCell {
  readonly column: number;
  readonly cell: Cell;
  readonly kind?: ManagedColumn['kind'];
}

/** A cell that is copied back, from its column in the kept row. */
export interface GivenCell extends PlacedCell {
  readonly from: number;
}

/** The cells that a step writes, or gives back from what is kept. */
export const placedCells = (tab: PlannedTab, step: SetStep | AppendStep): readonly PlacedCell[] =>
  step.place ? givenCells(tab, step) : placeCells(step, tab.columns);

/**
 * The cells of a row by grid column, from left to right. A cell whose column was not found can not be
 * written.
 */
export function placeCells({ id, sync, cells }: RowCells, columns: ColumnIndexes): PlacedCell[] {
  const placed: PlacedCell[] = [];
  if (id) placed.push({ column: columns.id, cell: id });
  if (sync) placed.push({ column: foundColumn(columns.sync, 'Sync'), cell: sync });
  for (const [field, cell] of Object.entries(cells)) {
    const column = columns.fields.get(field);
    placed.push({
      column: foundColumn(column?.index, field),
      cell,
      ...(column?.kind && { kind: column.kind }),
    });
  }
  return placed.toSorted((one, other) => one.column - other.column);
}

function foundColumn(index: number | undefined, name: string): number {
  if (index === undefined)
    throw new Error(`The column of ${name} was not in the last read; its cell was written.`);
  return index;
}

/** The cells that a step gives back from what is kept, by where they belong as the tab was read; none where it writes values instead. */
export function givenCells(tab: PlannedTab, step: SetStep | AppendStep): GivenCell[] {
  const { place } = step;
  if (!place) return [];
  if (step.kind === 'append') return givenRow(tab, place);
  const { cells, id, others = [], position, sync } = step;
  const names = [...Object.keys(cells), ...(id ? [idHeader] : []), ...(sync ? [syncHeader] : [])];
  const managed = names.flatMap((name) => place.columns[name] ?? []);
  const own = others.flatMap(({ column, written }) => {
    const [target] = findTargets(tab, place, [column]);
    const found = bareCell(cellAt(tab.rows, position, target?.column ?? -1));
    return isSameKept(found, written) ? [column] : [];
  });
  return findTargets(tab, place, [...managed, ...own]);
}

/**
 * All cells of a kept row. Where several would stand in one column, as since others with its header were deleted, the managed one does, or
 * the first that is not blank.
 */
function givenRow(tab: PlannedTab, place: KeptPlace): GivenCell[] {
  const managed = Object.values(place.columns);
  const filled = [...place.cells.keys()].filter((column) => place.cells[column]?.kind !== 'empty');
  const all = new Set([...managed, ...filled, ...place.headers.keys()]);
  const taken = new Set<number>();
  return findTargets(tab, place, [...all]).filter(({ column }) => {
    const isFirst = !taken.has(column);
    taken.add(column);
    return isFirst;
  });
}

/**
 * Where columns of a kept row stand now: managed ones by what they carry, others by their header, or by their place if they have none, or
 * one that is another since: somebody rewrote it, or a formula makes it.
 */
function findTargets(
  { columnCount, columns, rows }: PlannedTab,
  { cells, columns: keptColumns, headers }: KeptPlace,
  wanted: readonly number[],
): GivenCell[] {
  const fields = new Map(Object.entries(keptColumns).map(([field, column]) => [column, field]));
  const headersNow = (rows[0] ?? []).map((cell) => (cell.kind === 'empty' ? '' : describeCell(cell)));
  const isManagedNow = (column: number) =>
    [columns.id, columns.sync].includes(column) ||
    [...columns.fields.values()].some(({ index }) => index === column);
  const targetOf = (column: number): number => {
    const field = fields.get(column);
    if (field === idHeader) return columns.id;
    if (field === syncHeader) return columns.sync ?? -1;
    if (field !== undefined) return columns.fields.get(field)?.index ?? -1;
    const header = headers[column] ?? '';
    const now = headersNow[column] ?? '';
    const isRewritten = now !== '' && !headers.includes(now);
    const places = header === '' ? [] : placesOf(headersNow, header);
    // Of several columns with one header each is known by its order; where some of them were deleted since, the last one is taken, but not
    // for a column that has another header now: the one it had may have been pasted over its own, and that undone.
    const nth = places[placesOf(headers.slice(0, column), header).length];
    const place = nth ?? (isRewritten ? undefined : places.at(-1));
    if (place !== undefined) return place;
    const isSame = header === now || (isRewritten && !isManagedNow(column));
    // What is kept may be wider than the tab: the hidden tab has the width of the widest.
    return isSame && column < columnCount ? column : -1;
  };
  return wanted
    .map((from) => {
      const kind = columns.fields.get(fields.get(from) ?? '')?.kind;
      return { from, column: targetOf(from), cell: cells[from] ?? emptyCell, ...(kind && { kind }) };
    })
    .filter(({ column }) => column >= 0);
}

const placesOf = (headers: readonly string[], wanted: string): number[] =>
  headers.flatMap((header, place) => (header === wanted ? [place] : []));
