import { afterEach, describe, expect, it } from 'vitest';
import { splitContactId } from '../../src/core/fields/contact-id.ts';
import type { CrmChoices } from '../../src/sandbox/crm/choices.ts';
import { type SandboxCrm, startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { createCrmBench } from '../support/crm-bench.ts';
import { dialects } from '../support/dialects.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  answerFailure,
  answerSuccess,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';

const servers: (SandboxCrm | ScriptedServer)[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** The client in front of a CRM that speaks the dialect and has a few leads without contacts. */
async function serve(choices: Partial<CrmChoices> = {}) {
  const clock = createManualClock();
  const counts = { leads: 5, opportunities: 0, tasks: 0 };
  const sandbox = await startSandboxCrm({ port: 0, seed: 7, counts, choices, clock: clock.now });
  servers.push(sandbox);
  const { crm } = createCrmBench(sandbox.baseUrl, { apiKey: sandbox.apiKey, clock });
  const leadIds = sandbox.model.records.leads.live().map(({ id }) => id);
  return { crm, model: sandbox.model, leadIds, leadId: leadIds[0]! };
}

const empty = { email: null, phone_number: null, whatsapp_number: null };
const ada = { full_name: 'Ada', email: 'ada@example.com' };

describe.each(Object.entries(dialects))('contacts of a CRM with %s', (_, choices) => {
  it('are created, listed, read, changed and deleted below their lead', async () => {
    const { crm, leadId } = await serve(choices);
    const { id } = await crm.createRecord('contact', { ...ada, lead_id: leadId, phone_number: null });
    expect(splitContactId(id).leadId).toBe(String(leadId));
    const fields = { ...empty, ...ada, lead_id: leadId };
    expect((await crm.listContacts(String(leadId), 'sweep')).records).toMatchObject([
      { entity: 'contact', id, fields },
    ]);
    const key = { entity: 'contact', id } as const;
    await crm.updateRecord(key, { phone_number: '007', email: null });
    expect((await crm.getRecord(key, 'edit'))?.fields).toEqual({
      ...fields,
      phone_number: '007',
      email: null,
    });
    await crm.deleteRecord(key);
    expect(await crm.getRecord(key, 'edit')).toBeUndefined();
    expect(await crm.listContacts(String(leadId), 'sweep')).toEqual({ records: [] });
  });

  it('are listed each once, and soon for one request a lead', async () => {
    const { crm, model, leadIds } = await serve(choices);
    for (const [index, leadId] of leadIds.entries()) {
      for (let count = 0; count <= leadIds.length - index; count += 1)
        await crm.createRecord('contact', { full_name: `${index}-${count}`, lead_id: leadId });
    }
    const [longest, ...others] = leadIds;
    const list = async (leadId: number) =>
      (await crm.listContacts(String(leadId), 'sweep')).records.map(({ fields }) => fields['full_name']);
    expect(await list(longest!)).toHaveLength(leadIds.length + 1);
    const before = model.requests().length;
    for (const [index, leadId] of others.entries())
      expect(new Set(await list(leadId)).size).toBe(leadIds.length - index);
    expect(model.requests().length - before).toBe(others.length);
  });
});

it('a contact whose e-mail address is taken is refused with the words of the CRM', async () => {
  const { crm, leadId } = await serve();
  await crm.createRecord('contact', { ...ada, lead_id: leadId });
  await expect(
    crm.createRecord('contact', { ...ada, full_name: 'Grace', lead_id: leadId }),
  ).rejects.toMatchObject({
    code: 'CRM_REFUSED',
    message: 'Contact with this email already exists for this lead',
  });
});

it('a contact whose lead went to the trash is refused with words that name the lead', async () => {
  const { crm, leadId } = await serve();
  await crm.deleteRecord({ entity: 'lead', id: String(leadId) });
  await expect(crm.createRecord('contact', { ...ada, lead_id: leadId })).rejects.toMatchObject({
    code: 'CRM_NOT_FOUND',
    message: `The CRM does not have the lead #${leadId} of this contact any more. Restore it there and retry, or write another one.`,
  });
});

it('the contacts of a lead that is not there are not found, rather than none', async () => {
  const { crm } = await serve();
  await expect(crm.listContacts('99', 'sweep')).rejects.toMatchObject({ code: 'CRM_NOT_FOUND' });
});

it('a list of contacts in pages is read to its end', async () => {
  const names = Array.from({ length: 23 }, (_, index) => `Contact ${index}`);
  const server = await startScriptedServer((response, request) => {
    const page = Number(new URL(request.url, 'http://crm').searchParams.get('page'));
    const items = names.slice((page - 1) * 10, page * 10).map((name) => ({ id: name, full_name: name }));
    answerSuccess(response, items);
  });
  servers.push(server);
  const { crm } = createCrmBench(server.baseUrl);
  const { records: contacts } = await crm.listContacts('42', 'sweep');
  expect(contacts.map(({ fields }) => fields['full_name'])).toEqual(names);
  expect(contacts[0]).toMatchObject({ id: '42.Contact 0', fields: { lead_id: 42 } });
});

it('a contact without a name keeps no other of its lead from being read', async () => {
  const items = [
    { id: 'first', full_name: null, email: 'ada@example.com' },
    { id: 'second', ...ada },
  ];
  const server = await startScriptedServer((response) => answerSuccess(response, items));
  servers.push(server);
  const { records: contacts } = await createCrmBench(server.baseUrl).crm.listContacts('42', 'sweep');
  expect(contacts.map(({ fields }) => fields['full_name'])).toEqual([null, 'Ada']);
});

it('two lists of contacts that are read at once are each read to their end and no further', async () => {
  const names = Array.from({ length: 23 }, (_, index) => `Contact ${index}`);
  const server = await startScriptedServer((response, { url }) => {
    const page = Number(new URL(url, 'http://crm').searchParams.get('page'));
    const items = names.slice((page - 1) * 10, page * 10).map((name) => ({ id: name, full_name: name }));
    if (page > 9) answerFailure(response, 404, 'Resource not found');
    else answerSuccess(response, items);
  });
  servers.push(server);
  const { crm } = createCrmBench(server.baseUrl);
  const one = crm.listContacts('42', 'settle');
  await server.arrived(2);
  const other = crm.listContacts('43', 'settle');
  for (const { records } of [await one, await other]) expect(records).toHaveLength(names.length);
  expect(server.requests).toHaveLength(6);
});

it('a list of contacts that fails keeps no other from being read', async () => {
  const server = await startScriptedServer((response, { url }) =>
    url.includes('/42/') ? answerFailure(response, 404, 'Resource not found') : answerSuccess(response, []),
  );
  servers.push(server);
  const { crm } = createCrmBench(server.baseUrl);
  const lists = ['42', '43'].map((leadId) => crm.listContacts(leadId, 'settle'));
  expect((await Promise.allSettled(lists)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});
