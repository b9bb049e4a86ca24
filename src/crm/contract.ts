import { z } from 'zod';
import type { Entity } from '../core/record.ts';

/** CRM External API Specification, "Authentication": every scope a key can have. */
export const scopes = [
  'read:leads',
  'write:leads',
  'delete:leads',
  'read:tasks',
  'write:tasks',
  'delete:tasks',
  'read:opportunities',
  'write:opportunities',
  'delete:opportunities',
  'read:contacts',
  'write:contacts',
  'delete:contacts',
  'read:pipelines',
  'read:lead_statuses',
  'read:custom_fields',
  'write:custom_fields',
] as const;
export type Scope = (typeof scopes)[number];

/** CRM External API Specification, "What the service does", 3: every path is below this prefix. */
export const basePath = '/api/v1/external';

/** CRM External API Specification, "Authentication", 2. */
export const apiKeyPattern = /^svc_live_[0-9a-fA-F]{64}$/;

/** CRM External API Specification, "Limits": the defaults the service is documented to have. */
export const documentedLimits = {
  requestsPerKey: 100,
  requestsPerIp: 200,
  windowMs: 60_000,
  maxPageSize: 100,
} as const;

/** CRM External API Specification, "Errors": the messages that are always these words. */
export const errorMessages = {
  401: 'Invalid or missing API key',
  403: 'Insufficient scope',
  404: 'Resource not found',
  409: 'Contact with this email already exists for this lead',
} as const;

/**
 * What the CRM accepts in bodies and queries.
 * Source: CRM External API Specification, "Endpoints", with the lengths and ranges of "Limits".
 * Where the specification leaves open which fields a create demands, none but the shown ones is required here.
 * Whether a date exists in the calendar and what a custom field's type accepts is not the schema's to say.
 */

/**
 * Reads `"2"` as 2: task status and priority are "also accepted" as numeric strings ("Task"), and queries are
 * text anyway.
 */
function integerOrNumericString(minimum: number, maximum: number) {
  const integer = z.int().min(minimum).max(maximum);
  const numericString = z.string().regex(/^\d+$/).transform(Number).pipe(integer);
  return z.union([integer, numericString]);
}

/** "Date rules", 1 and 2: `YYYY-MM-DD`, or a full ISO 8601 date-time whose date part counts. */
const bodyDate = z.string();
/** "Date rules", 5: filters take `YYYY-MM-DD` and nothing else. */
const filterDate = z.iso.date();
const id = z.int().min(1);
const queryInteger = integerOrNumericString(1, Number.MAX_SAFE_INTEGER);

const leadAbout = z.strictObject({
  description: z.string().max(500).nullable().exactOptional(),
  url: z.url().nullable().exactOptional(),
});

const leadFields = {
  title: z.string().min(1).max(200),
  status_name: z.string().max(100).nullable().exactOptional(),
  meta_data: z.object({ about: leadAbout.exactOptional() }).nullable().exactOptional(),
  custom_fields: z.record(z.string(), z.unknown()).exactOptional(),
};

/** "Leads": `POST /leads`. */
const leadCreateBody = z.object(leadFields);

/** "Leads": `PUT /leads/{id}`; only the supplied fields change. */
const leadUpdateBody = z.object({ ...leadFields, title: leadFields.title.exactOptional() });

/** "Leads": `PUT /leads/{id}/status`. */
const leadStatusBody = z.object({ status_name: z.string().min(1).max(100) });

/** "Tasks": `PUT /tasks/{id}`, where `null` clears a date, and `POST /tasks`: which fields that requires is not shown, so none is. */
const taskBody = z.object({
  title: z.string().min(1).max(500).exactOptional(),
  description: z.string().nullable().exactOptional(),
  status: integerOrNumericString(1, 4).exactOptional(),
  priority: integerOrNumericString(1, 3).exactOptional(),
  due_date: bodyDate.nullable().exactOptional(),
  start_date: bodyDate.nullable().exactOptional(),
  lead_id: id.nullable().exactOptional(),
  parent_task_id: id.nullable().exactOptional(),
});

/** "Opportunities": `PUT /opportunities/{id}` and `POST /opportunities`. Neither body is shown; these are the record's fields. */
const opportunityBody = z.object({
  stage_id: id.exactOptional(),
  lead_id: id.exactOptional(),
  value: z.number().min(0).exactOptional(),
  confidence: z.int().min(0).max(100).exactOptional(),
  expected_close_date: bodyDate.exactOptional(),
  note: z.string().nullable().exactOptional(),
});

/** "Contacts": `PUT /leads/{leadId}/contacts/{contactId}`, where the CRM refuses an empty body with 400, and `POST /leads/{leadId}/contacts`. */
const contactBody = z.object({
  full_name: z.string().min(1).exactOptional(),
  email: z.string().nullable().exactOptional(),
  phone_number: z.string().nullable().exactOptional(),
  whatsapp_number: z.string().nullable().exactOptional(),
});

/** "Opportunities": paging, shown for opportunities only; leads and tasks may ignore it. */
const pageQuery = z.object({
  page: queryInteger.exactOptional(),
  limit: integerOrNumericString(1, 100).exactOptional(),
  order: z.enum(['asc', 'desc']).exactOptional(),
});

/** "Opportunities": `GET /opportunities`. The search parameter's name is not shown and so not listed. */
const opportunityQuery = pageQuery.extend({
  stage_id: queryInteger.exactOptional(),
  lead_id: queryInteger.exactOptional(),
  expected_close_after: filterDate.exactOptional(),
  expected_close_before: filterDate.exactOptional(),
});

/** An endpoint as the specification shows it. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base address; `{id}`, `{leadId}` and `{contactId}` stand for path parameters. */
  readonly path: string;
  readonly scope: Scope;
  readonly success: 200 | 201;
  /** The envelope's message on success; null where the specification shows none. */
  readonly message: string | null;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
}

const row = (
  method: Endpoint['method'],
  path: string,
  scope: Scope,
  message: string | null,
): Omit<Endpoint, 'query' | 'body'> => ({
  method,
  path,
  scope,
  success: method === 'POST' ? 201 : 200,
  message,
});

/**
 * Every endpoint of the CRM, in the order of CRM External API Specification, "Endpoints".
 * Creating a lead with `custom_fields` needs the scope `write:custom_fields` besides the one named here.
 */
export const endpoints = {
  listLeads: { ...row('GET', '/leads', 'read:leads', null), query: pageQuery },
  getLead: row('GET', '/leads/{id}', 'read:leads', 'Lead retrieved'),
  createLead: { ...row('POST', '/leads', 'write:leads', 'Lead created'), body: leadCreateBody },
  updateLead: { ...row('PUT', '/leads/{id}', 'write:leads', 'Lead updated'), body: leadUpdateBody },
  setLeadStatus: {
    ...row('PUT', '/leads/{id}/status', 'write:leads', 'Lead status updated'),
    body: leadStatusBody,
  },
  deleteLead: row('DELETE', '/leads/{id}', 'delete:leads', 'Lead moved to trash'),
  listLeadStatuses: row('GET', '/lead-statuses', 'read:lead_statuses', 'Lead statuses retrieved'),
  listCustomFields: row('GET', '/custom-fields', 'read:custom_fields', 'Custom fields retrieved'),
  listPipelines: row('GET', '/pipelines', 'read:pipelines', 'Pipelines retrieved'),
  listTasks: { ...row('GET', '/tasks', 'read:tasks', null), query: pageQuery },
  getTask: row('GET', '/tasks/{id}', 'read:tasks', null),
  createTask: { ...row('POST', '/tasks', 'write:tasks', 'Task created'), body: taskBody },
  updateTask: { ...row('PUT', '/tasks/{id}', 'write:tasks', 'Task updated'), body: taskBody },
  deleteTask: row('DELETE', '/tasks/{id}', 'delete:tasks', 'Task moved to trash'),
  listOpportunities: { ...row('GET', '/opportunities', 'read:opportunities', null), query: opportunityQuery },
  getOpportunity: row('GET', '/opportunities/{id}', 'read:opportunities', 'Opportunity retrieved'),
  createOpportunity: {
    ...row('POST', '/opportunities', 'write:opportunities', 'Opportunity created'),
    body: opportunityBody,
  },
  updateOpportunity: {
    ...row('PUT', '/opportunities/{id}', 'write:opportunities', null),
    body: opportunityBody,
  },
  deleteOpportunity: row(
    'DELETE',
    '/opportunities/{id}',
    'delete:opportunities',
    'Opportunity moved to trash',
  ),
  listContacts: row('GET', '/leads/{leadId}/contacts', 'read:contacts', null),
  getContact: row('GET', '/leads/{leadId}/contacts/{contactId}', 'read:contacts', 'Contact retrieved'),
  createContact: {
    ...row('POST', '/leads/{leadId}/contacts', 'write:contacts', 'Contact created'),
    body: contactBody,
  },
  updateContact: {
    ...row('PUT', '/leads/{leadId}/contacts/{contactId}', 'write:contacts', 'Contact updated'),
    body: contactBody,
  },
  deleteContact: row('DELETE', '/leads/{leadId}/contacts/{contactId}', 'delete:contacts', 'Contact deleted'),
} satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

/** For people: `GET /leads`. */
export const describeEndpoint = ({ method, path }: Endpoint): string => `${method} ${path}`;

const names = { lead: 'Lead', opportunity: 'Opportunity', task: 'Task', contact: 'Contact' } as const;

/** The endpoint for one record of an entity. */
export const endpointOf = (operation: 'get' | 'create' | 'update' | 'delete', entity: Entity): EndpointName =>
  `${operation}${names[entity]}`;

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

/** CRM External API Specification, "Custom field definition". */
export interface CustomFieldDefinition {
  readonly id: number;
  readonly name: string;
  readonly field_key: string;
  readonly type: string;
  readonly options?: readonly { readonly id: number; readonly name: string }[] | null;
  readonly order?: number | null;
  readonly is_active?: boolean | null;
}

interface Stage {
  readonly id: number;
  readonly name: string;
  readonly order_index?: number;
  /** `active`, `won` or something not shown. */
  readonly tag_name?: string | null;
}

/** CRM External API Specification, "Pipeline". */
export interface Pipeline {
  readonly id: number;
  readonly name: string;
  readonly stages: readonly Stage[];
}

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
