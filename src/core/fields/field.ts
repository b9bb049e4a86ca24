import type { Entity } from '../record.ts';
import { labelKey } from '../text/label-key.ts';
import type { FieldName } from '../value.ts';
import { type Catalog, type FormerLabel, formerOptionNames } from './catalog.ts';
import type { FieldKind } from './field-kind.ts';
import { idHeader, syncHeader } from './headers.ts';

/** A field of an entity: what it holds and what the CRM accepts for it. */
export interface FieldDefinition {
  readonly name: FieldName;
  /** What people read above the column unless the configuration says otherwise. */
  readonly header: string;
  readonly kind: FieldKind;
  /** The CRM sets it and nobody else: the sheet shows it. */
  readonly isReadOnly?: true;
  /** It can never be empty, and a new row is not sent without it. */
  readonly isRequired?: true;
  /** It is set by the create and never again. */
  readonly isFixed?: true;
  /** It can not be emptied once it is set, although a new row may lack it. */
  readonly isKept?: true;
  readonly lengthMax?: number;
  readonly min?: number;
  readonly max?: number;
  readonly options?: readonly string[];
  /** What options were called before, each by what it is called now. */
  readonly formerOptions?: readonly FormerLabel<string>[];
  /** Why the CRM takes no value for it now: what is known of it stays, and nothing goes either way. Absent as a rule. */
  readonly held?: string;
}

/** Fields, lengths and ranges: the CRM's specification, "Resources and their fields" and "Limits". */
const standardFields: Readonly<Record<Entity, readonly FieldDefinition[]>> = {
  lead: [
    { name: 'title', header: 'Title', kind: 'text', isRequired: true, lengthMax: 200 },
    { name: 'status_name', header: 'Status', kind: 'lead-status' },
    { name: 'about.description', header: 'About', kind: 'text', lengthMax: 500 },
    { name: 'about.url', header: 'Website', kind: 'text' },
    { name: 'created_at', header: 'Created', kind: 'instant', isReadOnly: true },
  ],
  opportunity: [
    { name: 'lead_id', header: 'Lead', kind: 'lead', isRequired: true },
    { name: 'stage_id', header: 'Stage', kind: 'stage', isRequired: true },
    { name: 'value', header: 'Value', kind: 'number', isKept: true, min: 0 },
    { name: 'confidence', header: 'Confidence', kind: 'integer', isKept: true, min: 0, max: 100 },
    { name: 'expected_close_date', header: 'Expected close', kind: 'date', isKept: true },
    { name: 'note', header: 'Note', kind: 'text' },
    { name: 'created_at', header: 'Created', kind: 'instant', isReadOnly: true },
  ],
  task: [
    { name: 'title', header: 'Title', kind: 'text', isRequired: true, lengthMax: 500 },
    { name: 'description', header: 'Description', kind: 'text' },
    { name: 'status', header: 'Status', kind: 'task-status', isKept: true },
    { name: 'priority', header: 'Priority', kind: 'task-priority', isKept: true },
    { name: 'start_date', header: 'Start', kind: 'date' },
    { name: 'due_date', header: 'Due', kind: 'date' },
    { name: 'lead_id', header: 'Lead', kind: 'lead' },
    { name: 'parent_task_id', header: 'Parent task', kind: 'task', min: 1 },
    { name: 'created_at', header: 'Created', kind: 'instant', isReadOnly: true },
  ],
  contact: [
    { name: 'lead_id', header: 'Lead', kind: 'lead', isRequired: true, isFixed: true },
    { name: 'full_name', header: 'Name', kind: 'text', isRequired: true },
    { name: 'email', header: 'E-mail', kind: 'text' },
    { name: 'phone_number', header: 'Phone', kind: 'text' },
    { name: 'whatsapp_number', header: 'WhatsApp', kind: 'text' },
  ],
};

export const customFieldName = (fieldKey: string): FieldName => `custom.${fieldKey}`;

/** The key of a custom field, or `undefined` when the name is one of the standard fields. */
export const customFieldKey = (name: FieldName): string | undefined =>
  name.startsWith('custom.') ? name.slice('custom.'.length) : undefined;

/** All fields of an entity, custom ones before the read-only tail; headers are unique within the entity. */
export function describeEntity(entity: Entity, catalog: Catalog): FieldDefinition[] {
  const standard = standardFields[entity];
  if (entity !== 'lead') return [...standard];
  const taken = new Set([idHeader, syncHeader, ...standard.map((field) => field.header)].map(labelKey));
  const custom = catalog.customFields.map((definition): FieldDefinition => {
    let header = definition.name;
    while (taken.has(labelKey(header))) header = `${header} (${definition.key})`;
    taken.add(labelKey(header));
    const formerOptions = formerOptionNames(definition);
    return {
      name: customFieldName(definition.key),
      header,
      kind: definition.kind,
      ...(definition.options.length > 0 ? { options: definition.options } : {}),
      ...(formerOptions.length > 0 ? { formerOptions } : {}),
      ...(definition.held === undefined ? {} : { held: definition.held }),
    };
  });
  const writable = standard.filter((field) => !field.isReadOnly);
  return [...writable, ...custom, ...standard.filter((field) => field.isReadOnly)];
}

/** The field of this name; `undefined` where the CRM does not tell of it, or no more. */
export const findField = (entity: Entity, name: FieldName, catalog: Catalog): FieldDefinition | undefined =>
  describeEntity(entity, catalog).find((field) => field.name === name);
