import { type ChipRun, chipsToStore } from './display/chips.ts';
import { storedColors } from './display/colors.ts';
import type { FormulaResult } from './formulas/formula.ts';
import { type FieldMask, maskOf, mergeFields } from './wire/field-mask.ts';
import { isJsonObject, type Json, type JsonObject } from './wire/json.ts';

/** What was put into a cell; a formula is kept as its text. */
export type ExtendedValue = {
  numberValue?: number | undefined;
  stringValue?: string | undefined;
  boolValue?: boolean | undefined;
  formulaValue?: string | undefined;
};

/** The parts of a cell that can be written; a cell with none of them is not stored. */
export type Cell = {
  userEnteredValue?: ExtendedValue | undefined;
  userEnteredFormat?: JsonObject | undefined;
  textFormatRuns?: Json | undefined;
  /** Smart chips, each standing at a character of the text. */
  chipRuns?: ChipRun[] | undefined;
  dataValidation?: JsonObject | undefined;
  note?: string | undefined;
  /** What the cell's formula came to, or what the array formula of another cell fills in; computed anew after every change. */
  computed?: FormulaResult | undefined;
  /** The format that what was computed takes over, where people chose none. */
  computedFormat?: { type: string; pattern: string } | undefined;
};

/** One row, read only: a write replaces the row, so a copy of the list of rows is a snapshot. */
export type Row = readonly (Cell | undefined)[];

const MAX_CHARACTERS = 50_000;

/** Refusals of a cell's content, in Google's words; undefined when it may be stored. */
export function refusalOfCell(cell: Cell): string | undefined {
  const { stringValue = '', formulaValue = '' } = cell.userEnteredValue ?? {};
  const isTooLong = Math.max(stringValue.length, formulaValue.length) > MAX_CHARACTERS;
  return isTooLong
    ? `Your input contains more than the maximum of ${MAX_CHARACTERS} characters in a single cell.`
    : undefined;
}

/** Writes the masked parts of `update` over `cell`; undefined when nothing is left in it. */
export function mergeCell(cell: Cell | undefined, update: Cell, mask: FieldMask): Cell | undefined {
  const merged: Cell = { ...cell };
  if (maskOf(mask, 'userEnteredValue')) {
    merged.userEnteredValue = filledValue(update.userEnteredValue);
    // A value that is written over a chip takes it away.
    merged.chipRuns = undefined;
  }
  if (maskOf(mask, 'chipRuns'))
    merged.chipRuns = chipsToStore(update.chipRuns ?? [], merged.userEnteredValue?.stringValue);
  if (maskOf(mask, 'textFormatRuns')) merged.textFormatRuns = update.textFormatRuns;
  if (maskOf(mask, 'dataValidation')) merged.dataValidation = update.dataValidation;
  if (maskOf(mask, 'note')) merged.note = update.note || undefined;
  const formatMask = maskOf(mask, 'userEnteredFormat');
  if (formatMask) {
    const sent = storedColors(update.userEnteredFormat ?? {});
    const format = mergeFields(cell?.userEnteredFormat ?? {}, sent, formatMask);
    merged.userEnteredFormat = Object.keys(format).length > 0 ? format : undefined;
  }
  return withoutUnset(merged);
}

/** Stores a value, without the chips of the one before, and leaves format, note and validation as they are. */
export function withValue(cell: Cell | undefined, value: ExtendedValue | undefined): Cell | undefined {
  return withoutUnset({ ...cell, userEnteredValue: filledValue(value), chipRuns: undefined });
}

export function withNumberFormat(cell: Cell | undefined, numberFormat: JsonObject): Cell {
  return { ...cell, userEnteredFormat: { ...cell?.userEnteredFormat, numberFormat } };
}

export function withoutNumberFormat(cell: Cell | undefined): Cell | undefined {
  const { numberFormat: _, ...format } = cell?.userEnteredFormat ?? {};
  return withoutUnset({ ...cell, userEnteredFormat: Object.keys(format).length > 0 ? format : undefined });
}

/** An empty cell that becomes a checkbox says FALSE from then on. */
export function withBox(cell: Cell | undefined): Cell | undefined {
  const condition = cell?.dataValidation?.['condition'];
  const isBox = isJsonObject(condition) && condition['type'] === 'BOOLEAN';
  return isBox && !cell?.userEnteredValue ? { ...cell, userEnteredValue: { boolValue: false } } : cell;
}

/** An empty text empties the cell. */
function filledValue(value: ExtendedValue | undefined): ExtendedValue | undefined {
  if (!value || value.stringValue === '') return undefined;
  return Object.values(value).some((member) => member !== undefined) ? value : undefined;
}

function withoutUnset(cell: Cell): Cell | undefined {
  const kept = Object.entries(cell).filter(([, part]) => part !== undefined);
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}
