import { afterEach, expect, expectTypeOf, it } from 'vitest';
import { createRequestBudget } from '../../src/crm/budget.ts';
import {
  type AnswerOf,
  type BodyOf,
  type CallEndpoint,
  type CallOf,
  type EndpointName,
  endpoints,
  type PathOf,
  type QueryOf,
} from '../../src/crm/contract.ts';
import type { Lead } from '../../src/crm/contract-records.ts';
import { type CrmCall, createCrmHttp } from '../../src/crm/http.ts';
import { type SandboxCrm, startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createMemoryBudgetLog } from '../support/memory-budget-log.ts';
import { createRecordingLog } from '../support/recording-log.ts';

let sandbox: SandboxCrm | undefined;
afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
});

/** A CRM without records and a typed call of its endpoints, over HTTP. */
async function openCalls() {
  const clock = createManualClock();
  const counts = { leads: 0, opportunities: 0, tasks: 0 };
  sandbox = await startSandboxCrm({ port: 0, seed: 7, counts, clock: clock.now });
  const { baseUrl, apiKey, model } = sandbox;
  const limits = { requests: 100, ipRequests: 200, windowMs: 60_000, holdMs: 60_000 };
  const keys = [{ name: 'key', secret: apiKey }];
  const budget = createRequestBudget({ ...limits, keys, clock, log: createMemoryBudgetLog() });
  const log = createRecordingLog();
  const http = createCrmHttp({ baseUrl, timeoutMs: 30_000, budget, clock, random: () => 0.5, log });
  const called = new Set<EndpointName>();
  const send = async (input: Omit<CrmCall, 'lane'>): Promise<unknown> => {
    called.add(input.endpoint);
    const { envelope } = await http({ lane: 'edit', ...input });
    return endpoints[input.endpoint].response.parse(envelope.data);
  };
  // What the schema of a row lets through is the answer of that row.
  const call = send as CallEndpoint;
  return { call, called, model };
}

it('every endpoint of the CRM can be called by what the contract says of it', async () => {
  const { call, called, model } = await openCalls();
  const [status] = (await call({ endpoint: 'listLeadStatuses' })).items;
  const [pipeline] = await call({ endpoint: 'listPipelines' });
  const fields = await call({ endpoint: 'listCustomFields' });
  const stage_id = pipeline!.stages[0]!.id;

  const custom_fields = { [fields[0]!.field_key]: 'Bonn' };
  const lead = await call({ endpoint: 'createLead', body: { title: 'Anna', custom_fields } });
  const path = { id: String(lead.id) };
  const renamed = await call({ endpoint: 'updateLead', path, body: { title: 'Berta' } });
  expect(renamed).toMatchObject({ title: 'Berta', custom_fields });
  const body = { status_name: status!.name };
  expect((await call({ endpoint: 'setLeadStatus', path, body })).status.created).toBe(false);
  expect((await call({ endpoint: 'getLead', path })).status_name).toBe(status!.name);
  await call({ endpoint: 'listLeads', query: { page: 1, limit: 100, order: 'asc' } });

  const task = await call({ endpoint: 'createTask', body: { title: 'Call', status: '2', lead_id: lead.id } });
  const taskPath = { id: String(task.id) };
  await call({ endpoint: 'updateTask', path: taskPath, body: { due_date: null } });
  await call({ endpoint: 'getTask', path: taskPath });
  await call({ endpoint: 'listTasks' });

  const deal = await call({ endpoint: 'createOpportunity', body: { stage_id, lead_id: lead.id, value: 5 } });
  const dealPath = { id: String(deal.id) };
  await call({ endpoint: 'updateOpportunity', path: dealPath, body: { confidence: 40 } });
  expect(await call({ endpoint: 'getOpportunity', path: dealPath })).toMatchObject({ confidence: 40 });
  await call({ endpoint: 'listOpportunities', query: { stage_id, expected_close_after: '2026-01-01' } });

  const leadId = String(lead.id);
  const ada = { full_name: 'Ada', email: 'ada@example.com' };
  const contact = await call({ endpoint: 'createContact', path: { leadId }, body: ada });
  const contactPath = { leadId, contactId: contact.id };
  await call({ endpoint: 'updateContact', path: contactPath, body: { phone_number: '+49 30 1' } });
  expect(await call({ endpoint: 'getContact', path: contactPath })).toMatchObject(ada);
  await call({ endpoint: 'listContacts', path: { leadId } });

  await call({ endpoint: 'deleteContact', path: contactPath });
  await call({ endpoint: 'deleteOpportunity', path: dealPath });
  await call({ endpoint: 'deleteTask', path: taskPath });
  await call({ endpoint: 'deleteLead', path });
  expect([...called].toSorted()).toEqual(Object.keys(endpoints).toSorted());
  const { leads, tasks, opportunities } = model.records;
  expect([leads, tasks, opportunities].map((collection) => collection.live())).toEqual([[], [], []]);
});

it('a call demands what its endpoint demands and takes nothing else', () => {
  expectTypeOf<PathOf<'getContact'>>().toEqualTypeOf<Readonly<Record<'leadId' | 'contactId', string>>>();
  expectTypeOf<BodyOf<'createLead'>>().toHaveProperty('title');
  expectTypeOf<BodyOf<'deleteLead'>>().toBeNever();
  expectTypeOf<QueryOf<'getLead'>>().toBeNever();
  expectTypeOf<AnswerOf<'getLead'>>().toEqualTypeOf<Lead>();
  expectTypeOf<AnswerOf<'listTasks'>>().toBeUnknown();
  type Call<Name extends EndpointName, Rest> = { readonly endpoint: Name } & Rest;
  expectTypeOf<Call<'getLead', { path: { id: string } }>>().toExtend<CallOf<'getLead'>>();
  expectTypeOf<Call<'getLead', object>>().not.toExtend<CallOf<'getLead'>>();
  expectTypeOf<Call<'createLead', { body: { title: string } }>>().toExtend<CallOf<'createLead'>>();
  expectTypeOf<Call<'createLead', { body: { avatar: string } }>>().not.toExtend<CallOf<'createLead'>>();
  expectTypeOf<Call<'listLeads', { body: object }>>().not.toExtend<CallOf<'listLeads'>>();
});
