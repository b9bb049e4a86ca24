import type { Cell } from '../cell.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { effectiveValue, formattedValue } from './display.ts';

/** The values of a condition, as they were typed: the choices of a dropdown, the limits of a number. */
export function conditionValues(condition: JsonObject): string[] {
  const values = Array.isArray(condition['values']) ? condition['values'] : [];
  return values.filter(isJsonObject).map((value) => String(value['userEnteredValue'] ?? ''));
}

/** Whether a cell is empty, or holds what its rule takes. A kind of rule that is not known here takes all. */
export function isValid(cell: Cell, locale: string): boolean {
  const condition = cell.dataValidation?.['condition'];
  const value = effectiveValue(cell);
  if (!isJsonObject(condition) || !value) return true;
  const values = conditionValues(condition);
  switch (condition['type']) {
    case 'ONE_OF_LIST':
      return values.includes(formattedValue(cell, locale));
    case 'BOOLEAN':
      return 'boolValue' in value;
    case 'DATE_IS_VALID':
      return 'numberValue' in value;
    case 'NUMBER_BETWEEN': {
      const [min = 0, max = 0] = values.map(Number);
      return 'numberValue' in value && Number(value.numberValue) >= min && Number(value.numberValue) <= max;
    }
    default:
      return true;
  }
}
