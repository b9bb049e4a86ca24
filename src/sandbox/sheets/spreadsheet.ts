import type { Cell, Row } from './cell.ts';
import { type Choices, defaultChoices } from './control/choices.ts';
import type { GridRange, GridSize } from './grid/grid-range.ts';
import type { LineMove } from './grid/line-moves.ts';
import { invalidArgument } from './wire/google-error.ts';
import type { JsonObject } from './wire/json.ts';

/** Numbers for new tabs, named ranges, metadata and so on; a seed makes them repeatable. */
export type NextId = () => number;

/** Something that lies over cells and moves with them: a merge, a protection, a rule, a filter, a band. */
export type Overlay = JsonObject & { id: number; ranges: GridRange[] };

/** A tag on the spreadsheet, a tab, or one row or column of a tab (index zero based). */
export interface DeveloperMetadata {
  metadataId: number;
  metadataKey: string;
  metadataValue?: string | undefined;
  visibility: string;
  sheetId?: number | undefined;
  line?: { dimension: Dimension; index: number } | undefined;
}

export type Dimension = 'ROWS' | 'COLUMNS';

/** A tab. `rows` and the two property lists have one entry per grid row or column. */
export interface Sheet {
  sheetId: number;
  title: string;
  /** hidden, tabColorStyle, rightToLeft: stored and given back as they are. */
  properties: JsonObject;
  /** frozenRowCount, hideGridlines and the like, without the two counts. */
  gridProperties: JsonObject;
  /** The spreadsheet's, which says how its cells show numbers and take what is typed. */
  locale: string;
  rows: Row[];
  rowProperties: (JsonObject | undefined)[];
  columnProperties: (JsonObject | undefined)[];
  /** Every insertion, deletion, move and sort of its lines, oldest first; a new one makes a new list. */
  moves: readonly LineMove[];
  merges: Overlay[];
  protectedRanges: Overlay[];
  conditionalFormats: Overlay[];
  bandedRanges: Overlay[];
  filterViews: Overlay[];
  basicFilter: Overlay[];
  rowGroups: Overlay[];
  columnGroups: Overlay[];
  tables: Overlay[];
  /** The types of the columns of tables, each lying over its column's header cell. */
  tableColumns: Overlay[];
  /** Charts and slicers as the API shows them; they lie over the grid and do not move with it. */
  charts: JsonObject[];
  slicers: JsonObject[];
}

/** A whole document. Lists are replaced or changed only in a draft, their entries never. */
export interface Spreadsheet {
  spreadsheetId: string;
  /** title, locale, timeZone, autoRecalc. */
  properties: JsonObject & { title: string; locale: string; timeZone: string };
  sheets: Sheet[];
  namedRanges: Overlay[];
  developerMetadata: DeveloperMetadata[];
  /** What it does where no document says what Google does. */
  choices: Choices;
}

export const OVERLAY_LISTS = [
  'merges',
  'protectedRanges',
  'conditionalFormats',
  'bandedRanges',
  'filterViews',
  'basicFilter',
  'rowGroups',
  'columnGroups',
  'tables',
  'tableColumns',
] as const;

export interface NewSpreadsheet {
  spreadsheetId: string;
  title: string;
  locale?: string | undefined;
  timeZone?: string | undefined;
}

/** An empty document with the one tab Google gives it. */
export function createSpreadsheet({ spreadsheetId, title, locale, timeZone }: NewSpreadsheet): Spreadsheet {
  return {
    spreadsheetId,
    properties: {
      title,
      locale: locale ?? 'en_US',
      autoRecalc: 'ON_CHANGE',
      timeZone: timeZone ?? 'Etc/GMT',
    },
    sheets: [createSheet(0, 'Sheet1', {}, locale)],
    namedRanges: [],
    developerMetadata: [],
    choices: defaultChoices,
  };
}

export function createSheet(
  sheetId: number,
  title: string,
  size: Partial<GridSize> = {},
  locale = 'en_US',
): Sheet {
  const { rowCount = 1000, columnCount = 26 } = size;
  return {
    sheetId,
    title,
    properties: {},
    gridProperties: {},
    locale,
    rows: Array.from({ length: rowCount }, () => []),
    rowProperties: Array.from({ length: rowCount }, () => undefined),
    columnProperties: Array.from({ length: columnCount }, () => undefined),
    moves: [],
    merges: [],
    protectedRanges: [],
    conditionalFormats: [],
    bandedRanges: [],
    filterViews: [],
    basicFilter: [],
    rowGroups: [],
    columnGroups: [],
    tables: [],
    tableColumns: [],
    charts: [],
    slicers: [],
  };
}

/** A copy whose lists may be changed; rows, cells and overlays stay shared, so it costs little. */
export function draftOf(spreadsheet: Spreadsheet): Spreadsheet {
  return {
    ...spreadsheet,
    properties: { ...spreadsheet.properties },
    sheets: spreadsheet.sheets.map(draftOfSheet),
    namedRanges: [...spreadsheet.namedRanges],
    developerMetadata: [...spreadsheet.developerMetadata],
  };
}

export function draftOfSheet(sheet: Sheet): Sheet {
  const draft: Sheet = {
    ...sheet,
    properties: { ...sheet.properties },
    gridProperties: { ...sheet.gridProperties },
    rows: [...sheet.rows],
    rowProperties: [...sheet.rowProperties],
    columnProperties: [...sheet.columnProperties],
    charts: [...sheet.charts],
    slicers: [...sheet.slicers],
  };
  for (const list of OVERLAY_LISTS) draft[list] = [...sheet[list]];
  return draft;
}

export function sizeOf(sheet: Sheet): GridSize {
  return { rowCount: sheet.rows.length, columnCount: sheet.columnProperties.length };
}

export function frozenRowsOf(sheet: Sheet): number {
  return Number(sheet.gridProperties['frozenRowCount'] ?? 0);
}

/** Finds a tab by its id; throws Google's 400 when there is none. */
export function sheetById(spreadsheet: Spreadsheet, sheetId = 0): Sheet {
  const sheet = spreadsheet.sheets.find((candidate) => candidate.sheetId === sheetId);
  if (!sheet) throw invalidArgument(`No grid with id: ${sheetId}`);
  return sheet;
}

/** Finds a whole tab by its id, for requests about the tab and not about cells; Google words its refusal otherwise. */
export function wholeSheetById(spreadsheet: Spreadsheet, sheetId: number): Sheet {
  const sheet = spreadsheet.sheets.find((candidate) => candidate.sheetId === sheetId);
  if (!sheet) throw invalidArgument(`No sheet with id: ${sheetId}`);
  return sheet;
}

/** Titles are told apart without regard to case. */
export function sheetByTitle(spreadsheet: Spreadsheet, title: string): Sheet | undefined {
  const wanted = title.toLowerCase();
  return spreadsheet.sheets.find((sheet) => sheet.title.toLowerCase() === wanted);
}

export function cellAt(sheet: Sheet, row: number, column: number): Cell | undefined {
  return sheet.rows[row]?.[column];
}

/** Puts a cell into a draft; the row is replaced, never changed. */
export function setCell(sheet: Sheet, row: number, column: number, cell: Cell | undefined): void {
  const cells = [...(sheet.rows[row] ?? [])];
  while (cells.length < column) cells.push(undefined);
  cells[column] = cell;
  sheet.rows[row] = cells;
}

export function growRows(sheet: Sheet, count: number): void {
  for (let added = 0; added < count; added += 1) {
    sheet.rows.push([]);
    sheet.rowProperties.push(undefined);
  }
}

export function growColumns(sheet: Sheet, count: number): void {
  for (let added = 0; added < count; added += 1) sheet.columnProperties.push(undefined);
}

/** The number of rows up to and including the last one with a value. */
export function filledRowCount(sheet: Sheet): number {
  return sheet.rows.findLastIndex((row) => row.some((cell) => cell?.userEnteredValue)) + 1;
}
