import type { Cell } from './cell.ts';
import { computeFormula, ERROR_TEXTS, type FormulaResult } from './formula.ts';
import type { Json } from './json.ts';
import { DATE_TYPES, defaultPattern, formatDate, formatGeneral, formatNumber } from './number-format.ts';
import { regionalOf } from './regional.ts';
import { numberFormatOf } from './typed-input.ts';

export type EffectiveValue = FormulaResult | { boolValue: boolean };

/** What the cell amounts to after computing; undefined for an empty one. */
export function effectiveValue(cell: Cell | undefined): EffectiveValue | undefined {
  const { numberValue, stringValue, boolValue, formulaValue } = cell?.userEnteredValue ?? {};
  if (formulaValue !== undefined) return computeFormula(formulaValue);
  if (numberValue !== undefined) return { numberValue };
  if (boolValue !== undefined) return { boolValue };
  return stringValue === undefined ? undefined : { stringValue };
}

/** The text a person sees in the cell of a spreadsheet with this locale. */
export function formattedValue(cell: Cell | undefined, locale = 'en_US'): string {
  const value = effectiveValue(cell);
  if (!value) return '';
  if ('stringValue' in value) return value.stringValue;
  if ('boolValue' in value) return value.boolValue ? 'TRUE' : 'FALSE';
  if ('errorValue' in value) return ERROR_TEXTS[value.errorValue.type] ?? '#ERROR!';
  return formattedNumber(value.numberValue, cell, locale);
}

function formattedNumber(value: number, cell: Cell | undefined, locale: string): string {
  const regional = regionalOf(locale);
  const format = numberFormatOf(cell);
  const type = String(format?.['type'] ?? '');
  const pattern = String(format?.['pattern'] ?? defaultPattern(type, regional));
  if (DATE_TYPES.has(type)) return formatDate(value, pattern, regional);
  return pattern === '' || type === 'TEXT'
    ? formatGeneral(value, regional)
    : formatNumber(value, pattern, regional);
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
  const isDate = DATE_TYPES.has(String(numberFormatOf(cell)?.['type'] ?? ''));
  return isDate && dateRender === 'FORMATTED_STRING' ? formattedValue(cell, locale) : value.numberValue;
}
