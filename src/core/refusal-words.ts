import type { SyncError } from './errors.ts';
import { customFieldKey, customFieldName } from './field.ts';
import { type Column, columnOf } from './layout.ts';
import type { OutboxItem } from './state.ts';

/** `<path>: <what is wrong>`: the CRM's specification, "Errors". It does not show what the key of a custom field is made of. */
const fieldNaming = /^([^\s:]+): (.+)$/s;

/**
 * The CRM's words about a value it refuses, for the person at the row: they name a field by its path in the
 * request, people know it by the header of its column. Words about anything else stay as they are.
 */
export function nameColumn(words: string, columns: readonly Column[]): string {
  const [, path = '', problem] = fieldNaming.exec(words) ?? [];
  const name = path.startsWith('custom_fields.')
    ? customFieldName(path.slice('custom_fields.'.length))
    : path.replace(/^meta_data\./, '');
  const column = columnOf({ columns }, name);
  return column ? `The CRM does not accept this ${column.header}: ${problem}` : words;
}

/** Whether the CRM may refuse a step because a custom field is gone, or of another kind, since the catalog was read: its words for that are not documented. */
export const mayLackField = ({ code }: SyncError, { fields }: Pick<OutboxItem, 'fields'>): boolean =>
  code === 'CRM_REFUSED' && Object.keys(fields).some((name) => customFieldKey(name) !== undefined);
