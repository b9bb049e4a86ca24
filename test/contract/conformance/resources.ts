import { expect } from 'vitest';
import { z } from 'zod';
import { customFieldTypes } from '../../../src/crm/contract.ts';
import { seedRecords } from '../../../src/sandbox/crm/seed.ts';
import { start } from '../../support/sandbox-crm-calls.ts';
import { eachRow, leadId, openAgency, type Section } from './section.ts';

const text = z.string();
const maybeText = z.string().nullable();
const timestamp = z.iso.datetime();
const maybeDay = z.iso.date().nullable();

/** The tables of "Resources and their fields": what each field of an answer is. */
const resources = {
  Lead: {
    id: z.int(),
    uuid: z.uuid(),
    title: text.min(1).max(200),
    status_name: maybeText,
    meta_data: z
      .strictObject({
        about: z.strictObject({ description: maybeText.optional(), url: maybeText.optional() }),
      })
      .nullable(),
    custom_fields: z.record(z.string(), z.unknown()),
    avatar: maybeText,
    avatar_type: z.enum(['emoji', 'image']).nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'Custom field definition': {
    id: z.int(),
    name: text,
    field_key: text,
    type: z.enum(customFieldTypes),
    options: z.array(z.strictObject({ id: z.int(), name: text })).nullable(),
    order: z.int(),
    is_active: z.boolean(),
  },
  'Lead status definition': {
    id: z.int(),
    name: text,
    label: text,
    color: text.regex(/^#[0-9a-f]{6}$/),
    is_default: z.boolean(),
    sort_order: z.int(),
  },
  Task: {
    id: z.int(),
    title: text.min(1).max(500),
    description: maybeText,
    status: z.int().min(1).max(4),
    priority: z.int().min(1).max(3),
    due_date: maybeDay,
    start_date: maybeDay,
    lead_id: z.int().nullable(),
    parent_task_id: z.int().nullable(),
    created_at: timestamp,
  },
  Opportunity: {
    id: z.int(),
    stage_id: z.int(),
    lead_id: z.int(),
    value: z.number().min(0),
    confidence: z.int().min(0).max(100),
    expected_close_date: maybeDay,
    note: maybeText,
    created_at: timestamp,
  },
  Contact: {
    id: z.uuid(),
    full_name: text,
    email: maybeText,
    phone_number: maybeText,
    whatsapp_number: maybeText,
  },
  Pipeline: {
    id: z.int(),
    name: text,
    stages: z.array(
      z.strictObject({ id: z.int(), name: text, order_index: z.int(), tag_name: z.enum(['active', 'won']) }),
    ),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, z.ZodType>>>>;

type Resource = keyof typeof resources;

const paths: Readonly<Record<Resource, string>> = {
  Lead: '/leads',
  'Custom field definition': '/custom-fields',
  'Lead status definition': '/lead-statuses',
  Task: '/tasks',
  Opportunity: '/opportunities',
  Contact: `/leads/${leadId}/contacts`,
  Pipeline: '/pipelines',
};

const listed = z.union([
  z.array(z.unknown()),
  z.object({ items: z.array(z.unknown()) }).transform((page) => page.items),
]);

/** As many records of the kind as the API lists at once. */
function readAll(resource: Resource): unknown[] {
  const { take, outcome } = openAgency({ counts: { leads: 100, opportunities: 100, tasks: 100 } });
  outcome('POST', paths.Contact, { full_name: 'Bea' });
  return listed.parse(take('GET', paths[resource]));
}

const isResource = (name: string): name is Resource => name in resources;

export const resourceSections: Readonly<Record<string, Section>> = Object.fromEntries(
  Object.entries(resources).map(([resource, fields]) => [
    `Resources › ${resource}`,
    {
      ...eachRow(
        Object.entries(fields),
        ([field]) => `${field} is what the table says`,
        ([field, schema]) => {
          const records = isResource(resource) ? readAll(resource) : [];
          expect(records.length).toBeGreaterThan(0);
          for (const record of records) z.looseObject({ [field]: schema }).parse(record);
        },
      ),
      'there are no other fields': () => {
        for (const record of isResource(resource) ? readAll(resource) : []) {
          expect(Object.keys(fields)).toEqual(expect.arrayContaining(Object.keys(Object(record))));
        }
      },
    },
  ]),
);

const { customFields, leadStatuses } = seedRecords(7, { leads: 0, opportunities: 0, tasks: 0 }, start);

/** What the sections say of definitions beyond the types of their fields. */
export const definitions: Section = {
  'options are null for types without options and there for the others': () => {
    for (const { type, options } of customFields) {
      expect(Array.isArray(options)).toBe(type === 'select' || type === 'multi-select');
    }
  },
  'there is a definition of every type': () =>
    expect(new Set(customFields.map(({ type }) => type))).toEqual(new Set(customFieldTypes)),
  'custom_fields of a lead is keyed by field_key': () => {
    const keys = new Set(customFields.map((definition) => definition.field_key));
    for (const lead of readAll('Lead')) {
      const { custom_fields } = z.looseObject({ custom_fields: z.looseObject({}) }).parse(lead);
      for (const key of Object.keys(custom_fields)) expect(keys).toContain(key);
    }
  },
  'custom_fields is {} when nothing is set': () => {
    const { create, take } = openAgency();
    expect(take('GET', `/leads/${create('/leads', { title: 'Plain' })}`)).toMatchObject({
      custom_fields: {},
    });
  },
  'the name of a status is the value leads carry': () => {
    const names = new Set(leadStatuses.map(({ name }) => name));
    for (const lead of readAll('Lead')) {
      const { status_name } = z.looseObject({ status_name: z.string().nullable() }).parse(lead);
      if (status_name !== null) expect(names).toContain(status_name);
    }
  },
  'stage ids of the pipelines are valid on opportunities': () => {
    const { model, outcome } = openAgency();
    for (const { id } of model.records.pipelines.flatMap(({ stages }) => stages)) {
      expect(outcome('POST', '/opportunities', { stage_id: id, lead_id: leadId }).status).toBe(201);
    }
  },
};
