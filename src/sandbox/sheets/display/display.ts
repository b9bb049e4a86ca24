import type { Cell } from '../cell.ts';
import { ERROR_TEXTS, type FormulaResult, loading } from '../formulas/formula.ts';
import { numberFormatOf } from '../people/typed-input.ts';
import type { Json, JsonObject } from '../wire/json.ts';
import { textWithChips } from './chips.ts';
import { DATE_TYPES, defaultPattern, formatDate, formatGeneral } from './number-format.ts';
import { formatNumber, formatText } from './number-pattern.ts';
import { regionalOf } from './regional.ts';

/** What the cell amounts to after computing; undefined for an empty one. */
export function effectiveValue(cell: Cell | undefined): FormulaResult | undefined {
  const { numberValue, stringValue, boolValue, formulaValue } = cell?.userEnteredValue ?? {};
  // A formula is computed when its whole change is made.
  if (formulaValue !== undefined) return cell?.computed ?? loading;
  if (numberValue !== undefined) return { numberValue };
  if (boolValue !== undefined) return { boolValue };
  return stringValue === undefined ? filledIn(cell) : { stringValue };
}

/** What the array formula of another cell fills in; an empty text looks like nothing at all. */
function filledIn(cell: Cell | undefined): FormulaResult | undefined {
  const { computed } = cell ?? {};
  return computed && 'stringValue' in computed && computed.stringValue === '' ? undefined : computed;
}

/** The text a person sees in the cell of a spreadsheet with this locale. */
export function formattedValue(cell: Cell | undefined, locale = 'en_US'): string {
  const value = effectiveValue(cell);
  if (!value) return '';
  if ('stringValue' in value) return formattedText(textWithChips(cell) ?? value.stringValue, cell);
  if ('boolValue' in value) return value.boolValue ? 'TRUE' : 'FALSE';
  if ('errorValue' in value) return ERROR_TEXTS[value.errorValue.type] ?? '#ERROR!';
  return formattedNumber(value.numberValue, cell, locale);
}

/** A pattern may have a section for texts, as an accountant's has. */
function formattedText(text: string, cell: Cell | undefined): string {
  const pattern = numberFormatOf(cell)?.['pattern'];
  return typeof pattern === 'string' && pattern.includes(';') ? formatText(text, pattern) : text;
}

/** The number format that people chose, else the one that a formula's result has. */
export function shownFormat(cell: Cell | undefined): JsonObject | undefined {
  return numberFormatOf(cell) ?? (cell?.computedFormat && { ...cell.computedFormat });
}

function formattedNumber(value: number, cell: Cell | undefined, locale: string): string {
  const regional = regionalOf(locale);
  const format = shownFormat(cell);
  const type = String(format?.['type'] ?? '');
  const pattern = String(format?.['pattern'] ?? defaultPattern(type, regional));
  if (DATE_TYPES.has(type)) return formatDate(value, pattern, regional);
  return pattern === '' || type === 'TEXT'
    ? formatGeneral(value, regional)
    : formatNumber(value, pattern, regional, formatGeneral);
}

export type ValueRenderOption = 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA';
export type DateTimeRenderOption = 'SERIAL_NUMBER' | 'FORMATTED_STRING';

/** A cell as `values.get` gives it: `""` when empty, errors as their text. */
export function renderCell(
  cell: Cell | undefined,
  valueRender: ValueRenderOption,
  dateRender: DateTimeRenderOption,
  locale: string,
): Json {
  const formula = cell?.userEnteredValue?.formulaValue;
  if (valueRender === 'FORMATTED_VALUE') return formattedValue(cell, locale);
  if (valueRender === 'FORMULA' && formula !== undefined) return formula;
  const value = effectiveValue(cell);
  if (!value || 'errorValue' in value) return formattedValue(cell, locale);
  if ('stringValue' in value) return value.stringValue;
  if ('boolValue' in value) return value.boolValue;
  const isDate = DATE_TYPES.has(String(shownFormat(cell)?.['type'] ?? ''));
  return isDate && dateRender === 'FORMATTED_STRING' ? formattedValue(cell, locale) : value.numberValue;
}
