import type { Catalog } from '../../src/core/fields/catalog.ts';
import type { FieldDefinition } from '../../src/core/fields/field.ts';
import type { FieldKind } from '../../src/core/fields/field-kind.ts';
import type { ConflictPolicy } from '../../src/core/merge.ts';
import { type Entity, entities } from '../../src/core/record.ts';
import { createNames, type Names, titledChoice } from '../../src/sheet/cells/codec.ts';
import { tabFields } from '../../src/sheet/cells/extra-fields.ts';
import type { Column } from '../../src/sheet/port/layout.ts';

/** A catalog with what is awkward in real ones: equal stage names, options with commas, odd labels. */
export const sampleCatalog: Catalog = {
  pipelines: [
    {
      id: 1,
      name: 'Sales',
      stages: [
        { id: 12, name: 'Won', order: 2 },
        { id: 11, name: 'New', order: 1 },
      ],
    },
    {
      id: 2,
      name: 'Partners',
      stages: [
        { id: 21, name: 'New', order: 1 },
        { id: 22, name: 'Signed', order: 2 },
      ],
    },
    {
      id: 3,
      name: 'Twins',
      stages: [
        { id: 31, name: 'Same', order: 1 },
        { id: 32, name: 'same', order: 2 },
      ],
    },
  ],
  leadStatuses: [
    { name: 'new', label: 'New lead' },
    { name: 'in_talks', label: 'In talks' },
    { name: 'lost', label: '' },
  ],
  customFields: [
    { key: 'size', name: 'Size', kind: 'number', options: [] },
    { key: 'is_vip', name: 'VIP', kind: 'boolean', options: [] },
    { key: 'founded', name: 'Founded', kind: 'date', options: [] },
    { key: 'tier', name: 'Tier', kind: 'select', options: ['Gold', 'Silver', 'Bronze, basic'] },
    {
      key: 'topics',
      name: 'Topics',
      kind: 'multi-select',
      options: ['Web', 'Print', 'Food, drinks', 'Cars, bikes, boats'],
    },
    { key: 'owner', name: 'Owner', kind: 'user', options: [] },
    { key: 'team', name: 'Team', kind: 'users', options: [] },
  ],
};

/** Names in Berlin, with leads of which two share a title and one is called like a number. */
export const sampleNames: Names = createNames(
  sampleCatalog,
  [
    titledChoice(1, 'Acme'),
    titledChoice(2, 'Twin'),
    titledChoice(3, 'Twin'),
    titledChoice(42, 'Bäcker & Söhne'),
    titledChoice(7, '2019'),
  ],
  'Europe/Berlin',
);

const fields = new Map(
  entities.map((entity) => [entity, tabFields(entity, sampleCatalog)] satisfies [Entity, FieldDefinition[]]),
);

/** The definition of a field in {@link sampleCatalog}. */
export function sampleField(entity: Entity, name: string): FieldDefinition {
  const field = fields.get(entity)?.find((candidate) => candidate.name === name);
  if (!field) throw new Error(`There is no field ${name} of a ${entity}.`);
  return field;
}

/** One field of every kind. */
export const fieldOfKind: Readonly<Record<FieldKind, FieldDefinition>> = {
  text: sampleField('lead', 'about.description'),
  number: sampleField('opportunity', 'value'),
  integer: sampleField('opportunity', 'confidence'),
  boolean: sampleField('lead', 'custom.is_vip'),
  date: sampleField('opportunity', 'expected_close_date'),
  instant: sampleField('lead', 'created_at'),
  select: sampleField('lead', 'custom.tier'),
  'multi-select': sampleField('lead', 'custom.topics'),
  user: sampleField('lead', 'custom.owner'),
  users: sampleField('lead', 'custom.team'),
  lead: sampleField('opportunity', 'lead_id'),
  task: sampleField('task', 'parent_task_id'),
  stage: sampleField('opportunity', 'stage_id'),
  'lead-status': sampleField('lead', 'status_name'),
  'task-status': sampleField('task', 'status'),
  'task-priority': sampleField('task', 'priority'),
};

/** The column of a field in a tab. */
export function sampleColumn(
  field: FieldDefinition,
  direction: Column['direction'],
  conflict: ConflictPolicy,
): Column {
  return { field: field.name, kind: field.kind, header: field.header, direction, conflict };
}
