import { type Cell, emptyCell, isSameCell } from '../../sheet/port/cell.ts';
import type { Grid, GridPart, Rows } from '../grid.ts';
import { type Origins, shiftKept, typedValue, type ValueAt } from './changed-rows.ts';

/** Rows from `from` on to before `end`. */
export interface RowSpan {
  readonly from: number;
  readonly end: number;
}

/** What was read of a tab since it was read as a whole. */
export interface TabLook {
  readonly part: GridPart;
  /** The rows that were asked for beside the header. */
  readonly spans: readonly RowSpan[];
  /** Of all rows, where some have moved. */
  readonly origins?: Origins | undefined;
  /** The columns that are polled. */
  readonly columns: readonly number[];
  readonly idColumn: number;
  /** By the poll of the same look. */
  readonly valueAt: ValueAt;
  /** What is hidden of the whole tab; absent where only that of the rows is known. */
  readonly hidden?: Hidden | undefined;
}

export type Hidden = Pick<GridPart, 'hiddenRows' | 'handHiddenRows'>;

/** A tab as it is now. */
export interface Mended {
  readonly grid: Grid;
  /**
   * The columns in which a row was read that is not as it was polled just before: somebody edited it in between, and may take that back before
   * the next poll, which then shows what it showed.
   */
  readonly doubtful: ReadonlySet<number>;
}

/**
 * Brings a tab up to date. `moved`: its rows are not where the poll saw them, so both have to be read again. `doubt`: it is not built as it was, and
 * has to be read as a whole.
 */
export function mendGrid(kept: Grid, look: TabLook): Mended | 'moved' | 'doubt' {
  const { origins, part, spans } = look;
  if (!isBuiltAlike(kept, look)) return 'doubt';
  const rows = origins ? origins.map((row) => kept.rows[row] ?? noCells) : kept.rows;
  const found = new Map<number, readonly Cell[]>();
  for (const block of part.blocks)
    for (const [place, row] of block.rows.entries()) found.set(block.startRow + place, row);
  const doubtful = new Set<number>();
  const others = new Map<number, readonly Cell[]>();
  for (const { end, from } of spans) {
    for (let row = from; row < end; row += 1) {
      const before = rows[row] ?? noCells;
      const now = found.get(row) ?? noCells;
      const read = { row, before, now };
      if (!isIdAsPolled(look, read)) return 'moved';
      // Also in a row that is as it was kept: what the poll saw there may come back.
      for (const column of look.columns) if (!isAsPolled(look, column, read)) doubtful.add(column);
      if (!areSameCells(before, now)) others.set(row, now);
    }
  }
  const [hiddenRows, handHiddenRows] = [
    mendHidden('hiddenRows', kept, look),
    mendHidden('handHiddenRows', kept, look),
  ];
  const areHiddenAlike = hiddenRows === kept.hiddenRows && handHiddenRows === (kept.handHiddenRows ?? noRows);
  const { blocks: _blocks, ...build } = part;
  const areEndsAlike = kept.rowCount === part.rowCount && describeEnds(kept) === describeEnds(part);
  const isChanged = origins !== undefined || others.size > 0;
  if (!isChanged && areHiddenAlike && areEndsAlike) return { grid: kept, doubtful };
  const { merges } = kept;
  const grid = { ...build, merges, rows: replaceRows(rows, others), hiddenRows, handHiddenRows };
  return { grid, doubtful };
}

/** Some rows in place of others, perhaps behind the last one; the same rows where there are none. */
function replaceRows(rows: Rows, others: ReadonlyMap<number, readonly Cell[]>): Rows {
  if (others.size === 0) return rows;
  const replaced = [...rows];
  for (const [row, cells] of others) {
    while (replaced.length < row) replaced.push(noCells);
    replaced[row] = cells;
  }
  return replaced;
}

/** The hidden rows where they are now, with what was read of some or all of them; the same set where nothing changed. */
function mendHidden(
  name: keyof Hidden,
  { [name]: kept = noRows }: Grid,
  { hidden, part: { [name]: read = noRows }, spans, origins }: TabLook,
): ReadonlySet<number> {
  const now = new Set(hidden?.[name] ?? shiftKept(kept, origins));
  for (const { end, from } of spans) {
    for (let row = from; row < end; row += 1) {
      if (read.has(row)) now.add(row);
      else now.delete(row);
    }
  }
  return now.size === kept.size && now.isSubsetOf(kept) ? kept : now;
}

const noRows: ReadonlySet<number> = new Set();

const noCells: readonly Cell[] = [];

/** Whether header, columns and all that is said of the tab are as they were. Rows come and go. */
function isBuiltAlike(kept: Grid, { part, spans }: TabLook): boolean {
  const header = part.blocks.find(({ startRow }) => startRow === 0)?.rows[0] ?? noCells;
  const isRead = ({ startRowIndex, endRowIndex }: Grid['merges'][number]) =>
    [{ from: 0, end: 1 }, ...spans].some(
      ({ end, from }) => (startRowIndex ?? 0) < end && (endRowIndex ?? 0) > from,
    );
  const describeMerges = ({ merges }: Build) => JSON.stringify(merges.filter(isRead));
  return (
    areSameCells(kept.rows[0] ?? noCells, header) &&
    describeBuild(kept) === describeBuild(part) &&
    describeMerges(kept) === describeMerges(part)
  );
}

/** Without merges, which are said only of the rows that are read, and of tags with what says which columns are which. */
function describeBuild({ columnCount, frozenRows, sheetId, tables, tags, title, typed }: Build) {
  const tops = tables.map(({ endRow: _, ...table }) => table);
  const types = typed.map(({ endRow: _, ...type }) => type);
  const fields = tags.map(({ field, header, index }) => [field, header, index]);
  return JSON.stringify([sheetId, title, columnCount, frozenRows, fields, tops, types]);
}

/** What may change without another column: where tables end, which their users drag down and up, and what tags say of notes. */
const describeEnds = ({ tables, tags, typed }: Build): string => JSON.stringify([tables, tags, typed]);

type Build = Omit<Grid, 'rows' | 'rowCount' | 'hiddenRows' | 'handHiddenRows'>;

/** A row, and what it held before it was read and holds now. */
interface ReadRow {
  readonly row: number;
  readonly before: readonly Cell[];
  readonly now: readonly Cell[];
}

/** What is typed into a cell that is polled, by the poll and by what was read since; `undefined` for what is not typed. */
const typedIn = ({ valueAt }: TabLook, column: number, { before, now, row }: ReadRow) => ({
  polled: valueAt(column, row) ?? typedValue(before[column] ?? emptyCell),
  read: typedValue(now[column] ?? emptyCell),
});

function isAsPolled(look: TabLook, column: number, found: ReadRow): boolean {
  const { polled, read } = typedIn(look, column, found);
  return read === undefined || read === polled;
}

function isIdAsPolled(look: TabLook, found: ReadRow): boolean {
  const { polled, read } = typedIn(look, look.idColumn, found);
  return read === undefined || polled === undefined || read === polled;
}

/** Whether two rows hold the same, also where one of them is cut off behind its last cell. */
export function areSameCells(one: readonly Cell[], other: readonly Cell[]): boolean {
  const width = Math.max(one.length, other.length);
  for (let column = 0; column < width; column += 1) {
    if (!isSameCell(one[column] ?? emptyCell, other[column] ?? emptyCell)) return false;
  }
  return true;
}
