import type { Cell } from './cell.ts';
import type { Choices } from './control/choices.ts';
import { metadataJson } from './developer-metadata.ts';
import { cellAsRead } from './display/chips.ts';
import { withColorPairs } from './display/colors.ts';
import { effectiveValue, formattedValue } from './display/display.ts';
import { type FormulaResult, linkOf } from './formulas/formula.ts';
import { linePropertiesOf } from './grid/dimensions.ts';
import { isHiddenByFilter } from './grid/filtering.ts';
import { type Area, areaOf, areasOverlap } from './grid/grid-range.ts';
import type { ResolvedRange } from './grid/range-reference.ts';
import {
  dimensionGroupsOf,
  filterJson,
  namedRangeJson,
  overlayJson,
  protectedRangeJson,
  rangeJson,
} from './overlay-json.ts';
import { type Dimension, type Overlay, type Sheet, type Spreadsheet, sizeOf } from './spreadsheet.ts';
import { tableBandJson, tableJson } from './tables.ts';
import { type FieldMask, maskOf, selectFields } from './wire/field-mask.ts';
import { isJsonObject, type Json, type JsonObject } from './wire/json.ts';

const WHITE: JsonObject = { red: 1, green: 1, blue: 1 };

const DEFAULT_TEXT_FORMAT: JsonObject = {
  foregroundColor: {},
  fontFamily: 'arial,sans,sans-serif',
  fontSize: 10,
  bold: false,
  italic: false,
  strikethrough: false,
  underline: false,
  foregroundColorStyle: { rgbColor: {} },
};

const DEFAULT_FORMAT: JsonObject = {
  backgroundColor: WHITE,
  padding: { top: 2, right: 3, bottom: 2, left: 3 },
  verticalAlignment: 'BOTTOM',
  wrapStrategy: 'OVERFLOW_CELL',
  textFormat: DEFAULT_TEXT_FORMAT,
  backgroundColorStyle: { rgbColor: WHITE },
};

export interface ResourceOptions {
  /** The ranges that limit tabs, overlays and cells; none means the whole spreadsheet. */
  wanted: readonly ResolvedRange[];
  includeGridData: boolean;
  /** The `fields` parameter; empty for everything. */
  mask: FieldMask;
}

/**
 * The spreadsheet as `spreadsheets.get` answers it. A mask that names `sheets.data` brings the cells whether
 * or not they are asked for otherwise.
 */
export function spreadsheetResource(spreadsheet: Spreadsheet, options: ResourceOptions): JsonObject {
  const { mask, wanted, includeGridData } = options;
  const dataMask = mask.size > 0 ? maskOf(mask, 'sheets', 'data') : includeGridData ? mask : undefined;
  const sheets = spreadsheet.sheets
    .map((sheet, index) => ({ sheet, index, areas: areasWanted(sheet, wanted) }))
    .filter(({ areas }) => wanted.length === 0 || areas.length > 0);
  const whole: JsonObject = {
    spreadsheetId: spreadsheet.spreadsheetId,
    properties: { ...spreadsheet.properties, defaultFormat: DEFAULT_FORMAT },
    sheets: sheets.map(({ sheet, index, areas }) => sheetJson(spreadsheet, sheet, index, areas, dataMask)),
    ...listed('namedRanges', spreadsheet.namedRanges.map(namedRangeJson)),
    spreadsheetUrl: `https://docs.google.com/spreadsheets/d/${spreadsheet.spreadsheetId}/edit`,
    ...listed('developerMetadata', metadataOn(spreadsheet, undefined, undefined)),
  };
  return selectFields(whole, withWholeData(mask));
}

/** The cells were selected when they were made: they are most of an answer, and going through them again is most of the time. */
function withWholeData(mask: FieldMask): FieldMask {
  const sheets = mask.get('sheets');
  if (!sheets?.has('data')) return mask;
  return new Map([...mask, ['sheets', new Map([...sheets, ['data', new Map()]])]]);
}

function areasWanted(sheet: Sheet, wanted: readonly ResolvedRange[]): Area[] {
  return wanted.filter((range) => range.sheet === sheet).map(({ area }) => area);
}

function sheetJson(
  spreadsheet: Spreadsheet,
  sheet: Sheet,
  index: number,
  areas: readonly Area[],
  dataMask: FieldMask | undefined,
): JsonObject {
  const whole = areaOf({}, sizeOf(sheet));
  const shown = areas.length > 0 ? areas : [whole];
  const inView = (overlay: Overlay) =>
    overlay.ranges.some((range) => shown.some((area) => areasOverlap(areaOf(range, sizeOf(sheet)), area)));
  const tables = sheet.tables.filter(inView);
  return {
    properties: sheetProperties(sheet, index),
    ...(dataMask && { data: shown.map((area) => gridData(spreadsheet, sheet, area, dataMask)) }),
    ...listed(
      'merges',
      sheet.merges.filter(inView).flatMap(({ ranges }) => ranges.map(rangeJson)),
    ),
    ...listed(
      'conditionalFormats',
      sheet.conditionalFormats.filter(inView).map((rule) => overlayJson(rule)),
    ),
    ...listed('filterViews', sheet.filterViews.map(filterJson)),
    ...listed('protectedRanges', sheet.protectedRanges.map(protectedRangeJson)),
    ...(sheet.basicFilter[0] && { basicFilter: overlayJson(sheet.basicFilter[0]) }),
    ...listed('bandedRanges', [
      ...sheet.bandedRanges.filter(inView).map((band) => overlayJson(band, 'bandedRangeId')),
      ...tables.map(tableBandJson),
    ]),
    ...listed(
      'tables',
      tables.map((table) => tableJson(sheet, table)),
    ),
    ...listed('charts', sheet.charts),
    ...listed('slicers', sheet.slicers),
    ...listed('developerMetadata', metadataOn(spreadsheet, sheet.sheetId, undefined)),
    ...listed('rowGroups', dimensionGroupsOf(sheet, 'ROWS')),
    ...listed('columnGroups', dimensionGroupsOf(sheet, 'COLUMNS')),
  };
}

export function sheetProperties(sheet: Sheet, index: number): JsonObject {
  return {
    sheetId: sheet.sheetId,
    title: sheet.title,
    index,
    sheetType: 'GRID',
    gridProperties: { ...sizeOf(sheet), ...sheet.gridProperties },
    ...withColorPairs(sheet.properties),
  };
}

function gridData(spreadsheet: Spreadsheet, sheet: Sheet, area: Area, mask: FieldMask): JsonObject {
  const lines = (dimension: Dimension, from: number, to: number) =>
    Array.from({ length: Math.max(0, to - from) }, (_, offset) =>
      lineJson(spreadsheet, sheet, dimension, from + offset),
    );
  const isAsked = (name: string) => maskOf(mask, name) !== undefined;
  const frame = {
    ...(area.startRow > 0 && { startRow: area.startRow }),
    ...(area.startColumn > 0 && { startColumn: area.startColumn }),
    ...(isAsked('rowMetadata') && { rowMetadata: lines('ROWS', area.startRow, area.endRow) }),
    ...(isAsked('columnMetadata') && { columnMetadata: lines('COLUMNS', area.startColumn, area.endColumn) }),
  };
  const valuesMask = maskOf(mask, 'rowData', 'values');
  return {
    ...selectFields(frame, mask),
    ...(valuesMask && listed('rowData', rowData(spreadsheet, sheet, area, valuesMask))),
  };
}

function rowData({ choices }: Spreadsheet, sheet: Sheet, area: Area, mask: FieldMask): JsonObject[] {
  const { endColumn, endRow, startColumn, startRow } = area;
  const view = { mask, locale: sheet.locale, chipText: choices.chipText, startColumn, endColumn };
  const rows = sheet.rows.slice(startRow, endRow).map((row) => shownRow(row, view));
  return rows.slice(0, rows.findLastIndex((row) => row !== blankRow) + 1);
}

/** Which cells of a row are asked for, and how they are shown. */
interface RowView {
  readonly mask: FieldMask;
  readonly locale: string;
  readonly chipText: Choices['chipText'];
  readonly startColumn: number;
  readonly endColumn: number;
}

/** What a row was last shown as, which it is again for the same view: rows are never changed, only replaced. */
const shownRows = new WeakMap<Sheet['rows'][number], { readonly view: RowView; readonly json: JsonObject }>();

const blankRow: JsonObject = {};

function shownRow(row: Sheet['rows'][number], view: RowView): JsonObject {
  const { chipText, endColumn, locale, mask, startColumn } = view;
  const last = shownRows.get(row);
  const isSameView =
    last?.view.mask === mask &&
    last.view.locale === locale &&
    last.view.chipText === chipText &&
    last.view.startColumn === startColumn &&
    last.view.endColumn === endColumn;
  if (isSameView) return last.json;
  const cells = row.slice(startColumn, endColumn);
  const width = cells.findLastIndex((cell) => cell !== undefined) + 1;
  const json = width > 0 ? { values: cells.slice(0, width).map((cell) => shownCell(cell, view)) } : blankRow;
  shownRows.set(row, { view, json });
  return json;
}

/** What a cell was last shown as, which it is again for the same way of showing it: cells are never changed, only replaced. */
const shownCells = new WeakMap<Cell, CellView & { readonly json: JsonObject }>();

type CellView = Pick<RowView, 'mask' | 'locale' | 'chipText'>;

function shownCell(cell: Cell | undefined, { chipText, locale, mask }: CellView): JsonObject {
  if (!cell) return {};
  const last = shownCells.get(cell);
  if (last?.mask === mask && last.locale === locale && last.chipText === chipText) return last.json;
  const json = selectFields(cellJson(cell, { chipText, locale, mask }), mask);
  shownCells.set(cell, { mask, locale, chipText, json });
  return json;
}

/** Only what the mask asks for is computed: a full sheet of effective formats is megabytes. */
function cellJson(stored: Cell, { chipText, locale, mask }: CellView): JsonObject {
  const cell = cellAsRead(stored, chipText);
  const isAsked = (name: string) => maskOf(mask, name) !== undefined;
  const computed = effectiveValue(cell);
  // A formula that comes to an empty text shows no value at all.
  const value = computed && 'stringValue' in computed && computed.stringValue === '' ? undefined : computed;
  const { userEnteredValue, textFormatRuns, dataValidation, note, chipRuns } = cell;
  const hyperlink = linkOf(userEnteredValue?.formulaValue ?? '');
  const userEnteredFormat = cell.userEnteredFormat && withColorPairs(cell.userEnteredFormat);
  return {
    ...(userEnteredValue && { userEnteredValue }),
    ...(value && { effectiveValue: value }),
    ...(value && isAsked('formattedValue') && { formattedValue: formattedValue(stored, locale) }),
    ...(userEnteredFormat && { userEnteredFormat }),
    ...(isAsked('effectiveFormat') && {
      effectiveFormat: effectiveFormat(computed, userEnteredFormat, cell.computedFormat),
    }),
    ...(textFormatRuns !== undefined && { textFormatRuns }),
    ...(chipRuns && { chipRuns }),
    ...(dataValidation && { dataValidation }),
    ...(hyperlink !== undefined && { hyperlink }),
    ...(note !== undefined && { note }),
  };
}

/** What a cell looks like: as people chose, else as its kind of value does, else as the spreadsheet does. */
function effectiveFormat(
  value: FormulaResult | undefined,
  chosen: JsonObject = {},
  numberFormat: JsonObject | undefined = undefined,
): JsonObject {
  const { textFormat } = chosen;
  return {
    ...DEFAULT_FORMAT,
    ...(value && { horizontalAlignment: alignmentOf(value), hyperlinkDisplayType: 'PLAIN_TEXT' }),
    ...(numberFormat && { numberFormat }),
    ...chosen,
    // The theme of the spreadsheet, which nobody changes here, names one font.
    textFormat: {
      ...DEFAULT_TEXT_FORMAT,
      fontFamily: 'Arial',
      ...(isJsonObject(textFormat) && textFormat),
    },
  };
}

function alignmentOf(value: FormulaResult): string {
  if ('numberValue' in value) return 'RIGHT';
  return 'stringValue' in value ? 'LEFT' : 'CENTER';
}

function lineJson(spreadsheet: Spreadsheet, sheet: Sheet, dimension: Dimension, index: number): JsonObject {
  const tags = metadataOn(spreadsheet, sheet.sheetId, { dimension, index });
  return {
    pixelSize: dimension === 'ROWS' ? 21 : 100,
    ...(dimension === 'ROWS' && isHiddenByFilter(sheet, index) && { hiddenByFilter: true }),
    ...linePropertiesOf(sheet, dimension)[index],
    ...listed('developerMetadata', tags),
  };
}

function metadataOn(
  spreadsheet: Spreadsheet,
  sheetId: number | undefined,
  line: { dimension: Dimension; index: number } | undefined,
): JsonObject[] {
  return spreadsheet.developerMetadata
    .filter(
      (metadata) =>
        metadata.sheetId === sheetId &&
        metadata.line?.dimension === line?.dimension &&
        metadata.line?.index === line?.index,
    )
    .map(metadataJson);
}

/** proto3 JSON: an empty list is left out. */
function listed(name: string, list: Json[]): JsonObject {
  return list.length > 0 ? { [name]: list } : {};
}
