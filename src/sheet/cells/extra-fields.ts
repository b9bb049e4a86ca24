import type { Catalog } from '../../core/fields/catalog.ts';
import { splitContactId } from '../../core/fields/contact-id.ts';
import { describeEntity, type FieldDefinition } from '../../core/fields/field.ts';
import type { Entity } from '../../core/record.ts';
import type { KnownRecord } from '../../core/state.ts';
import { labelKey } from '../../core/text/label-key.ts';
import type { FieldName, Value } from '../../core/value.ts';

/** Names the field that shows the address of a record. */
export const recordUrlField = 'record_url';

/** What a tab shows only where the configuration names it. Nobody edits it. */
const extras: Readonly<Record<Entity, readonly FieldDefinition[]>> = {
  lead: [{ name: 'updated_at', header: 'Updated', kind: 'instant', isReadOnly: true }],
  opportunity: [],
  task: [],
  contact: [],
};
const recordUrl: FieldDefinition = { name: recordUrlField, header: 'Link', kind: 'text', isReadOnly: true };

/** The fields that a tab has where the configuration names them, with headers that no other has. */
export function extraFields(entity: Entity, fields: readonly FieldDefinition[]): FieldDefinition[] {
  const taken = new Set(fields.map(({ header }) => labelKey(header)));
  return [...extras[entity], recordUrl].map((field) =>
    taken.has(labelKey(field.header)) ? { ...field, header: `${field.header} (${field.name})` } : field,
  );
}

export const extraFieldNames = (entity: Entity): FieldName[] =>
  [...extras[entity], recordUrl].map(({ name }) => name);

/** All fields that a tab may have. */
export function tabFields(entity: Entity, catalog: Catalog): FieldDefinition[] {
  const fields = describeEntity(entity, catalog);
  return [...fields, ...extraFields(entity, fields)];
}

/** The value that a column shows of a record; `undefined` where it is not known. */
export function shownValue(
  record: KnownRecord,
  { field, template }: { readonly field: FieldName; readonly template?: string },
): Value | undefined {
  return template === undefined ? record.fields[field] : addressOf(template, record.key);
}

/** The address of a record, by a template with `{entity}`, `{id}` and, of a contact, `{lead}`. */
export function addressOf(template: string, { entity, id }: KnownRecord['key']): string {
  const { contactId, leadId } = splitContactId(id);
  const parts: Readonly<Record<string, string>> =
    entity === 'contact' ? { entity, id: contactId, lead: leadId } : { entity, id };
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    name in parts ? encodeURIComponent(parts[name] ?? '') : whole,
  );
}
