import type { FieldKind } from '../core/fields/field-kind.ts';
import { idHeader, pauseName, syncHeader } from '../core/fields/headers.ts';
import { labelKey } from '../core/text/label-key.ts';
import type { FieldName } from '../core/value.ts';
import { type Cell, describeCell } from '../sheet/port/cell.ts';
import type { TabLayout } from '../sheet/port/layout.ts';
import { columnLetters } from './a1.ts';
import { cellAt, type Grid } from './grid.ts';
import { findCandidates, findPinned, findRenamed, type Places } from './header-match.ts';
import { explainHeaderRow, findHeaderRow } from './header-row.ts';
import { type Managed, managedColumns, wantedColumns } from './managed.ts';

export interface ManagedColumn {
  /** Zero-based grid column. */
  readonly index: number;
  readonly kind: FieldKind;
  /** As it stands above the column. */
  readonly header: string;
}

/** Where the managed columns of a tab stand; all numbers are zero-based grid columns. */
export interface ManagedColumns {
  readonly id: number;
  readonly sync: number | undefined;
  /** Absent where the layout wants none, or it is missing. */
  readonly pause?: number;
  readonly fields: ReadonlyMap<FieldName, ManagedColumn>;
  /** Columns that are called like a managed one that was not found, and are left alone. */
  readonly namesakes?: Places;
}

/** As much of {@link ManagedColumns} as is known of columns that stood there at another time. */
export interface ColumnIndexes extends Pick<ManagedColumns, 'id' | 'sync'> {
  readonly fields: ReadonlyMap<FieldName, { readonly index: number; readonly kind?: FieldKind }>;
}

export type Binding =
  | { readonly state: 'bound'; readonly columns: ManagedColumns }
  | { readonly state: 'held'; readonly reason: string }
  /** People made the tab, and it was never laid out: all it may have are columns called like ours. */
  | { readonly state: 'foreign'; readonly reason: string; readonly missing: readonly Managed[] };

const held = (reason: string): Binding => ({ state: 'held', reason });

/**
 * Finds the managed columns of a tab by their headers in the first row, wherever they stand; one whose header
 * stands nowhere by its tag, because then a person gave it another header. A field that is called otherwise in the
 * CRM is found by its tag first.
 */
export function bindColumns(grid: Pick<Grid, 'rows' | 'tags'>, layout: TabLayout): Binding {
  const headerRow = grid.rows[0] ?? [];
  const managed = managedColumns(layout);
  const indexes = indexesByHeader(headerRow);
  const namesakesOf = ({ header }: Managed) => indexes.get(labelKey(header)) ?? [];
  const pinned = findPinned(grid, managed);
  const indexesOf = (column: Managed) => findCandidates(grid, column, namesakesOf(column), pinned);
  const doubled = managed.find((column) => indexesOf(column).length > 1);
  if (doubled) {
    const letters = indexesOf(doubled).map(columnLetters).join(' and ');
    return held(
      `Columns ${letters} of “${layout.title}” are both called “${doubled.header}”. Rename one of them.`,
    );
  }
  const rival = findRival(grid, layout.title, managed, indexesOf);
  if (rival !== undefined) return held(rival);
  const byHeader = new Map(
    managed.flatMap((column) => indexesOf(column).map((index) => [column.name, index] as const)),
  );
  const misplaced = byHeader.has(idHeader) ? undefined : findMisplaced(grid, managed, layout.title);
  if (misplaced !== undefined) return held(misplaced);
  const places = byHeader.size > 0 ? addRenamed(new Map([...byHeader, ...pinned]), grid) : byHeader;
  const id = places.get(idHeader);
  if (id === undefined && grid.tags.length === 0) {
    const missing = wantedColumns(layout).filter(({ name }) => !places.has(name));
    return { state: 'foreign', reason: foreignReason(layout.title), missing };
  }
  if (id === undefined) {
    return held(
      `“${layout.title}” has no column “${idHeader}” in row 1. Put the header back above the record ids.`,
    );
  }
  const fields = layout.columns.flatMap(({ field, kind }): [FieldName, ManagedColumn][] => {
    const index = places.get(field);
    return index === undefined
      ? []
      : [[field, { index, kind, header: describeCell(cellAt(grid.rows, 0, index)) }]];
  });
  const pause = layout.pauseHeader === undefined ? undefined : places.get(pauseName);
  const namesakes = managed
    .filter(({ name }) => !places.has(name))
    .flatMap((column) => namesakesOf(column).map((index) => [column.name, index] as const));
  return {
    state: 'bound',
    columns: {
      id,
      sync: places.get(syncHeader),
      fields: new Map(fields),
      ...(pause === undefined ? {} : { pause }),
      ...(namesakes.length === 0 ? {} : { namesakes: new Map(namesakes) }),
    },
  };
}

/** Why the header row is not row 1; a tab that was laid out had it there. */
function findMisplaced(
  { rows, tags }: Pick<Grid, 'rows' | 'tags'>,
  managed: readonly Managed[],
  title: string,
): string | undefined {
  const explained = tags.length === 0 ? explainHeaderRow(rows, managed, title) : undefined;
  if (explained !== undefined) return explained;
  const row = findHeaderRow(rows, managed);
  return row > 0 ? `The header row of “${title}” is in row ${row + 1}. Move it back to row 1.` : undefined;
}

/** Says of which column nobody can tell whether it is still meant, because it was renamed and another one is called as it was. */
function findRival(
  grid: Pick<Grid, 'rows' | 'tags'>,
  title: string,
  managed: readonly Managed[],
  indexesOf: (column: Managed) => readonly number[],
): string | undefined {
  const headers = new Set(managed.map(({ header }) => labelKey(header)));
  for (const column of managed) {
    const [index] = indexesOf(column);
    const renamed = index === undefined ? undefined : findRenamed(grid, column, index, headers);
    if (index === undefined || renamed === undefined) continue;
    const [own, other] = [columnLetters(renamed), columnLetters(index)];
    return (
      `“${describeCell(cellAt(grid.rows, 0, renamed))}” in column ${own} of “${title}” is the column of “${column.header}”, and column ${other} is called “${column.header}” too. ` +
      `Give column ${other} another header or, if that one is meant, empty the header of column ${own}.`
    );
  }
  return undefined;
}

const foreignReason = (title: string): string =>
  `“${title}” has no column “${idHeader}”, which says whose record a row is. ` +
  'Run init --add-columns: it adds what is missing at the right end of the tab and changes nothing else. ' +
  'What stands there under another header is named first, in sheet.tabs.<tab>.columns.<field>.header. ' +
  'If it is a list of something else, rename it, and run init for a tab beside it.';

/**
 * A tag counts where a text of a person stands above its column. An emptied header is no other name: whoever
 * wiped a whole column must not be taken for somebody who wiped all its values.
 */
function addRenamed(byHeader: Places, { rows, tags }: Pick<Grid, 'rows' | 'tags'>): Places {
  const taken = new Set(byHeader.values());
  const renamed = tags.filter(
    ({ field, index }) =>
      !byHeader.has(field) && !taken.has(index) && cellAt(rows, 0, index).kind !== 'empty',
  );
  const byField = Map.groupBy(renamed, ({ field }) => field);
  const byIndex = Map.groupBy(renamed, ({ index }) => index);
  const certain = renamed.filter(
    ({ field, index }) => byField.get(field)?.length === 1 && byIndex.get(index)?.length === 1,
  );
  return new Map([...byHeader, ...certain.map(({ field, index }) => [field, index] as const)]);
}

function indexesByHeader(headerRow: readonly Cell[]): ReadonlyMap<string, number[]> {
  const headers = headerRow.flatMap((cell, index) =>
    cell.kind === 'empty' ? [] : [{ index, key: labelKey(describeCell(cell)) }],
  );
  const groups = Map.groupBy(headers, ({ key }) => key);
  return new Map([...groups].map(([key, group]) => [key, group.map(({ index }) => index)]));
}
