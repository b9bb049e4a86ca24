import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import {
  booleanCell,
  type Cell,
  chipCell,
  describeCell,
  emptyCell,
  numberCell,
  spilledCell,
  textCell,
} from '../sheet/port/cell.ts';
import type { Spreadsheet } from './client.ts';
import { type ColumnTag, columnTags, metadataFields, readTags, type Stored } from './metadata.ts';

/** The cells of a tab by grid row and grid column; rows are ragged, what is missing is empty. */
export type Rows = readonly (readonly Cell[])[];

/** The last row in which a cell is filled; -1 where none is. Empty rows are said to be there where they have a format. */
export const lastFilled = (rows: Rows): number =>
  rows.findLastIndex((row) => row.some(({ kind }) => kind !== 'empty'));

/** The tag of a column with the zero-based place where it stands now. */
export type PlacedTag = Stored<ColumnTag> & { readonly index: number };

export interface Grid {
  readonly sheetId: number;
  readonly title: string;
  /** Rows of the grid, used or not. */
  readonly rowCount: number;
  readonly columnCount: number;
  /** Rows that stay in view; people may freeze more than the header row. */
  readonly frozenRows?: number;
  readonly rows: Rows;
  readonly merges: readonly sheets_v4.Schema$GridRange[];
  readonly tags: readonly PlacedTag[];
  readonly typed: readonly TypedColumn[];
  readonly tables: readonly TableArea[];
  /** Rows that a filter hides. */
  readonly hiddenRows: ReadonlySet<number>;
  /** Rows that a user hides, or a group of rows that is closed; none where absent. */
  readonly handHiddenRows?: ReadonlySet<number>;
}

/** Field mask of a cell: what was entered, what people see there, and whether that is an error, or yes or no in their language, or a chip. */
export const cellFields =
  'userEnteredValue,effectiveValue(boolValue,errorValue),formattedValue,chipRuns.chip';

/** Field mask of the name and the size of a tab. */
export const sizeFields = 'properties(sheetId,title,gridProperties(rowCount,columnCount,frozenRowCount))';

/** Field mask of what {@link readTypedColumns} and {@link readTableAreas} need of a tab. */
const tableFields = 'tables(range,columnProperties(columnIndex,columnType))';

/** Field mask of what {@link readGrids} needs: the cells, our tags, the types of columns, and what filters hide. */
export const gridFields =
  `properties.timeZone,${metadataFields},` +
  `sheets(${sizeFields},merges,${tableFields},` +
  `data(startRow,startColumn,columnMetadata.${metadataFields},rowMetadata(hiddenByFilter,hiddenByUser),rowData.values(${cellFields})))`;

export const cellAt = (rows: Rows, row: number, column: number): Cell => rows[row]?.[column] ?? emptyCell;

export const isEmptyGrid = ({ rows }: Pick<Grid, 'rows'>): boolean =>
  rows.every((row) => row.every((cell) => cell.kind === 'empty'));

/** Rows of a tab that follow each other. */
export interface Block {
  readonly startRow: number;
  readonly rows: Rows;
}

/** What a read brought of a tab: the rows that were asked for, in the order of their ranges. */
export interface GridPart extends Omit<Grid, 'rows'> {
  readonly blocks: readonly Block[];
}

/** Google leaves out zeros, so that an absent number is 0. */
export function readParts(spreadsheet: Spreadsheet): GridPart[] {
  const texts: Texts = new Map();
  return (spreadsheet.sheets ?? []).map(({ properties, merges, tables, data }) => ({
    sheetId: properties?.sheetId ?? 0,
    title: properties?.title ?? '',
    rowCount: properties?.gridProperties?.rowCount ?? 0,
    columnCount: properties?.gridProperties?.columnCount ?? 0,
    frozenRows: properties?.gridProperties?.frozenRowCount ?? 0,
    blocks: (data ?? []).map((block) => readBlock(block, texts)),
    merges: merges ?? [],
    tags: readColumnTags(data?.[0]),
    typed: readTypedColumns(tables ?? []),
    tables: readTableAreas(tables ?? []),
    hiddenRows: readHiddenRows(data ?? [], 'hiddenByFilter'),
    handHiddenRows: readHiddenRows(data ?? [], 'hiddenByUser'),
  }));
}

export const readGrids = (spreadsheet: Spreadsheet): Grid[] => readParts(spreadsheet).map(toGrid);

export const toGrid = ({ blocks, ...grid }: GridPart): Grid => ({ ...grid, rows: joinBlocks(blocks) });

const noCells: readonly Cell[] = [];

/** The rows of a tab, as far down as the blocks go. */
function joinBlocks(blocks: readonly Block[]): Rows {
  const rows: (readonly Cell[])[] = [];
  for (const block of blocks) {
    // Rows below the last filled one are not rows of the tab only because they were asked for.
    if (block.rows.length === 0) continue;
    while (rows.length < block.startRow) rows.push(noCells);
    for (const [place, row] of block.rows.entries()) rows[block.startRow + place] = row;
  }
  return rows;
}

function readColumnTags(block: sheets_v4.Schema$GridData | undefined): PlacedTag[] {
  return (block?.columnMetadata ?? []).flatMap(({ developerMetadata }, index) =>
    readTags(developerMetadata ?? [], columnTags).map((tag) => ({
      ...tag,
      index: (block?.startColumn ?? 0) + index,
    })),
  );
}

function readHiddenRows(
  blocks: readonly sheets_v4.Schema$GridData[],
  by: 'hiddenByFilter' | 'hiddenByUser',
): ReadonlySet<number> {
  const hidden = new Set<number>();
  for (const { rowMetadata = [], startRow } of blocks)
    rowMetadata.forEach((row, index) => {
      if (row[by]) hidden.add((startRow ?? 0) + index);
    });
  return hidden;
}

/** The cells of one block of grid data, which may begin anywhere in the grid. */
function readBlock({ rowData, startColumn, startRow }: sheets_v4.Schema$GridData, texts: Texts): Block {
  const left = Array.from({ length: startColumn ?? 0 }, (): Cell => emptyCell);
  const cellOf = (data: sheets_v4.Schema$CellData) => shareText(toCell(data), texts);
  return {
    startRow: startRow ?? 0,
    rows: (rowData ?? []).map(({ values }) => left.concat((values ?? []).map(cellOf))),
  };
}

/** Cells of an answer by their text: a status or an owner is in thousands of rows, and kept once. */
type Texts = Map<string, Cell>;

function shareText(cell: Cell, texts: Texts): Cell {
  if (cell.kind !== 'text') return cell;
  const known = texts.get(cell.text);
  if (known) return known;
  texts.set(cell.text, cell);
  return cell;
}

/**
 * An error goes before the formula that shows it, because it has no value at all. A cell that shows something although nothing was
 * entered is filled by the array formula of another cell.
 */
export function toCell(data: sheets_v4.Schema$CellData): Cell {
  const { chipRuns, userEnteredValue, effectiveValue, formattedValue } = data;
  // A run of plain text beside a chip has an empty one.
  if (chipRuns?.some(({ chip }) => Object.keys(chip ?? {}).length > 0))
    return formattedValue ? { kind: 'chip', shown: formattedValue } : chipCell;
  const { formulaValue, numberValue, boolValue, stringValue } = userEnteredValue ?? {};
  const error = effectiveValue?.errorValue;
  const isSpilled = !userEnteredValue && Boolean(formattedValue);
  if (error) {
    const formula = formulaValue ?? (isSpilled ? '' : undefined);
    const message = error.message || formattedValue || error.type || 'error';
    return { kind: 'error', message, ...(typeof formula === 'string' && { formula }) };
  }
  const truth = effectiveValue?.boolValue;
  const seen = typeof truth === 'boolean' ? describeCell(booleanCell(truth)) : formattedValue;
  const shown = seen ? { shown: seen } : {};
  if (isSpilled) return { ...spilledCell, ...shown };
  if (typeof formulaValue === 'string') return { kind: 'formula', formula: formulaValue, ...shown };
  if (typeof numberValue === 'number') return shownNumber(numberValue, formattedValue);
  if (typeof boolValue === 'boolean') return { kind: 'boolean', boolean: boolValue };
  return textCell(stringValue ?? '');
}

const shownNumber = (number: number, shown: string | null | undefined): Cell =>
  !shown || shown === String(number) ? numberCell(number) : { kind: 'number', number, shown };

/** Rows of which some part is of a table of Google's own. */
interface TableRows {
  /** The row below the header of the table. */
  readonly startRow: number;
  /** The row behind the last one. */
  readonly endRow: number;
}

/** The cells of a table, without its header. */
interface TableArea extends TableRows {
  readonly startColumn: number;
  readonly endColumn: number;
}

/**
 * A column of a table to which people gave a type, from below its header on. The type decides how its cells look and what their dropdown
 * is: Google refuses a batch that sets a number format or a dropdown there.
 */
export interface TypedColumn extends TableRows {
  readonly index: number;
  readonly isOfCheckboxes: boolean;
}

const readTypedColumns = (tables: readonly sheets_v4.Schema$Table[]): TypedColumn[] =>
  tables.flatMap(({ columnProperties, range }) =>
    (columnProperties ?? [])
      .filter(({ columnType }) => columnType && columnType !== 'COLUMN_TYPE_UNSPECIFIED')
      .map(({ columnIndex, columnType }) => ({
        index: (range?.startColumnIndex ?? 0) + (columnIndex ?? 0),
        isOfCheckboxes: columnType === 'BOOLEAN',
        ...rowsOf(range),
      })),
  );

const readTableAreas = (tables: readonly sheets_v4.Schema$Table[]): TableArea[] =>
  tables.map(({ range }) => ({
    ...rowsOf(range),
    startColumn: range?.startColumnIndex ?? 0,
    endColumn: range?.endColumnIndex ?? Number.POSITIVE_INFINITY,
  }));

const rowsOf = (range: sheets_v4.Schema$GridRange | undefined): TableRows => ({
  startRow: (range?.startRowIndex ?? 0) + 1,
  endRow: range?.endRowIndex ?? Number.POSITIVE_INFINITY,
});

/** Whether a table that has this column ends right above a row: only a row that takes after the one above it belongs to the table there. */
export const endsTable = (tables: readonly TableArea[], row: number, column: number): boolean =>
  tables.some(
    ({ endColumn, endRow, startColumn }) => endRow === row && column >= startColumn && column < endColumn,
  );

/** The rows of a table once some were added from `added.at` on, which at its end may be outside of it, and then others were deleted. */
export function afterSteps<Area extends TableRows>(
  area: Area,
  added: { readonly at: number; readonly count: number; readonly isOutside: boolean },
  deleted: readonly number[],
): Area {
  const isAdded = added.at >= area.startRow && added.at <= area.endRow - Number(added.isOutside);
  const endRow = area.endRow + (isAdded ? added.count : 0);
  const isOwn = (row: number) => row >= area.startRow && row < endRow;
  return { ...area, endRow: endRow - deleted.filter(isOwn).length };
}

/** Whether a cell is of a typed column. */
export const isTyped = (typed: readonly TypedColumn[], row: number, column: number): boolean =>
  typed.some(({ endRow, index, startRow }) => index === column && row >= startRow && row < endRow);
