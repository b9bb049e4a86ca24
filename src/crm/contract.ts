import type { z } from 'zod';
import type { Entity } from '../core/record.ts';
import {
  contactBody,
  leadCreateBody,
  leadStatusBody,
  leadUpdateBody,
  opportunityBody,
  opportunityQuery,
  pageQuery,
  taskBody,
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

const names = { lead: 'Lead', opportunity: 'Opportunity', task: 'Task', contact: 'Contact' } as const;

/** The endpoint for one record of an entity. */
export const endpointOf = (operation: 'get' | 'create' | 'update' | 'delete', entity: Entity): EndpointName =>
  `${operation}${names[entity]}`;
