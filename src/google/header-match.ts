import { pauseName } from '../core/fields/headers.ts';
import { labelKey } from '../core/text/label-key.ts';
import { describeCell, emptyCell, isUnfilled } from '../sheet/port/cell.ts';
import { cellAt, type Grid } from './grid.ts';
import type { Managed } from './managed.ts';
import { headerHash } from './metadata.ts';

type TaggedRows = Pick<Grid, 'rows' | 'tags'>;

/** Grid columns by what they carry: a field's name, or the header of the ID and the Sync column. */
export type Places = ReadonlyMap<string, number>;

/**
 * The columns of fields that the CRM calls otherwise since their column had their header. Nobody did anything in the sheet, so that the
 * tag says where the field stands, and the header that it has now may be somebody else's. A tag of which nothing is known is taken for
 * one of these.
 */
export function findPinned({ rows, tags }: TaggedRows, managed: readonly Managed[]): Places {
  const wanted = new Map(managed.map((column) => [column.name, column]));
  const headed = tags.filter(({ index }) => cellAt(rows, 0, index).kind !== 'empty');
  const pinned = headed.filter(({ field, header, index }) => {
    const column = wanted.get(field);
    if (column?.fieldHeader === undefined || header === headerHash(column.fieldHeader)) return false;
    return labelKey(describeCell(cellAt(rows, 0, index))) !== labelKey(column.header);
  });
  const isCertain = ({ field, index }: (typeof pinned)[number]) =>
    headed.filter((tag) => tag.field === field).length === 1 &&
    pinned.filter((tag) => tag.index === index).length === 1;
  return new Map(pinned.filter(isCertain).map(({ field, index }) => [field, index] as const));
}

/** The columns that are called like a managed one, and may be it. */
export function findCandidates(
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
export function findRenamed(
  { rows, tags }: TaggedRows,
  { column, name }: Managed,
  candidate: number,
  wanted: ReadonlySet<string>,
): number | undefined {
  if (tags.some(({ field, index }) => index === candidate && field === name)) return undefined;
  const former = column?.fieldHeader;
  const renamed = tags.find(({ field, index }) => {
    const cell = cellAt(rows, 0, index);
    const key = labelKey(describeCell(cell));
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
  return isNew && isFilled(rows.slice(1), index);
}

const isFilled = (rows: TaggedRows['rows'], index: number): boolean =>
  rows.some((row) => !isUnfilled(row[index] ?? emptyCell));
