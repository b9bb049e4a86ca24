import type { z } from 'zod';
import { emptyCatalog } from '../core/catalog.ts';
import { joinContactId } from '../core/contact-id.ts';
import { customFieldKey, customFieldName, describeEntity } from '../core/field.ts';
import type { Entity, RecordId } from '../core/record.ts';
import type { FieldName, Fields, Value } from '../core/value.ts';
import { contactRecord, leadRecord, opportunityRecord, taskRecord } from './contract-records.ts';
import { isJsonObject } from './json.ts';

/** A record of the CRM in canonical form. */
export interface CrmRecord {
  readonly id: RecordId;
  readonly fields: Fields;
}

const schemas = {
  lead: leadRecord,
  opportunity: opportunityRecord,
  task: taskRecord,
  contact: contactRecord,
} satisfies Record<Entity, z.ZodType>;

/** What to call the record where an answer wraps it. */
const wrappers = ['item', 'data', 'result', 'record'] as const;

/**
 * Reads one record of an answer; otherwise says why it is not one. A field the CRM does not mention stays
 * absent, but for the keys of two objects that carry only what is set (`custom_fields` is `{}` when nothing
 * is): where the object is there, a missing key of `about` or of `customKeys` is empty.
 */
export function readRecord(
  entity: Entity,
  json: unknown,
  customKeys: readonly string[],
): CrmRecord | { readonly problem: string } {
  const parsed = schemas[entity].safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { problem: `${issue?.path.join('.') || entity}: ${issue?.message}` };
  }
  const record: Readonly<Record<string, unknown>> = parsed.data;
  const fields: Record<FieldName, Value> = {};
  for (const { name, kind } of describeEntity(entity, emptyCatalog)) {
    const value = readValue(record[name]);
    if (value === undefined) continue;
    if (kind === 'date') fields[name] = readDay(value);
    else if (kind !== 'instant') fields[name] = value;
    else if (typeof value === 'string') Object.assign(fields, readInstant(name, value));
  }
  if (entity === 'lead') Object.assign(fields, readLeadParts(record, customKeys));
  return { id: String(parsed.data.id), fields };
}

/** A contact as it is kept: with the lead below which the CRM has it. */
export const placeContact = (leadId: RecordId, { id, fields }: CrmRecord): CrmRecord => ({
  id: joinContactId({ leadId, contactId: id }),
  fields: { ...fields, lead_id: Number(leadId) },
});

/** The record inside of an answer's data: the data itself, or one level below under a usual name. */
export function unwrapRecord(entity: Entity, data: unknown): unknown {
  if (!isJsonObject(data) || 'id' in data) return data;
  const key = [entity, ...wrappers].find((name) => isJsonObject(data[name]));
  return key === undefined ? data : data[key];
}

/** How a record may tell that it is in the trash: the specification shows neither that nor whether trashed records are answered at all. */
const trashFlags = ['deleted', 'is_deleted', 'isDeleted', 'trashed', 'is_trashed', 'isTrashed'] as const;
const trashTimes = ['deleted_at', 'deletedAt', 'trashed_at', 'trashedAt'] as const;

/** A time that nobody has set may be told as one of the year 0 or 1. */
const isTime = (value: unknown): boolean => typeof value === 'string' && Date.parse(value) > 0;

/** Whether a record that is answered tells that it is in the trash. One that says nothing of it is there. */
export const isTrashed = (json: unknown): boolean =>
  isJsonObject(json) &&
  (trashFlags.some((name) => json[name] === true || json[name] === 1) ||
    trashTimes.some((name) => isTime(json[name])));

function readLeadParts(lead: Readonly<Record<string, unknown>>, customKeys: readonly string[]): Fields {
  const { meta_data: meta, custom_fields: custom, updated_at: updatedAt } = lead;
  const fields: Record<FieldName, Value> = {};
  // No column shows it, but it tells that something about the lead changed, its contacts maybe.
  if (typeof updatedAt === 'string') fields['updated_at'] = updatedAt;
  if (meta !== undefined) {
    const about = isJsonObject(meta) && isJsonObject(meta['about']) ? meta['about'] : {};
    fields['about.description'] = readValue(about['description']) ?? null;
    fields['about.url'] = readValue(about['url']) ?? null;
  }
  if (custom !== undefined) {
    for (const key of customKeys) fields[customFieldName(key)] = null;
    for (const [key, json] of Object.entries(isJsonObject(custom) ? custom : {})) {
      const value = readValue(json);
      if (value === undefined) delete fields[customFieldName(key)];
      else fields[customFieldName(key)] = value;
    }
  }
  return fields;
}

/** A value in canonical form: an empty text and an empty list are `null` too. Objects are not understood, nor is a list with one. */
function readValue(json: unknown): Value | undefined {
  if (json === null || json === '') return null;
  if (typeof json === 'string' || typeof json === 'number' || typeof json === 'boolean') return json;
  if (!Array.isArray(json)) return undefined;
  if (json.some((member) => member === null || typeof member === 'object')) return undefined;
  return json.length === 0 ? null : json.map(String);
}

/** Dates are calendar days; should one come with a time, the written day counts. */
const readDay = (value: Value): Value =>
  typeof value === 'string' ? value.slice(0, 'YYYY-MM-DD'.length) : value;

function readInstant(name: FieldName, told: string): Fields {
  // A zone may be told by its hours alone, which the built-in reader takes for something else.
  const text = told.replace(/:[\d.,]+[+-]\d{2}$/, '$&:00');
  const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(text);
  // Without a zone the text would be read in the zone of this machine.
  const instant = new Date(hasZone ? text : `${text}Z`);
  return Number.isNaN(instant.getTime()) ? {} : { [name]: instant.toISOString() };
}

/** The fields that make up a lead's `about` object, which accepts no others. */
export const aboutNames = ['about.description', 'about.url'] as const;

/** The body that writes the fields. Those the CRM sets itself are left out, and the lead of a contact, which stands in the path. */
export function writeRecord(entity: Entity, fields: Fields): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const custom: Record<string, Value> = {};
  const about: Record<string, Value> = {};
  const writable = new Set(
    describeEntity(entity, emptyCatalog).flatMap((field) =>
      field.isReadOnly || field.isFixed ? [] : [field.name],
    ),
  );
  for (const [name, value] of Object.entries(fields)) {
    const customKey = customFieldKey(name);
    if (customKey !== undefined) custom[customKey] = value;
    else if (!writable.has(name)) continue;
    else if (name.startsWith('about.')) about[name.slice('about.'.length)] = value;
    else body[name] = value;
  }
  if (Object.keys(about).length > 0) body['meta_data'] = { about };
  if (Object.keys(custom).length > 0) body['custom_fields'] = custom;
  return body;
}
