import { expect } from 'vitest';
import { type EndpointName, endpoints, type Scope, scopes } from '../../../src/crm/contract.ts';
import { keyOf, scopesWithout } from '../../support/sandbox-crm-calls.ts';
import { eachRow, endpointNames, failed, openAgency, requestOf, type Section } from './section.ts';

/** The table of the section "Endpoints", and the message that the sections below it name; null where none is. */
const rows: readonly (readonly [string, string, Scope, number, string | null])[] = [
  ['GET', '/leads', 'read:leads', 200, null],
  ['GET', '/leads/{id}', 'read:leads', 200, 'Lead retrieved'],
  ['POST', '/leads', 'write:leads', 201, 'Lead created'],
  ['PUT', '/leads/{id}', 'write:leads', 200, 'Lead updated'],
  ['PUT', '/leads/{id}/status', 'write:leads', 200, 'Lead status updated'],
  ['DELETE', '/leads/{id}', 'delete:leads', 200, 'Lead moved to trash'],
  ['GET', '/lead-statuses', 'read:lead_statuses', 200, 'Lead statuses retrieved'],
  ['GET', '/custom-fields', 'read:custom_fields', 200, 'Custom fields retrieved'],
  ['GET', '/pipelines', 'read:pipelines', 200, 'Pipelines retrieved'],
  ['GET', '/tasks', 'read:tasks', 200, null],
  ['GET', '/tasks/{id}', 'read:tasks', 200, null],
  ['POST', '/tasks', 'write:tasks', 201, 'Task created'],
  ['PUT', '/tasks/{id}', 'write:tasks', 200, 'Task updated'],
  ['DELETE', '/tasks/{id}', 'delete:tasks', 200, 'Task moved to trash'],
  ['GET', '/opportunities', 'read:opportunities', 200, null],
  ['GET', '/opportunities/{id}', 'read:opportunities', 200, 'Opportunity retrieved'],
  ['POST', '/opportunities', 'write:opportunities', 201, 'Opportunity created'],
  ['PUT', '/opportunities/{id}', 'write:opportunities', 200, null],
  ['DELETE', '/opportunities/{id}', 'delete:opportunities', 200, 'Opportunity moved to trash'],
  ['GET', '/leads/{leadId}/contacts', 'read:contacts', 200, null],
  ['GET', '/leads/{leadId}/contacts/{contactId}', 'read:contacts', 200, 'Contact retrieved'],
  ['POST', '/leads/{leadId}/contacts', 'write:contacts', 201, 'Contact created'],
  ['PUT', '/leads/{leadId}/contacts/{contactId}', 'write:contacts', 200, 'Contact updated'],
  ['DELETE', '/leads/{leadId}/contacts/{contactId}', 'delete:contacts', 200, 'Contact deleted'],
];

const nameOf = (method: string, path: string): EndpointName =>
  endpointNames.find((name) => endpoints[name].method === method && endpoints[name].path === path)!;

const openWith = (...granted: Scope[]) => openAgency({ keys: [{ key: keyOf('a'), scopes: granted }] });

export const endpointTable: Section = {
  'the contract has these endpoints and no others': () => {
    const written = rows.map(([method, path]) => `${method} ${path}`);
    const known = endpointNames.map((name) => `${endpoints[name].method} ${endpoints[name].path}`);
    expect(known.toSorted()).toEqual(written.toSorted());
  },
  ...eachRow(
    rows,
    ([method, path, _scope, status, message]) =>
      `${method} ${path} answers ${status} ${message ?? ''}`.trimEnd(),
    ([method, path, _scope, status, message]) => {
      const answer = openAgency().send(nameOf(method, path));
      expect(answer.status).toBe(status);
      if (message !== null) expect(answer.body).toMatchObject({ message });
    },
  ),
  ...eachRow(
    rows,
    ([method, path, scope]) => `${method} ${path} needs ${scope} and nothing else`,
    ([method, path, scope, status]) => {
      const name = nameOf(method, path);
      expect(openWith(scope).send(name).status).toBe(status);
      expect(openWith(...scopesWithout(scope)).send(name).body).toEqual(failed(403, 'Insufficient scope'));
    },
  ),
  'POST /leads needs write:custom_fields as well when custom_fields is sent': () => {
    const send = (...granted: Scope[]) =>
      openWith(...granted).outcome('POST', '/leads', { title: 'x', custom_fields: {} });
    expect(send('write:leads')).toEqual({ status: 403, message: 'Insufficient scope' });
    expect(send('write:leads', 'write:custom_fields').status).toBe(201);
  },
  'PUT /leads/{id} does not, custom_fields or not': () => {
    const body = { custom_fields: { city: 'Berlin' } };
    expect(openWith('write:leads').outcome('PUT', '/leads/1001', body).status).toBe(200);
  },
  ...eachRow(
    rows.filter(([, path]) => path.includes('{')),
    ([method, path]) => `${method} ${path} answers 404 where there is no such record`,
    ([method, path]) => {
      const nobody = { lead: '99', task: '99', opportunity: '99', contact: keyOf('0') };
      const answer = openAgency().call(...requestOf(nameOf(method, path), nobody));
      expect(answer.body).toEqual(failed(404, 'Resource not found'));
    },
  ),
  ...eachRow(
    [
      ['GET', '/leads/word'],
      ['PATCH', '/leads/1001'],
      ['GET', '/elsewhere'],
      ['GET', '/leads/1001/'],
    ] as const,
    ([method, path]) => `${method} ${path} is none of them`,
    ([method, path]) => {
      expect(openAgency().call(method, path, {}).body).toEqual(failed(404, 'Resource not found'));
    },
  ),
};

const scopeRows: Readonly<Record<Scope, readonly EndpointName[]>> = {
  'read:leads': ['listLeads', 'getLead'],
  'write:leads': ['createLead', 'updateLead', 'setLeadStatus'],
  'delete:leads': ['deleteLead'],
  'read:tasks': ['listTasks', 'getTask'],
  'write:tasks': ['createTask', 'updateTask'],
  'delete:tasks': ['deleteTask'],
  'read:opportunities': ['listOpportunities', 'getOpportunity'],
  'write:opportunities': ['createOpportunity', 'updateOpportunity'],
  'delete:opportunities': ['deleteOpportunity'],
  'read:contacts': ['listContacts', 'getContact'],
  'write:contacts': ['createContact', 'updateContact'],
  'delete:contacts': ['deleteContact'],
  'read:pipelines': ['listPipelines'],
  'read:lead_statuses': ['listLeadStatuses'],
  'read:custom_fields': ['listCustomFields'],
  'write:custom_fields': [],
};

/** "Authentication", the table of scopes. */
export const scopeTable: Section = eachRow(
  scopes.map((scope) => [scope] as const),
  ([scope]) => `${scope} allows ${scopeRows[scope].join(', ') || 'nothing alone'}`,
  ([scope]) => {
    const allowed = endpointNames.filter((name) => openWith(scope).send(name).status !== 403);
    expect(allowed.toSorted()).toEqual(scopeRows[scope].toSorted());
  },
);
