import { labelKey } from '../text/label-key.ts';
import type { Value } from '../value.ts';
import type { FieldDefinition } from './field.ts';

/** What the daemon itself writes into the ID and the Sync column. */
const ownWords =
  /^(?:Synced \d{4}-\d\d-\d\d \d\d:\d\d|(?:Changed by|Replaced in) the CRM: .+ was (?:“|\(empty\))|Pending: (?:waiting to be sent to|to be created in|being (?:sent to|created in)) the CRM|Held: This row is a copy|new-[\da-f]{12}-[\da-f]{12}$)/;

/** Whether a field that can never be empty is: a space that nobody sees is no name, whoever hit its key. */
export const isMissing = ({ isRequired }: FieldDefinition, value: Value): boolean =>
  isRequired === true && (value === null || (typeof value === 'string' && labelKey(value) === ''));

/**
 * Why the CRM would refuse the value of a field, in words for the person at the row; `undefined` when it is fine.
 * Checked before sending, so that a mistake costs no request. Limits: the CRM's specification, "Limits".
 */
export function findFault(field: FieldDefinition, value: Value): string | undefined {
  if (isMissing(field, value)) return `${field.header} can not be empty.`;
  if (value === null || value === '') return field.isKept ? `${field.header} can not be empty.` : undefined;
  // In another column they stand because columns moved under a write, or because somebody pasted them.
  if (typeof value === 'string' && ownWords.test(value))
    return `${field.header} shows what belongs into the Sync or the ID column. Undo that, or type the right value.`;
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
