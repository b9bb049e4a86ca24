import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { namesakeAdvice, pauseName, syncHeader } from '../core/fields/headers.ts';
import { labelKey } from '../core/text/label-key.ts';
import { describeCell } from '../sheet/port/cell.ts';
import type { TabKind, TabLayout } from '../sheet/port/layout.ts';
import { columnLetters } from './a1.ts';
import type { Request } from './client.ts';
import { type ManagedColumns, placesOf } from './columns.ts';
import {
  colourStates,
  coloursAtFirst,
  coloursNow,
  dressColumn,
  type Rule,
  ruleOf,
  setRule,
} from './dress.ts';
import { cellAt, type Grid } from './grid.ts';
import { type Managed, managedColumns, wantedColumns } from './managed.ts';
import { type ColumnTag, headerHash, noteHash, removeTag, tagColumn } from './metadata.ts';
import { grow } from './room.ts';

/** The headers of new columns from `index` on, with their notes. */
export const writeHeaders = (sheetId: number, index: number, managed: readonly Managed[]): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: 0, columnIndex: index },
    rows: [
      {
        values: managed.map(({ header, note }) => ({
          userEnteredValue: { stringValue: header },
          userEnteredFormat: { textFormat: { bold: true } },
          ...(note === undefined ? {} : { note }),
        })),
      },
    ],
    fields: 'userEnteredValue,userEnteredFormat.textFormat.bold,note',
  },
});

const setNote = (sheetId: number, index: number, note: string): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: 0, columnIndex: index },
    rows: [{ values: [{ note }] }],
    fields: 'note',
  },
});

/** Field mask of what {@link readColumnLooks} needs of the first rows of a tab. */
export const lookFields = 'sheets(properties.sheetId,data(startColumn,rowData.values(dataValidation,note)))';

/**
 * A dropdown is read from a few rows alone, because it repeats all its labels in every cell of its column. One that a person put below the
 * header may have none.
 */
export const lookRows = 4;

/** What stands at the columns of a tab beside their cells, by grid column. */
export interface ColumnLooks {
  readonly notes: readonly (string | undefined)[];
  /** By rows. */
  readonly rules: readonly (readonly (Rule | undefined)[])[];
}

export function readColumnLooks(block: sheets_v4.Schema$GridData | undefined): ColumnLooks {
  const left = Array.from({ length: block?.startColumn ?? 0 }, () => undefined);
  const [headers, ...rows] = (block?.rowData ?? []).map(({ values }) => values ?? []);
  return {
    notes: [...left, ...(headers ?? []).map(({ note }) => note ?? undefined)],
    rules: rows.map((cells) => [...left, ...cells.map(({ dataValidation }) => dataValidation)]),
  };
}

/** A tab with content, with the columns that were found in it. */
interface FilledTab {
  readonly grid: Grid;
  readonly columns: ManagedColumns;
  readonly look: ColumnLooks;
  readonly layout: TabLayout;
}

const placeOf = (columns: ManagedColumns, name: string): number | undefined =>
  name === pauseName ? columns.pause : placesOf(columns).get(name);

export const missingColumns = ({ columns, layout }: Pick<FilledTab, 'columns' | 'layout'>): Managed[] =>
  wantedColumns(layout).filter(({ name }) => placeOf(columns, name) === undefined);

/** Dropdowns, notes and tags that differ from what the layout wants. `isTagged`: whether tags are written too. */
export function refreshTab(tab: FilledTab, isTagged: boolean): Request[] {
  return managedColumns(tab.layout).flatMap((managed) => {
    const index = placeOf(tab.columns, managed.name);
    if (index === undefined) return [];
    return [...refreshRule(tab, managed, index), ...(isTagged ? refreshTag(tab, managed, index) : [])];
  });
}

function refreshRule({ grid, look }: FilledTab, { column }: Managed, index: number): Request[] {
  const rule = column && ruleOf(column);
  const isTypedColumn = grid.typed.some((typed) => typed.index === index);
  const isThere = rule && look.rules.some((rules) => isLike(rules[index], rule));
  if (!rule || isTypedColumn || grid.rowCount < 2 || isThere) return [];
  return [setRule(grid.sheetId, index, rule)];
}

/**
 * Whether a dropdown shows the labels that are wanted, in whatever order and case: one that is written again loses the colours that people
 * gave its chips, and nobody can read those. What a person made of a list of their own is theirs.
 */
function isLike(present: Rule | undefined, wanted: Rule): boolean {
  const [type, wantedType] = [present?.condition?.type, wanted.condition?.type];
  if (type === 'ONE_OF_RANGE' && wantedType === 'ONE_OF_LIST') return true;
  const labelsOf = ({ condition }: Rule) =>
    new Set((condition?.values ?? []).map(({ userEnteredValue }) => labelKey(userEnteredValue ?? '')));
  const [labels, wantedLabels] = [labelsOf(present ?? {}), labelsOf(wanted)];
  return type === wantedType && labels.size === wantedLabels.size && labels.isSubsetOf(wantedLabels);
}

/** The note and the tag of a column; tags of the same field elsewhere are left over from where it stood before. */
function refreshTag({ grid, look }: FilledTab, managed: Managed, index: number): Request[] {
  const tags = grid.tags.filter(({ field }) => field === managed.name);
  const own = tags.find((tag) => tag.index === index);
  const stale = tags.filter((tag) => tag !== own);
  const { isWritten, hash } = judgeNote(managed.note, look.notes[index], own);
  // Under another header the column is known by what its field was called before.
  const hasHeader = labelKey(describeCell(cellAt(grid.rows, 0, index))) === labelKey(managed.header);
  const isSync = managed.name === syncHeader;
  const colours = isSync ? coloursNow : undefined;
  const header = hasHeader ? managed.fieldHeader && headerHash(managed.fieldHeader) : own?.header;
  return [
    ...(isWritten && managed.note !== undefined ? [setNote(grid.sheetId, index, managed.note)] : []),
    ...stale.map(removeTag),
    // The colours that an earlier version did not give it: what people made of the others is theirs.
    ...(isSync && own ? colourStates(grid.sheetId, index, own.colours ?? coloursAtFirst) : []),
    ...tagColumn(own, { field: managed.name, note: hash, header, colours }, grid.sheetId, index),
  ];
}

/**
 * Our note is written once, and follows its column as long as nobody touched it: one that a person changed
 * or took away stays as the person left it.
 */
function judgeNote(
  wanted: string | undefined,
  present: string | undefined,
  tag: ColumnTag | undefined,
): { isWritten: boolean; hash: string | undefined } {
  const isOurs = present !== undefined && noteHash(present) === tag?.note;
  const isNew = present === undefined && tag?.note === undefined;
  if (wanted === undefined || !(isOurs || isNew)) return { isWritten: false, hash: tag?.note };
  return { isWritten: present !== wanted, hash: noteHash(wanted) };
}

/**
 * Columns at the right end of a tab with content. They bear no tag until their cells were filled: an empty
 * cell below a tag is a value that a person wiped.
 */
export function addColumns(
  { sheetId, columnCount, rows, tags }: Grid,
  entity: TabKind,
  missing: readonly Managed[],
): Request[] {
  if (missing.length === 0) return [];
  const widths = [
    ...rows.map((row) => row.findLastIndex((cell) => cell.kind !== 'empty') + 1),
    ...tags.map(({ index }) => index + 1),
  ];
  // There may be more rows than a call takes arguments.
  const used = widths.reduce((widest, width) => Math.max(widest, width), 0);
  return [
    ...grow(sheetId, 'COLUMNS', used + missing.length - columnCount),
    writeHeaders(sheetId, used, missing),
    ...missing.flatMap((managed, offset) => dressColumn(sheetId, used + offset, entity, managed)),
  ];
}

/** `namesake`: the column that is called like the missing one. A second one of that header would stop the tab. */
export const offerOf = (title: string, { header }: Managed, namesake: number | undefined): string =>
  namesake === undefined
    ? `“${title}” has no column “${header}”. To add it at the right end of the tab, run init --add-columns.`
    : `“${title}” has no column for “${header}”. ${namesakeAdvice(columnLetters(namesake))}, then run init --add-columns.`;
