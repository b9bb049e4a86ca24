import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { FieldKind } from '../core/fields/field-kind.ts';
import { idHeader, syncHeader } from '../core/fields/headers.ts';
import { changedByCrm } from '../core/notice.ts';
import type { Column, TabKind } from '../sheet/port/layout.ts';
import type { Request } from './client.ts';
import type { Managed } from './managed.ts';

export type Rule = sheets_v4.Schema$DataValidationRule;
type CellFormat = sheets_v4.Schema$CellFormat;

/** Google takes no longer list in a rule; a column with more labels has no dropdown. */
const labelsMax = 500;

/*
 * How a new column looks. It is written once: what people make of it is theirs.
 */

/** Width, formats, dropdown, colours and guard of a new column. */
export function dressColumn(sheetId: number, index: number, entity: TabKind, managed: Managed): Request[] {
  const { column, isHidden = false, name } = managed;
  const format = formatOf(entity, managed);
  const rule = column && (ruleOf(column) ?? checkOf(column));
  return [
    setWidth(sheetId, index, widthOf(entity, managed)),
    ...(isHidden ? [hideColumn(sheetId, index)] : []),
    ...(Object.keys(format).length > 0 ? [setFormat(sheetId, index, format)] : []),
    ...(rule ? [setRule(sheetId, index, rule)] : []),
    ...(name === idHeader ? [guardColumn(sheetId, index)] : []),
    ...(name === syncHeader ? colourStates(sheetId, index) : []),
    ...Object.entries(column?.colours ?? {}).flatMap(([label, color]) =>
      isFormula(label)
        ? []
        : colourText(sheetId, index, { type: 'TEXT_EQ', values: [{ userEnteredValue: label }] }, pale(color)),
    ),
  ];
}

/** Of the columns of questions, in pixels: on a small screen all of what is needed to choose is in view. */
const questionWidths: Readonly<Record<string, number>> = {
  choose: 110,
  what: 300,
  title: 170,
  field: 110,
  crm: 150,
  table: 150,
  agreed: 130,
  tab: 100,
  record: 70,
  since: 130,
};

/** Names of leads and stages are long, and of no use where they are cut. */
const widthsByKind: Partial<Record<Column['kind'], number>> = { text: 220, lead: 220, stage: 260, task: 180 };

function widthOf(entity: TabKind, { column, name }: Managed): number {
  if (name === idHeader) return 70;
  if (name === syncHeader) return entity === 'question' ? 180 : 320;
  if (!column) return 80;
  return (entity === 'question' ? questionWidths[name] : widthsByKind[column.kind]) ?? 140;
}

/** A quiet ground for what people cannot change, and one that calls for a choice; the text is readable on both. */
const readOnlyLook: CellFormat = {
  backgroundColorStyle: { rgbColor: { red: 0.95, green: 0.95, blue: 0.95 } },
  textFormat: { foregroundColorStyle: { rgbColor: { red: 0.37, green: 0.39, blue: 0.41 } } },
};
const chooseLook: CellFormat = {
  backgroundColorStyle: { rgbColor: { red: 1, green: 0.96, blue: 0.78 } },
  textFormat: { bold: true },
};

const wrapped: CellFormat = { wrapStrategy: 'WRAP', verticalAlignment: 'TOP' };

function formatOf(entity: TabKind, { column, name }: Managed): CellFormat {
  if (name === syncHeader) return wrapped;
  if (!column) return {};
  const numberFormat = numberFormatOf(column);
  const look = entity === 'question' ? (column.direction === 'both' ? chooseLook : wrapped) : {};
  return {
    ...(numberFormat ? { numberFormat } : {}),
    ...look,
    ...(entity !== 'question' && column.direction === 'toTable' ? readOnlyLook : {}),
  };
}

/** Amounts of money, by the sign of a currency in their header. A percentage that is typed into another number is to show as one. */
const isMoney = ({ field, fieldHeader, header }: Column): boolean =>
  field === 'value' || /\p{Sc}/u.test(`${header}${fieldHeader ?? ''}`);

/** Without a format a date would show as its serial number. */
export const dateFormats: Readonly<Partial<Record<FieldKind, sheets_v4.Schema$NumberFormat>>> = {
  date: { type: 'DATE', pattern: 'yyyy-mm-dd' },
  instant: { type: 'DATE_TIME', pattern: 'yyyy-mm-dd hh:mm' },
};

/** In a column of texts a typed `007` or `1/2` stays what was typed. */
function numberFormatOf(column: Column): sheets_v4.Schema$NumberFormat | undefined {
  const { kind } = column;
  if (kind === 'number') return isMoney(column) ? { type: 'NUMBER', pattern: '#,##0.00' } : undefined;
  if (kind === 'integer' || kind === 'boolean') return undefined;
  return dateFormats[kind] ?? { type: 'TEXT', pattern: '@' };
}

const columnBody = (sheetId: number, index: number): sheets_v4.Schema$GridRange => ({
  sheetId,
  startRowIndex: 1,
  startColumnIndex: index,
  endColumnIndex: index + 1,
});

const setFormat = (sheetId: number, index: number, format: CellFormat): Request => ({
  repeatCell: {
    range: columnBody(sheetId, index),
    cell: { userEnteredFormat: format },
    fields: Object.keys(format)
      .map((part) => `userEnteredFormat.${part}`)
      .join(),
  },
});

const setWidth = (sheetId: number, index: number, pixelSize: number): Request => ({
  updateDimensionProperties: {
    range: { sheetId, dimension: 'COLUMNS', startIndex: index, endIndex: index + 1 },
    properties: { pixelSize },
    fields: 'pixelSize',
  },
});

const hideColumn = (sheetId: number, index: number): Request => ({
  updateDimensionProperties: {
    range: { sheetId, dimension: 'COLUMNS', startIndex: index, endIndex: index + 1 },
    properties: { hiddenByUser: true },
    fields: 'hiddenByUser',
  },
});

/** `row`: the only one that gets it, a grid row. */
export const setRule = (sheetId: number, index: number, rule: Rule, row?: number): Request => ({
  setDataValidation: {
    range: {
      ...columnBody(sheetId, index),
      ...(row === undefined ? {} : { startRowIndex: row, endRowIndex: row + 1 }),
    },
    rule,
    // Without this word Google leaves out rows that a filter hides.
    filteredRowsIncluded: true,
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
export const coloursAtFirst = 5;

export const colourStates = (sheetId: number, index: number, from = 0): Request[] =>
  stateColours
    .slice(from)
    .map(({ words, rgbColor }) =>
      colourText(
        sheetId,
        index,
        { type: 'TEXT_STARTS_WITH', values: [{ userEnteredValue: words }] },
        rgbColor,
      ),
    );

const colourText = (
  sheetId: number,
  index: number,
  condition: sheets_v4.Schema$BooleanCondition,
  rgbColor: sheets_v4.Schema$Color,
): Request => ({
  addConditionalFormatRule: {
    index: 0,
    rule: {
      ranges: [{ sheetId, startColumnIndex: index, endColumnIndex: index + 1 }],
      booleanRule: { condition, format: { backgroundColorStyle: { rgbColor } } },
    },
  },
});

/** A colour as a ground on which black text is readable. */
function pale(color: string): sheets_v4.Schema$Color {
  const channel = (at: number) => 1 - (1 - Number.parseInt(color.slice(at, at + 2), 16) / 255) * 0.3;
  return { red: channel(1), green: channel(3), blue: channel(5) };
}

/**
 * The dropdown or checkbox of a column. Not strict: what else a person types gets an answer in the Sync
 * column.
 */
export function ruleOf({ kind, labels }: Column): Rule | undefined {
  if (kind === 'boolean') return { condition: { type: 'BOOLEAN' }, strict: false, showCustomUi: true };
  if (!labels || labels.length === 0 || labels.length > labelsMax) return undefined;
  if (labels.some(isFormula)) return undefined;
  return listRule(labels);
}

/** Google reads a label as if it was typed. What it refuses it refuses with all that is laid out. */
const isFormula = (label: string): boolean => /^[=+]/.test(label);

/** A dropdown of labels that are no formulas. */
export const listRule = (labels: readonly string[]): Rule => ({
  condition: { type: 'ONE_OF_LIST', values: labels.map((userEnteredValue) => ({ userEnteredValue })) },
  strict: false,
  showCustomUi: true,
});

/** Larger numbers are no amounts. A rule that asks for any number is not known. */
const numberMax = 1e15;

/** Has Google mark a cell that holds no date, or no number in range. Not strict either: the mark is on the cell itself, where Sync says why. */
function checkOf({ direction, kind, max = numberMax, min = -numberMax }: Column): Rule | undefined {
  if (direction !== 'both') return undefined;
  if (kind === 'date') return { condition: { type: 'DATE_IS_VALID' }, strict: false };
  if (kind !== 'number' && kind !== 'integer') return undefined;
  const values = [min, max].map((limit) => ({ userEnteredValue: String(limit) }));
  return { condition: { type: 'NUMBER_BETWEEN', values }, strict: false };
}
