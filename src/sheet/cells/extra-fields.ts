import type { Catalog } from '../../core/fields/catalog.ts';
import { describeEntity, type FieldDefinition } from '../../core/fields/field.ts';
import { addressOf } from '../../core/fields/record-url.ts';
import type { Entity, RecordId } from '../../core/record.ts';
import type { KnownRecord } from '../../core/state.ts';
import { labelKey } from '../../core/text/label-key.ts';
import type { FieldName, Value } from '../../core/value.ts';

/** Names the field that shows the address of a record. */
export const recordUrlField = 'record_url';
/** Names the field of a lead that shows whom one knows there. */
export const contactsField = 'contacts';

/** Names the field that shows on which side a record was changed last. */
const changedByField = 'changed_by';

/** What a tab shows only where the configuration names it. Nobody edits it. */
const extras: Readonly<Record<Entity, readonly FieldDefinition[]>> = {
  lead: [
    { name: 'updated_at', header: 'Updated', kind: 'instant', isReadOnly: true },
    { name: contactsField, header: 'Contacts', kind: 'text', isReadOnly: true },
  ],
  opportunity: [],
  task: [],
  contact: [],
};
const changedBy: FieldDefinition = {
  name: changedByField,
  header: 'Changed by',
  kind: 'text',
  isReadOnly: true,
};
const recordUrl: FieldDefinition = { name: recordUrlField, header: 'Link', kind: 'text', isReadOnly: true };

/** The fields that a tab has where the configuration names them, with headers that no other has. */
export function extraFields(entity: Entity, fields: readonly FieldDefinition[]): FieldDefinition[] {
  const taken = new Set(fields.map(({ header }) => labelKey(header)));
  return [...extras[entity], changedBy, recordUrl].map((field) =>
    taken.has(labelKey(field.header)) ? { ...field, header: `${field.header} (${field.name})` } : field,
  );
}

export const extraFieldNames = (entity: Entity): FieldName[] =>
  [...extras[entity], changedBy, recordUrl].map(({ name }) => name);

/** All fields that a tab may have. */
export function tabFields(entity: Entity, catalog: Catalog): FieldDefinition[] {
  const fields = describeEntity(entity, catalog);
  return [...fields, ...extraFields(entity, fields)];
}

/** The value that a column shows of a record; `undefined` where it is not known. */
export function shownValue(
  { contactsOf }: { readonly contactsOf: (lead: RecordId) => string | null },
  record: KnownRecord,
  { field, template }: { readonly field: FieldName; readonly template?: string },
): Value | undefined {
  if (template !== undefined) return addressOf(template, record.key);
  if (field === changedByField) return makers[record.madeBy ?? 'crm'] ?? null;
  return field === contactsField ? contactsOf(record.key.id) : record.fields[field];
}

const makers: Readonly<Record<string, string>> = {
  crm: 'CRM',
  sheet: 'Sheet',
  warehouse: 'SQL',
  undo: 'Undo',
};

/** So many are named; the others are counted. */
const contactsMax = 10;

/** The contacts of a lead in one line, by name and e-mail; `null` for none. */
export function summarizeContacts(contacts: readonly KnownRecord[]): string | null {
  const words = contacts.flatMap(({ fields, presence }) => {
    if (presence === 'gone') return [];
    const [name, email] = [fields['full_name'] ?? '', fields['email'] ?? ''];
    return email === '' ? String(name) : `${name} (${email})`;
  });
  if (words.length === 0) return null;
  const left = words.length - contactsMax;
  const named = words.toSorted().slice(0, contactsMax).join(', ');
  return left > 0 ? `${named} and ${left} more` : named;
}
