import type { SyncError } from '../errors.ts';
import type { OutboxItem } from '../state.ts';
import type { FieldName } from '../value.ts';
import { customFieldKey, customFieldName } from './field.ts';

/** `<path>: <what is wrong>`: the CRM's specification, "Errors". It does not show what the key of a custom field is made of. */
const fieldNaming = /^([^\s:]+): (.+)$/s;

/**
 * The CRM's words about a value it refuses, for the person at the row: they name a field by its path in the
 * request, users know it by its label. Words about anything else stay as they are.
 */
export function nameField(words: string, labelOf: (field: FieldName) => string | undefined): string {
  const [, path = '', problem] = fieldNaming.exec(words) ?? [];
  const name = path.startsWith('custom_fields.')
    ? customFieldName(path.slice('custom_fields.'.length))
    : path.replace(/^meta_data\./, '');
  const label = path === '' ? undefined : labelOf(name);
  return label === undefined ? words : `The CRM does not accept this ${label}: ${problem}`;
}

/** Whether the CRM may refuse a step because a custom field is gone, or of another kind, since the catalog was read: its words for that are not documented. */
export const mayLackField = ({ code }: SyncError, { fields }: Pick<OutboxItem, 'fields'>): boolean =>
  code === 'CRM_REFUSED' && Object.keys(fields).some((name) => customFieldKey(name) !== undefined);
