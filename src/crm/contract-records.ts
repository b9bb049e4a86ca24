import { z } from 'zod';

/**
 * The records the CRM answers with.
 * Source: CRM External API Specification, "Resources and their fields".
 *
 * These schemas describe answers, so they are lenient: fields the specification does not name are kept,
 * and a field that is absent stays absent, because "not said" must never be mistaken for "empty".
 * Only the id is demanded. Values that a create may leave unset are allowed to be null.
 */

const timestamp = z.string();
const date = z.string();

/** CRM External API Specification, "Lead": the free text kept beside a lead. */
export const leadAboutRecord = z.looseObject({
  description: z.string().nullable().exactOptional(),
  url: z.string().nullable().exactOptional(),
});

/** CRM External API Specification, "Lead". Creates answer with fewer fields than reads. */
export const leadRecord = z.looseObject({
  id: z.int(),
  uuid: z.string().nullable().exactOptional(),
  title: z.string().nullable().exactOptional(),
  status_name: z.string().nullable().exactOptional(),
  meta_data: z.looseObject({ about: leadAboutRecord.nullable().exactOptional() }).nullable().exactOptional(),
  custom_fields: z.record(z.string(), z.unknown()).nullable().exactOptional(),
  avatar: z.string().nullable().exactOptional(),
  avatar_type: z.string().nullable().exactOptional(),
  created_at: timestamp.nullable().exactOptional(),
  updated_at: timestamp.nullable().exactOptional(),
});
export type Lead = z.infer<typeof leadRecord>;

/** CRM External API Specification, "Task". `status` is 1-4, `priority` is 1-3. */
export const taskRecord = z.looseObject({
  id: z.int(),
  title: z.string().nullable().exactOptional(),
  description: z.string().nullable().exactOptional(),
  status: z.int().nullable().exactOptional(),
  priority: z.int().nullable().exactOptional(),
  due_date: date.nullable().exactOptional(),
  start_date: date.nullable().exactOptional(),
  lead_id: z.int().nullable().exactOptional(),
  parent_task_id: z.int().nullable().exactOptional(),
  created_at: timestamp.nullable().exactOptional(),
});
export type Task = z.infer<typeof taskRecord>;

/** CRM External API Specification, "Opportunity". `value` is money, `confidence` is a percentage. */
export const opportunityRecord = z.looseObject({
  id: z.int(),
  stage_id: z.int().nullable().exactOptional(),
  lead_id: z.int().nullable().exactOptional(),
  value: z.number().nullable().exactOptional(),
  confidence: z.int().nullable().exactOptional(),
  expected_close_date: date.nullable().exactOptional(),
  note: z.string().nullable().exactOptional(),
  created_at: timestamp.nullable().exactOptional(),
});
export type Opportunity = z.infer<typeof opportunityRecord>;

/** CRM External API Specification, "Contact". The only record whose id is a UUID. */
export const contactRecord = z.looseObject({
  id: z.string(),
  full_name: z.string().nullable().exactOptional(),
  email: z.string().nullable().exactOptional(),
  phone_number: z.string().nullable().exactOptional(),
  whatsapp_number: z.string().nullable().exactOptional(),
});
export type Contact = z.infer<typeof contactRecord>;

/** CRM External API Specification, "Pipeline": `tag_name` is `active`, `won` or something not shown. */
export const stageRecord = z.looseObject({
  id: z.int(),
  name: z.string(),
  order_index: z.int().nullable().exactOptional(),
  tag_name: z.string().nullable().exactOptional(),
});
export type Stage = z.infer<typeof stageRecord>;

/** CRM External API Specification, "Pipeline". */
export const pipelineRecord = z.looseObject({
  id: z.int(),
  name: z.string(),
  stages: z.array(stageRecord),
});
export type Pipeline = z.infer<typeof pipelineRecord>;

/** CRM External API Specification, "Lead status definition". `name` is the slug leads carry. */
export const leadStatusRecord = z.looseObject({
  id: z.int().nullable().exactOptional(),
  name: z.string(),
  label: z.string().nullable().exactOptional(),
  color: z.string().nullable().exactOptional(),
  is_default: z.boolean().nullable().exactOptional(),
  sort_order: z.int().nullable().exactOptional(),
});
export type LeadStatus = z.infer<typeof leadStatusRecord>;

/** CRM External API Specification, "Custom field definition": the types a field can have. */
export const customFieldTypes = [
  'text',
  'number',
  'boolean',
  'date',
  'select',
  'multi-select',
  'user-select',
  'user-multi-select',
] as const;
export type CustomFieldType = (typeof customFieldTypes)[number];

/**
 * CRM External API Specification, "Custom field definition".
 * `type` is any string here: a type the CRM adds later must not make the other definitions unreadable.
 */
export const customFieldDefinitionRecord = z.looseObject({
  id: z.int(),
  name: z.string(),
  field_key: z.string(),
  type: z.string(),
  options: z
    .array(z.looseObject({ id: z.int(), name: z.string() }))
    .nullable()
    .exactOptional(),
  order: z.int().nullable().exactOptional(),
  is_active: z.boolean().nullable().exactOptional(),
});
export type CustomFieldDefinition = z.infer<typeof customFieldDefinitionRecord>;

/** Words for people decide nothing: lines of them are taken together, and what is of another form is as good as absent. */
const words = z.union([
  z.string(),
  z.array(z.string()).transform((lines) => lines.join('; ')),
  z.unknown().transform(() => undefined),
]);

/** CRM External API Specification, "What the service does", 5: the shape of every answer's body. */
export const envelope = z.looseObject({
  http_code: z.int().exactOptional(),
  status: z.string().exactOptional(),
  message: words.exactOptional(),
  data: z.unknown().exactOptional(),
});
export type Envelope = z.infer<typeof envelope>;
