import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { FieldKind } from '../core/field-kind.ts';
import { idHeader, syncHeader } from '../core/headers.ts';
import type { Column, TabLayout } from '../core/layout.ts';
import type { Request } from './client.ts';
import { dateFormats } from './write.ts';

export type Rule = sheets_v4.Schema$DataValidationRule;

/** Google takes no longer list in a rule; a column with more labels has no dropdown. */
const labelsMax = 500;

/**
 * A tab that is new or has no cell at all: title, frozen header row, looks, dropdowns and the guard of the ID
 * column.
 */
export function headTab(sheetId: number, columnCount: number, { title, columns }: TabLayout): Request[] {
  // The Sync column stands beside the ID, where people see it without scrolling.
  const headers = [idHeader, syncHeader, ...columns.map((column) => column.header)];
  const missing = headers.length - columnCount;
  const properties = { sheetId, title, gridProperties: { frozenRowCount: 1 } };
  return [
    { updateSheetProperties: { properties, fields: 'title,gridProperties.frozenRowCount' } },
    ...(missing > 0 ? [{ appendDimension: { sheetId, dimension: 'COLUMNS', length: missing } }] : []),
    headerRow(sheetId, headers),
    ...columns.flatMap((column, index) => styleColumn(sheetId, index + 2, column)),
    setWidth(sheetId, 0, 90),
    guardColumn(sheetId, 0),
    setWidth(sheetId, 1, 200),
    ...syncColours(sheetId, 1),
  ];
}

const headerRow = (sheetId: number, headers: readonly string[]): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: 0, columnIndex: 0 },
    rows: [
      {
        values: headers.map((stringValue) => ({
          userEnteredValue: { stringValue },
          userEnteredFormat: { textFormat: { bold: true } },
        })),
      },
    ],
    fields: 'userEnteredValue,userEnteredFormat.textFormat.bold',
  },
});

const columnBody = (sheetId: number, index: number): sheets_v4.Schema$GridRange => ({
  sheetId,
  startRowIndex: 1,
  startColumnIndex: index,
  endColumnIndex: index + 1,
});

function styleColumn(sheetId: number, index: number, column: Column): Request[] {
  const numberFormat = formatOf(column.kind);
  const rule = ruleOf(column);
  return [
    setWidth(sheetId, index, column.kind === 'text' ? 220 : 140),
    ...(numberFormat ? [setFormat(sheetId, index, numberFormat)] : []),
    ...(rule ? [setRule(sheetId, index, rule)] : []),
  ];
}

/** In a column of texts a typed `007` or `1/2` stays what was typed. */
function formatOf(kind: FieldKind): sheets_v4.Schema$NumberFormat | undefined {
  if (kind === 'number' || kind === 'integer' || kind === 'boolean') return undefined;
  return dateFormats[kind] ?? { type: 'TEXT', pattern: '@' };
}

const setFormat = (sheetId: number, index: number, numberFormat: sheets_v4.Schema$NumberFormat): Request => ({
  repeatCell: {
    range: columnBody(sheetId, index),
    cell: { userEnteredFormat: { numberFormat } },
    fields: 'userEnteredFormat.numberFormat',
  },
});

const setWidth = (sheetId: number, index: number, pixelSize: number): Request => ({
  updateDimensionProperties: {
    range: { sheetId, dimension: 'COLUMNS', startIndex: index, endIndex: index + 1 },
    properties: { pixelSize },
    fields: 'pixelSize',
  },
});

export const setRule = (sheetId: number, index: number, rule: Rule): Request => ({
  setDataValidation: { range: columnBody(sheetId, index), rule },
});

/** A warning and no more, because a hard protection would keep editors from deleting and sorting rows. */
const guardColumn = (sheetId: number, index: number): Request => ({
  addProtectedRange: {
    protectedRange: {
      range: { sheetId, startColumnIndex: index, endColumnIndex: index + 1 },
      description: 'Record ids. A row is found by its id; please leave them as they are.',
      warningOnly: true,
    },
  },
});

/**
 * Backgrounds by the first word of the Sync cell. The rules lie on the header too: rows that are inserted right below it would push
 * rules away that begin there.
 */
const stateColours = [
  { word: 'Error', rgbColor: { red: 0.98, green: 0.85, blue: 0.83 } },
  { word: 'Conflict', rgbColor: { red: 1, green: 0.9, blue: 0.75 } },
  { word: 'Held', rgbColor: { red: 1, green: 0.96, blue: 0.78 } },
];

const syncColours = (sheetId: number, index: number): Request[] =>
  stateColours.map(({ word, rgbColor }) => ({
    addConditionalFormatRule: {
      index: 0,
      rule: {
        ranges: [{ sheetId, startColumnIndex: index, endColumnIndex: index + 1 }],
        booleanRule: {
          condition: { type: 'TEXT_STARTS_WITH', values: [{ userEnteredValue: word }] },
          format: { backgroundColorStyle: { rgbColor } },
        },
      },
    },
  }));

/**
 * The dropdown or checkbox of a column. Not strict: what else a person types gets an answer in the Sync
 * column.
 */
export function ruleOf({ kind, labels }: Column): Rule | undefined {
  if (kind === 'boolean') return { condition: { type: 'BOOLEAN' }, strict: false, showCustomUi: true };
  if (!labels || labels.length === 0 || labels.length > labelsMax) return undefined;
  const values = labels.map((userEnteredValue) => ({ userEnteredValue }));
  return { condition: { type: 'ONE_OF_LIST', values }, strict: false, showCustomUi: true };
}
