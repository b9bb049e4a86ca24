import { z } from 'zod';
import {
  contactRecord,
  customFieldDefinitionRecord,
  leadRecord,
  leadStatusRecord,
  opportunityRecord,
  pipelineRecord,
  taskRecord,
} from './contract-records.ts';
import {
  contactCreateBody,
  contactUpdateBody,
  leadCreateBody,
  leadStatusBody,
  leadUpdateBody,
  opportunityCreateBody,
  opportunityQuery,
  opportunityUpdateBody,
  pageQuery,
  taskCreateBody,
  taskUpdateBody,
} from './contract-requests.ts';

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

interface EndpointShape {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base address; `{id}`, `{leadId}` and `{contactId}` stand for path parameters. */
  readonly path: string;
  readonly scope: Scope;
  readonly success: 200 | 201;
  /** The envelope's message on success; null where the specification shows none. */
  readonly message: string | null;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** The envelope's `data` on success; `unknown` where the specification does not show it. */
  readonly response: z.ZodType;
  /** For listings: one element, however the elements are wrapped. */
  readonly item?: z.ZodType;
}

const notShown = z.unknown();
const noContent = z.unknown();
const createdRecord = z.looseObject({ id: z.int() });
const leadStatusAnswer = z.looseObject({
  lead_id: z.int(),
  status: leadStatusRecord.extend({ created: z.boolean().exactOptional() }),
});

/**
 * Every endpoint of the CRM, in the order of CRM External API Specification, "Endpoints".
 * Creating a lead with `custom_fields` needs the scope `write:custom_fields` besides the one named here.
 */
export const endpoints = {
  listLeads: {
    method: 'GET',
    path: '/leads',
    scope: 'read:leads',
    success: 200,
    message: null,
    query: pageQuery,
    response: notShown,
    item: leadRecord,
  },
  getLead: {
    method: 'GET',
    path: '/leads/{id}',
    scope: 'read:leads',
    success: 200,
    message: 'Lead retrieved',
    response: leadRecord,
  },
  createLead: {
    method: 'POST',
    path: '/leads',
    scope: 'write:leads',
    success: 201,
    message: 'Lead created',
    body: leadCreateBody,
    response: leadRecord,
  },
  updateLead: {
    method: 'PUT',
    path: '/leads/{id}',
    scope: 'write:leads',
    success: 200,
    message: 'Lead updated',
    body: leadUpdateBody,
    response: leadRecord,
  },
  setLeadStatus: {
    method: 'PUT',
    path: '/leads/{id}/status',
    scope: 'write:leads',
    success: 200,
    message: 'Lead status updated',
    body: leadStatusBody,
    response: leadStatusAnswer,
  },
  deleteLead: {
    method: 'DELETE',
    path: '/leads/{id}',
    scope: 'delete:leads',
    success: 200,
    message: 'Lead moved to trash',
    response: noContent,
  },
  listLeadStatuses: {
    method: 'GET',
    path: '/lead-statuses',
    scope: 'read:lead_statuses',
    success: 200,
    message: 'Lead statuses retrieved',
    response: z.looseObject({ items: z.array(leadStatusRecord) }),
    item: leadStatusRecord,
  },
  listCustomFields: {
    method: 'GET',
    path: '/custom-fields',
    scope: 'read:custom_fields',
    success: 200,
    message: 'Custom fields retrieved',
    response: z.array(customFieldDefinitionRecord),
    item: customFieldDefinitionRecord,
  },
  listPipelines: {
    method: 'GET',
    path: '/pipelines',
    scope: 'read:pipelines',
    success: 200,
    message: 'Pipelines retrieved',
    response: z.array(pipelineRecord),
    item: pipelineRecord,
  },
  listTasks: {
    method: 'GET',
    path: '/tasks',
    scope: 'read:tasks',
    success: 200,
    message: null,
    query: pageQuery,
    response: notShown,
    item: taskRecord,
  },
  getTask: {
    method: 'GET',
    path: '/tasks/{id}',
    scope: 'read:tasks',
    success: 200,
    message: null,
    response: notShown,
    item: taskRecord,
  },
  createTask: {
    method: 'POST',
    path: '/tasks',
    scope: 'write:tasks',
    success: 201,
    message: 'Task created',
    body: taskCreateBody,
    response: createdRecord,
  },
  updateTask: {
    method: 'PUT',
    path: '/tasks/{id}',
    scope: 'write:tasks',
    success: 200,
    message: 'Task updated',
    body: taskUpdateBody,
    response: noContent,
  },
  deleteTask: {
    method: 'DELETE',
    path: '/tasks/{id}',
    scope: 'delete:tasks',
    success: 200,
    message: 'Task moved to trash',
    response: noContent,
  },
  listOpportunities: {
    method: 'GET',
    path: '/opportunities',
    scope: 'read:opportunities',
    success: 200,
    message: null,
    query: opportunityQuery,
    response: notShown,
    item: opportunityRecord,
  },
  getOpportunity: {
    method: 'GET',
    path: '/opportunities/{id}',
    scope: 'read:opportunities',
    success: 200,
    message: 'Opportunity retrieved',
    response: opportunityRecord,
  },
  createOpportunity: {
    method: 'POST',
    path: '/opportunities',
    scope: 'write:opportunities',
    success: 201,
    message: 'Opportunity created',
    body: opportunityCreateBody,
    response: createdRecord,
  },
  updateOpportunity: {
    method: 'PUT',
    path: '/opportunities/{id}',
    scope: 'write:opportunities',
    success: 200,
    message: null,
    body: opportunityUpdateBody,
    response: notShown,
  },
  deleteOpportunity: {
    method: 'DELETE',
    path: '/opportunities/{id}',
    scope: 'delete:opportunities',
    success: 200,
    message: 'Opportunity moved to trash',
    response: noContent,
  },
  listContacts: {
    method: 'GET',
    path: '/leads/{leadId}/contacts',
    scope: 'read:contacts',
    success: 200,
    message: null,
    response: notShown,
    item: contactRecord,
  },
  getContact: {
    method: 'GET',
    path: '/leads/{leadId}/contacts/{contactId}',
    scope: 'read:contacts',
    success: 200,
    message: 'Contact retrieved',
    response: contactRecord,
  },
  createContact: {
    method: 'POST',
    path: '/leads/{leadId}/contacts',
    scope: 'write:contacts',
    success: 201,
    message: 'Contact created',
    body: contactCreateBody,
    response: contactRecord,
  },
  updateContact: {
    method: 'PUT',
    path: '/leads/{leadId}/contacts/{contactId}',
    scope: 'write:contacts',
    success: 200,
    message: 'Contact updated',
    body: contactUpdateBody,
    response: noContent,
  },
  deleteContact: {
    method: 'DELETE',
    path: '/leads/{leadId}/contacts/{contactId}',
    scope: 'delete:contacts',
    success: 200,
    message: 'Contact deleted',
    response: noContent,
  },
} as const satisfies Record<string, EndpointShape>;

export type EndpointName = keyof typeof endpoints;

/** One row of the table, without the literal types: what code that walks all endpoints works with. */
export type Endpoint = EndpointShape;

type Contract = typeof endpoints;
type Part<Name extends EndpointName, Key extends string> =
  Contract[Name] extends Readonly<Record<Key, infer Schema extends z.ZodType>> ? Schema : never;

/** The names in braces: `/leads/{leadId}/contacts/{contactId}` has `leadId` and `contactId`. */
type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

/** Values of the path's parameters; `never` where it has none. */
export type PathOf<Name extends EndpointName> = [ParameterOf<Contract[Name]['path']>] extends [never]
  ? never
  : Readonly<Record<ParameterOf<Contract[Name]['path']>, string>>;

/** The query, every part of which may be left out; `never` where the endpoint is not documented to take one. */
export type QueryOf<Name extends EndpointName> = z.output<Part<Name, 'query'>>;

/** The body to send; `never` where the endpoint takes none. */
export type BodyOf<Name extends EndpointName> = z.input<Part<Name, 'body'>>;

/** What the envelope of a success holds as `data`; `unknown` where the specification does not show it. */
export type AnswerOf<Name extends EndpointName> = z.output<Contract[Name]['response']>;

type Given<Key extends string, Value> = [Value] extends [never]
  ? Readonly<Partial<Record<Key, never>>>
  : Readonly<Record<Key, Value>>;

/** A call with all that its endpoint demands and nothing that it does not take. */
export type CallOf<Name extends EndpointName> = { readonly endpoint: Name } & Given<'path', PathOf<Name>> &
  Partial<Given<'query', QueryOf<Name>>> &
  Given<'body', BodyOf<Name>>;

/** Calls endpoints by what the contract says of each. */
export type CallEndpoint = <Name extends EndpointName>(call: CallOf<Name>) => Promise<AnswerOf<Name>>;
