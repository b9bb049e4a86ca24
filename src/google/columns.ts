import type { FieldKind } from '../core/fields/field-kind.ts';
import { idHeader, pauseName, syncHeader } from '../core/fields/headers.ts';
import { labelKey } from '../core/text/label-key.ts';
import type { FieldName } from '../core/value.ts';
import { type Cell, describeCell, emptyCell, isUnfilled } from '../sheet/port/cell.ts';
import type { TabLayout } from '../sheet/port/layout.ts';
import { columnLetters } from './a1.ts';
import { cellAt, type Grid, type Rows } from './grid.ts';
import { type Managed, managedColumns, wantedColumns } from './managed.ts';
import { mapKnown } from './map-known.ts';
import { headerHash } from './metadata.ts';

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

const knownPlaces = new WeakMap<ColumnIndexes, Places>();

/** Where the columns stand by what they carry, as far as they are there, but for the one that pauses rows. Asked for with every row. */
export function placesOf(columns: ColumnIndexes): Places {
  const known = knownPlaces.get(columns) ?? findPlaces(columns);
  knownPlaces.set(columns, known);
  return known;
}

const knownOrders = new WeakMap<ColumnIndexes, readonly (readonly [name: string, column: number])[]>();

/** The same, from left to right. */
export function placesFromLeft(columns: ColumnIndexes): readonly (readonly [name: string, column: number])[] {
  const known =
    knownOrders.get(columns) ?? [...placesOf(columns)].toSorted(([, one], [, other]) => one - other);
  knownOrders.set(columns, known);
  return known;
}

const findPlaces = ({ fields, id, sync = -1 }: ColumnIndexes): Places =>
  new Map(
    [
      [idHeader, id] as const,
      [syncHeader, sync] as const,
      ...[...fields].map(([field, { index }]) => [field, index] as const),
    ].filter(([, index]) => index >= 0),
  );

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
export function bindColumns(grid: TaggedRows, layout: TabLayout): Binding {
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
  const kinds = layout.columns.map(({ field, kind }) => [field, kind] as const);
  const fields = mapKnown(kinds, (kind, field): ManagedColumn | undefined => {
    const index = places.get(field);
    if (index === undefined) return undefined;
    return { index, kind, header: describeCell(cellAt(grid.rows, 0, index)) };
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
      fields,
      ...(pause === undefined ? {} : { pause }),
      ...(namesakes.length === 0 ? {} : { namesakes: new Map(namesakes) }),
    },
  };
}

/** Why the header row is not row 1; a tab that was laid out had it there. */
function findMisplaced(
  { rows, tags }: TaggedRows,
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
  grid: TaggedRows,
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
function addRenamed(byHeader: Places, { rows, tags }: TaggedRows): Places {
  const taken = new Set(byHeader.values());
  const renamed = tags.filter(
    ({ field, index }) =>
      !byHeader.has(field) && !taken.has(index) && cellAt(rows, 0, index).kind !== 'empty',
  );
  const isCertain = ({ field, index }: (typeof tags)[number]) =>
    renamed.filter((tag) => tag.field === field || tag.index === index).length === 1;
  const certain = renamed.filter(isCertain);
  return new Map([...byHeader, ...certain.map(({ field, index }) => [field, index] as const)]);
}

/** What a header is known by, however it is written. */
const keyOf = (cell: Cell = emptyCell): string => labelKey(describeCell(cell));

function indexesByHeader(headerRow: readonly Cell[]): ReadonlyMap<string, number[]> {
  const filled = [...headerRow.keys()].filter((index) => headerRow[index]?.kind !== 'empty');
  return Map.groupBy(filled, (index) => keyOf(headerRow[index]));
}

type TaggedRows = Pick<Grid, 'rows' | 'tags'>;

/** Grid columns by what they carry: a field's name, or the header of the ID and the Sync column. */
type Places = ReadonlyMap<string, number>;

/**
 * The columns of fields that the CRM calls otherwise since their column had their header. Nobody did anything in the sheet, so that the
 * tag says where the field stands, and the header that it has now may be somebody else's. A tag of which nothing is known is taken for
 * one of these.
 */
function findPinned({ rows, tags }: TaggedRows, managed: readonly Managed[]): Places {
  const wanted = new Map(managed.map((column) => [column.name, column]));
  const headed = tags.filter(({ index }) => cellAt(rows, 0, index).kind !== 'empty');
  const pinned = headed.filter(({ field, header, index }) => {
    const column = wanted.get(field);
    if (column?.fieldHeader === undefined || header === headerHash(column.fieldHeader)) return false;
    return keyOf(cellAt(rows, 0, index)) !== labelKey(column.header);
  });
  const isCertain = ({ field, index }: (typeof pinned)[number]) =>
    headed.filter((tag) => tag.field === field).length === 1 &&
    pinned.filter((tag) => tag.index === index).length === 1;
  return new Map(pinned.filter(isCertain).map(({ field, index }) => [field, index] as const));
}

/** The columns that are called like a managed one, and may be it. */
function findCandidates(
  grid: TaggedRows,
  column: Managed,
  namesakes: readonly number[],
  pinned: Places,
): readonly number[] {
  if (pinned.has(column.name)) return [];
  const taken = new Set(pinned.values());
  const free = namesakes.filter((index) => !taken.has(index));
  return free.every((index) => isOfOthers(grid, column, index)) ? [] : free;
}

/**
 * The column that bears the tag of a managed one under a name that people gave it, while one without that tag is called as it should be.
 * Whether they called another one so since, or moved its contents and left the tag behind, nobody can tell. Above one that the
 * configuration has moved the name of its field still stands.
 */
function findRenamed(
  { rows, tags }: TaggedRows,
  { column, name }: Managed,
  candidate: number,
  wanted: ReadonlySet<string>,
): number | undefined {
  if (tags.some(({ field, index }) => index === candidate && field === name)) return undefined;
  const former = column?.fieldHeader;
  const renamed = tags.find(({ field, index }) => {
    const cell = cellAt(rows, 0, index);
    const key = keyOf(cell);
    const isOther = wanted.has(key) || (former !== undefined && key === labelKey(former));
    return field === name && cell.kind !== 'empty' && !isOther;
  });
  return renamed?.index;
}

/**
 * Whether a column was there before a managed one that is called like it: it carries another field, or people filled it. A tab without
 * any tag was never laid out: there its headers are taken at their word. A field of which something was agreed had a column, and has
 * lost its tag where a person copied the column and deleted the first.
 */
function isOfOthers({ rows, tags }: TaggedRows, { isNew = false, name }: Managed, index: number): boolean {
  const borne = tags.filter((tag) => tag.index === index);
  if (tags.length === 0 || borne.some(({ field }) => field === name)) return false;
  if (borne.length > 0) return isNew || name === pauseName;
  return isNew && rows.slice(1).some((row) => !isUnfilled(row[index] ?? emptyCell));
}

/** Headers are looked for no further down: below, any text may be one of the list itself. */
const rowsMax = 50;

/** So many of them are named. */
const namedMax = 3;

/**
 * Why a tab of people has its headers elsewhere than in row 1, as it seems, and what to do; `undefined` where row 1 may be its header row.
 * Columns that were added beside the wrong row would have the list among their records.
 */
function explainHeaderRow(rows: Rows, managed: readonly Managed[], title: string): string | undefined {
  const keys = new Set(managed.map(({ header }) => labelKey(header)));
  const isKnown = (cell: Cell) => keys.has(keyOf(cell));
  const filledOf = (row: readonly Cell[]) => row.filter(({ kind }) => kind !== 'empty');
  const shown = rows.slice(0, rowsMax).map(filledOf);
  const known = shown.map((row) => keys.intersection(new Set(row.map(keyOf))).size);
  const [first = []] = shown;
  const [knownFirst = 0, ...knownBelow] = known;
  const most = Math.max(0, ...knownBelow);
  // The only cell of its row is a title. One known name alone may be a cell of the list, where row 1 has more than a title.
  const isTitle = first.length <= 1 && knownFirst === 0;
  const isHeaded = most > knownFirst && knownFirst < 2 && (most > 1 || isTitle);
  const isLonger = (row: readonly Cell[], at: number) => at > 0 && row.length > first.length;
  const found = isHeaded ? known.indexOf(most, 1) : isTitle ? shown.findIndex(isLonger) : -1;
  const cells = shown[found];
  if (!cells) return undefined;
  const named = (isHeaded ? cells.filter(isKnown) : cells).slice(0, namedMax).map(quoteCell).join(', ');
  const otherwise = isHeaded ? '' : ' If row 1 is the header row, put a header above each of its columns.';
  return `The headers of “${title}” seem to be in row ${found + 1} (${named}), and they have to be in row 1. Delete the rows above that one, or move it to row 1.${otherwise}`;
}

const quoteCell = (cell: Cell): string => `“${describeCell(cell)}”`;

/** A header row that was sorted in between the rows is recognised by its content; -1 where there is none. */
function findHeaderRow(rows: Rows, managed: readonly Managed[]): number {
  const others = managed.filter(({ name }) => name !== idHeader && name !== syncHeader);
  return rows.findIndex((row, index) => {
    if (index === 0) return false;
    const keys = new Set(row.flatMap((cell) => (cell.kind === 'empty' ? [] : keyOf(cell))));
    return keys.has(labelKey(idHeader)) && others.some(({ header }) => keys.has(labelKey(header)));
  });
}
