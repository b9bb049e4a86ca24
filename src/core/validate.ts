import type { FieldDefinition } from './field.ts';
import type { Value } from './value.ts';

/**
 * Why the CRM would refuse the value of a field, in words for the person at the row; `undefined` when it is fine.
 * Checked before sending, so that a mistake costs no request. Limits: the CRM's specification, "Limits".
 */
export function findFault(field: FieldDefinition, value: Value): string | undefined {
  if (value === null || value === '') {
    return field.isRequired || field.isKept ? `${field.header} can not be empty.` : undefined;
  }
  if (typeof value === 'string' && field.lengthMax !== undefined && [...value].length > field.lengthMax) {
    return `${field.header} is ${[...value].length} characters long; the CRM takes at most ${field.lengthMax}.`;
  }
  if (typeof value === 'number') {
    if (field.min !== undefined && value < field.min)
      return `${field.header} can not be less than ${field.min}.`;
    if (field.max !== undefined && value > field.max)
      return `${field.header} can not be more than ${field.max}.`;
  }
  return undefined;
}
