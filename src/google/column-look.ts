import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { FieldKind } from '../core/fields/field-kind.ts';
import { idHeader, syncHeader } from '../core/fields/headers.ts';
import { changedByCrm } from '../core/notice.ts';
import type { Column } from '../sheet/port/layout.ts';
import type { Request } from './client.ts';
import type { Managed } from './managed.ts';
import { dateFormats } from './write/requests.ts';

export type Rule = sheets_v4.Schema$DataValidationRule;

/** Google takes no longer list in a rule; a column with more labels has no dropdown. */
const labelsMax = 500;

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

/** Width, formats, dropdown, colours and guard of a new column. */
export function dressColumn(sheetId: number, index: number, { name, column }: Managed): Request[] {
  if (column) return dressField(sheetId, index, column);
  if (name === idHeader) return [setWidth(sheetId, index, 70), guardColumn(sheetId, index)];
  return name === syncHeader ? [setWidth(sheetId, index, 200), ...colourStates(sheetId, index)] : [];
}

function dressField(sheetId: number, index: number, column: Column): Request[] {
  const numberFormat = formatOf(column.kind);
  const rule = ruleOf(column);
  return [
    setWidth(sheetId, index, column.kind === 'text' ? 220 : 140),
    ...(numberFormat ? [setFormat(sheetId, index, numberFormat)] : []),
    ...(rule ? [setRule(sheetId, index, rule)] : []),
  ];
}

const columnBody = (sheetId: number, index: number): sheets_v4.Schema$GridRange => ({
  sheetId,
  startRowIndex: 1,
  startColumnIndex: index,
  endColumnIndex: index + 1,
});

/** In a column of texts a typed `007` or `1/2` stays what was typed. */
function formatOf(kind: FieldKind): sheets_v4.Schema$NumberFormat | undefined {
  if (kind === 'number' || kind === 'integer' || kind === 'task' || kind === 'boolean') return undefined;
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
  // Without the last word Google leaves out rows that a filter hides.
  setDataValidation: { range: columnBody(sheetId, index), rule, filteredRowsIncluded: true },
});

export const setNote = (sheetId: number, index: number, note: string): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: 0, columnIndex: index },
    rows: [{ values: [{ note }] }],
    fields: 'note',
  },
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
 * Backgrounds by the first words of the Sync cell; black text is readable on each. The rules lie on the header too: rows that are
 * inserted right below it would push rules away that begin there.
 */
const stateColours = [
  { words: 'Error', rgbColor: { red: 0.98, green: 0.85, blue: 0.83 } },
  { words: 'Conflict', rgbColor: { red: 1, green: 0.9, blue: 0.75 } },
  { words: 'Held', rgbColor: { red: 1, green: 0.96, blue: 0.78 } },
  { words: 'Pending', rgbColor: { red: 0.86, green: 0.91, blue: 0.98 } },
  { words: 'New row', rgbColor: { red: 0.92, green: 0.89, blue: 0.97 } },
  { words: changedByCrm, rgbColor: { red: 0.8, green: 0.93, blue: 0.91 } },
];

/** How many of the colours a Sync column has; before it said so, it had the first five. */
export const coloursNow = stateColours.length;
const coloursAtFirst = 5;

/** The colours that a Sync column lacks which an earlier version laid out: what people made of the others is theirs. */
export const addColours = (sheetId: number, index: number, present = coloursAtFirst): Request[] =>
  colourStates(sheetId, index, present);

const colourStates = (sheetId: number, index: number, from = 0): Request[] =>
  stateColours.slice(from).map(({ words, rgbColor }) => ({
    addConditionalFormatRule: {
      index: 0,
      rule: {
        ranges: [{ sheetId, startColumnIndex: index, endColumnIndex: index + 1 }],
        booleanRule: {
          condition: { type: 'TEXT_STARTS_WITH', values: [{ userEnteredValue: words }] },
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
  // Google reads them as if they were typed. A formula is no label, and what it refuses it refuses with all that is laid out.
  if (labels.some((label) => /^[=+]/.test(label))) return undefined;
  const values = labels.map((userEnteredValue) => ({ userEnteredValue }));
  return { condition: { type: 'ONE_OF_LIST', values }, strict: false, showCustomUi: true };
}
