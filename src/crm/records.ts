import { isObject } from '../core/facts.ts';
import { type CustomField, emptyCatalog } from '../core/fields/catalog.ts';
import { joinContactId } from '../core/fields/contact-id.ts';
import { customFieldKey, customFieldName, describeEntity } from '../core/fields/field.ts';
import { type Entity, perEntity, type RecordId, type Unread } from '../core/record.ts';
import type { FieldName, Fields, Value } from '../core/value.ts';
import { type ReadValue, readCustom, readStandard, toId, toText } from './read-value.ts';

/** A record of the CRM in canonical form. */
export interface CrmRecord {
  readonly id: RecordId;
  readonly fields: Fields;
  /** Absent where all of it was understood. */
  readonly unread?: Unread;
}

/** What has to be known of a custom field to read its values. */
export type KnownCustomField = Pick<CustomField, 'key' | 'kind'>;

/** The fields that are no custom ones. */
const standardFields = perEntity((entity) => describeEntity(entity, emptyCatalog));

/** What to call the record where an answer wraps it. */
const wrappers = ['item', 'data', 'result', 'record'] as const;

/**
 * Reads one record of an answer, each field by itself; otherwise says why it has no id that can be used. A field the CRM does not mention
 * stays absent, but for the keys of two objects that carry only what is set (`custom_fields` is `{}` when nothing is): where the object is
 * there, a missing key of `about` or of `customFields` is empty.
 */
export function readRecord(
  entity: Entity,
  json: unknown,
  customFields: readonly KnownCustomField[],
): CrmRecord | { readonly problem: string } {
  if (!isObject(json)) return { problem: 'it is not an object' };
  const id = readId(entity, json['id']);
  if (id === undefined)
    return { problem: json['id'] === undefined ? 'its id is missing' : faultOfId(entity) };
  const read: [FieldName, ReadValue][] = [];
  for (const { name, kind } of standardFields[entity]) {
    const told = json[name];
    // A time that the CRM leaves out is not known to be none.
    if (told === undefined || (kind === 'instant' && (told === null || told === ''))) continue;
    read.push([name, readStandard(kind, told)]);
  }
  if (entity === 'lead') read.push(...readLeadParts(json, customFields));
  const fields = Object.fromEntries(read.flatMap(([name, of]) => ('value' in of ? [[name, of.value]] : [])));
  const unread = read.flatMap(([name, of]) => ('fault' in of ? [[name, of.fault] as const] : []));
  return { id, fields, ...(unread.length > 0 ? { unread: Object.fromEntries(unread) } : {}) };
}

/** The only ids that are texts are those of contacts. */
function readId(entity: Entity, json: unknown): RecordId | undefined {
  const id = entity === 'contact' ? toText(json) : toId(json);
  return id === undefined || id === '' ? undefined : String(id);
}

const faultOfId = (entity: Entity): string =>
  entity === 'contact' ? 'its id is not a text' : 'its id is not a whole number';

/** A contact as it is kept: with the lead below which the CRM has it. */
export const placeContact = (leadId: RecordId, { id, fields, unread }: CrmRecord): CrmRecord => {
  const { lead_id: _told, ...others } = unread ?? {};
  return {
    id: joinContactId({ leadId, contactId: id }),
    fields: { ...fields, lead_id: Number(leadId) },
    ...(Object.keys(others).length > 0 ? { unread: others } : {}),
  };
};

/** The record inside of an answer's data: the data itself, or one level below under a usual name. */
export function unwrapRecord(entity: Entity, data: unknown): unknown {
  if (!isObject(data) || 'id' in data) return data;
  const key = [entity, ...wrappers].find((name) => isObject(data[name]));
  return key === undefined ? data : data[key];
}

/** How a record may tell that it is in the trash: the specification shows neither that nor whether trashed records are answered at all. */
const trashFlags = ['deleted', 'is_deleted', 'isDeleted', 'trashed', 'is_trashed', 'isTrashed'] as const;
const trashTimes = ['deleted_at', 'deletedAt', 'trashed_at', 'trashedAt'] as const;

/** A time that nobody has set may be told as one of the year 0 or 1. */
const isTime = (value: unknown): boolean => typeof value === 'string' && Date.parse(value) > 0;

/** Whether a record that is answered tells that it is in the trash. One that says nothing of it is there. */
export const isTrashed = (json: unknown): boolean =>
  isObject(json) &&
  (trashFlags.some((name) => json[name] === true || json[name] === 1) ||
    trashTimes.some((name) => isTime(json[name])));

function readLeadParts(
  lead: Readonly<Record<string, unknown>>,
  customFields: readonly KnownCustomField[],
): [FieldName, ReadValue][] {
  const { custom_fields: custom, updated_at: updatedAt } = lead;
  return [
    // No column shows it, but it tells that something about the lead changed, its contacts maybe.
    ...(typeof updatedAt === 'string'
      ? [['updated_at', { value: updatedAt }] as [FieldName, ReadValue]]
      : []),
    ...readAbout(lead['meta_data']),
    ...(custom === undefined ? [] : readCustomFields(custom, customFields)),
  ];
}

const noObject: ReadValue = { fault: 'is in something that is not an object' };

function readAbout(meta: unknown): [FieldName, ReadValue][] {
  if (meta === undefined) return [];
  const about = isObject(meta) ? (meta['about'] ?? {}) : isEmptyObject(meta) ? {} : undefined;
  const part = (name: string): ReadValue => {
    if (isEmptyObject(about)) return { value: null };
    return isObject(about) ? readStandard('text', about[name] ?? null) : noObject;
  };
  return aboutNames.map((name) => [name, part(name.slice('about.'.length))]);
}

function readCustomFields(
  custom: unknown,
  customFields: readonly KnownCustomField[],
): [FieldName, ReadValue][] {
  const told = isObject(custom) ? custom : {};
  const missing: ReadValue = isObject(custom) || isEmptyObject(custom) ? { value: null } : noObject;
  const kinds = new Map(customFields.map(({ key, kind }) => [key, kind]));
  const keys = new Set([...kinds.keys(), ...Object.keys(told)]);
  return [...keys].map((key) => [
    customFieldName(key),
    told[key] === undefined ? missing : readCustom(kinds.get(key), told[key]),
  ]);
}

/** Where nothing is in an object some write nothing, or an empty list. */
const isEmptyObject = (json: unknown): boolean => json === null || (Array.isArray(json) && json.length === 0);

/** The fields that make up a lead's `about` object, which accepts no others. */
export const aboutNames = ['about.description', 'about.url'] as const;

/** The body that writes the fields. Those the CRM sets itself are left out, and the lead of a contact, which stands in the path. */
export function writeRecord(entity: Entity, fields: Fields): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const custom: Record<string, Value> = {};
  const about: Record<string, Value> = {};
  const writable = new Set(
    standardFields[entity].flatMap((field) => (field.isReadOnly || field.isFixed ? [] : [field.name])),
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
