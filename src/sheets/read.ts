import { bareCell, type Cell, emptyCell, isShownAsPercent, spilledCell } from '../core/cell.ts';
import type { FieldKind } from '../core/field-kind.ts';
import type { TabLayout } from '../core/layout.ts';
import type { ObservedRow, ObservedTab } from '../core/table.ts';
import type { FieldName } from '../core/value.ts';
import { columnLetters } from './a1.ts';
import { bindColumns, type ManagedColumns } from './columns.ts';
import { cellAt, type Grid, type Rows } from './grid.ts';

/** A tab as a write needs it: where it is, where its columns stand, and what stood there. */
export interface BoundTab {
  readonly sheetId: number;
  readonly title: string;
  /** Rows of the grid, used or not. */
  readonly rowCount: number;
  readonly columns: ManagedColumns;
  readonly rows: Rows;
}

/** What a read makes of a tab: what it says, and how to write to it unless it is held. */
export interface TabReading {
  readonly observed: ObservedTab;
  readonly bound?: BoundTab;
}

const held = (reason: string): TabReading => ({ observed: { state: 'held', reason } });

/** Reads the rows below the header; a tab that can not be understood is held with the reason for a person. */
export function observeTab(grid: Grid | undefined, layout: TabLayout): TabReading {
  if (!grid) return held(`There is no tab “${layout.title}”. Bring it back, or give it its name again.`);
  const binding = bindColumns(grid.rows, { ...layout, title: grid.title });
  if (binding.state === 'held') return held(binding.reason);
  const { columns } = binding;
  const merged = findMerge(grid, columns);
  if (merged) return held(`Cells from ${merged} on in “${grid.title}” are merged. Unmerge them.`);
  const { sheetId, title, rowCount, rows } = grid;
  const spilled = findSpilled(rows, columns);
  const observed: ObservedTab = {
    state: 'read',
    rows: observeRows(rows, columns, spilled),
    fields: new Set([...columns.fields.keys()].filter((field) => !spilled.has(field))),
    hasSync: columns.sync !== undefined,
  };
  return { observed, bound: { sheetId, title, rowCount, columns, rows } };
}

const managedIndexes = ({ id, sync, fields }: ManagedColumns): number[] => [
  id,
  ...(sync === undefined ? [] : [sync]),
  ...[...fields.values()].map((field) => field.index),
];

/** A checkbox that nobody ticked is `false`; a whole column of them makes no rows, nor does one that an array formula fills. */
const isBlank = (cell: Cell): boolean =>
  cell.kind === 'empty' || (cell.kind === 'boolean' && !cell.boolean) || isSpilled(cell);

/** What the array formula of another cell fills in, is nothing that stands in the row itself. */
const isSpilled = (cell: Cell): boolean =>
  (cell.kind === 'formula' || cell.kind === 'error') && cell.formula === '';

const isBlankRow = (rows: Rows, row: number, indexes: readonly number[]): boolean =>
  indexes.every((index) => isBlank(cellAt(rows, row, index)));

/** The first row below the last one with a managed cell; at least the row below the header. */
export function endOfRows(rows: Rows, columns: ManagedColumns): number {
  const indexes = managedIndexes(columns);
  const last = rows.findLastIndex((_, row) => row > 0 && !isBlankRow(rows, row, indexes));
  return Math.max(last, 0) + 1;
}

/**
 * Fields whose column an array formula fills, at least in part. It may fill a cell with nothing, and a value in one of its cells would
 * break all of it: the whole column is its own.
 */
function findSpilled(rows: Rows, columns: ManagedColumns): ReadonlySet<FieldName> {
  const spilled = [...columns.fields].filter(([, { index }]) =>
    rows.some((row) => isSpilled(row[index] ?? emptyCell)),
  );
  return new Set(spilled.map(([field]) => field));
}

function observeRows(rows: Rows, columns: ManagedColumns, spilled: ReadonlySet<FieldName>): ObservedRow[] {
  const indexes = managedIndexes(columns);
  return rows.flatMap((_, position) => {
    if (position === 0 || isBlankRow(rows, position, indexes)) return [];
    const cells = [...columns.fields].map(([field, column]): [FieldName, Cell] => {
      const cell = observeCell(cellAt(rows, position, column.index), column.kind);
      return [field, cell.kind === 'empty' && spilled.has(field) ? spilledCell : cell];
    });
    return {
      position,
      id: bareCell(cellAt(rows, position, columns.id)),
      sync: columns.sync === undefined ? emptyCell : cellAt(rows, position, columns.sync),
      cells: Object.fromEntries(cells),
    };
  });
}

/** How a number is shown matters where people mean what they see, and where 50% and 50 are the same. */
function observeCell(cell: Cell, kind: FieldKind): Cell {
  switch (kind) {
    case 'text':
    case 'user':
    case 'users':
    case 'select':
    case 'multi-select':
      return cell;
    case 'integer':
      return isShownAsPercent(cell) ? cell : bareCell(cell);
    default:
      return bareCell(cell);
  }
}

/**
 * The first merged cell in a managed column: a write to the rest of a merged range is lost without a word.
 */
function findMerge({ merges }: Grid, columns: ManagedColumns): string | undefined {
  const indexes = managedIndexes(columns);
  const merge = merges.find(({ startColumnIndex, endColumnIndex }) =>
    indexes.some((index) => index >= (startColumnIndex ?? 0) && index < (endColumnIndex ?? 0)),
  );
  return merge && `${columnLetters(merge.startColumnIndex ?? 0)}${(merge.startRowIndex ?? 0) + 1}`;
}
