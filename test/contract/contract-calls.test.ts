import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { createRequestBudget } from '../../src/crm/budget.ts';
import { type EndpointName, endpoints } from '../../src/crm/contract.ts';
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

/** A CRM without records and a call of its endpoints, over HTTP. */
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
  const call = async (input: Omit<CrmCall, 'lane'>): Promise<unknown> => {
    called.add(input.endpoint);
    const { envelope } = await http({ lane: 'edit', ...input });
    return envelope.data;
  };
  return { call, called, model };
}

const record = z.looseObject({ id: z.union([z.int(), z.string()]) });
/** The id in the answer to a create. */
const idOf = (data: unknown) => record.parse(data).id;

it('every endpoint of the CRM can be called, and answers what was asked for', async () => {
  const { call, called, model } = await openCalls();
  const { customFields, leadStatuses, pipelines } = model.records;
  expect(await call({ endpoint: 'listLeadStatuses' })).toMatchObject({ items: leadStatuses });
  expect(await call({ endpoint: 'listPipelines' })).toMatchObject(pipelines);
  expect(await call({ endpoint: 'listCustomFields' })).toMatchObject(customFields);
  const stage_id = pipelines[0]!.stages[0]!.id;

  const custom_fields = { [customFields[0]!.field_key]: 'Bonn' };
  const lead = idOf(await call({ endpoint: 'createLead', body: { title: 'Anna', custom_fields } }));
  const path = { id: String(lead) };
  const renamed = await call({ endpoint: 'updateLead', path, body: { title: 'Berta' } });
  expect(renamed).toMatchObject({ title: 'Berta', custom_fields });
  const body = { status_name: leadStatuses[0]!.name };
  expect(await call({ endpoint: 'setLeadStatus', path, body })).toMatchObject({ status: { created: false } });
  expect(await call({ endpoint: 'getLead', path })).toMatchObject(body);
  await call({ endpoint: 'listLeads', query: { page: 1, limit: 100, order: 'asc' } });

  const newTask = { title: 'Call', status: '2', lead_id: lead };
  const taskPath = { id: String(idOf(await call({ endpoint: 'createTask', body: newTask }))) };
  await call({ endpoint: 'updateTask', path: taskPath, body: { due_date: null } });
  await call({ endpoint: 'getTask', path: taskPath });
  await call({ endpoint: 'listTasks' });

  const deal = { stage_id, lead_id: lead, value: 5 };
  const dealPath = { id: String(idOf(await call({ endpoint: 'createOpportunity', body: deal }))) };
  await call({ endpoint: 'updateOpportunity', path: dealPath, body: { confidence: 40 } });
  expect(await call({ endpoint: 'getOpportunity', path: dealPath })).toMatchObject({ confidence: 40 });
  await call({ endpoint: 'listOpportunities', query: { stage_id, expected_close_after: '2026-01-01' } });

  const leadId = String(lead);
  const ada = { full_name: 'Ada', email: 'ada@example.com' };
  const contactId = String(idOf(await call({ endpoint: 'createContact', path: { leadId }, body: ada })));
  const contactPath = { leadId, contactId };
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
