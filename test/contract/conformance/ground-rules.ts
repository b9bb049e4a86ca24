import { expect } from 'vitest';
import { scopes } from '../../../src/crm/contract.ts';
import { createRecords } from '../../../src/sandbox/crm/records.ts';
import { keyOf } from '../../support/sandbox-crm-calls.ts';
import { eachRow, endpointNames, leadId, openAgency, requestOf, type Section } from './section.ts';

/** Two agencies: the key `a` belongs to the usual one, the key `b` to another that has one lead and one stage. */
function openTwoAgencies() {
  const stages = [{ id: 9001, name: 'Open', order_index: 0, tag_name: 'active' }];
  const catalog = {
    pipelines: [{ id: 9000, name: 'Theirs', stages }],
    leadStatuses: [],
    customFields: [],
    members: [],
  };
  const keys = [
    { key: keyOf('a'), scopes },
    { key: keyOf('b'), scopes, records: createRecords(8, catalog, 500_000) },
  ];
  const crm = openAgency({ keys });
  const asOther = { headers: { 'x-api-key': keyOf('b') } };
  const body = JSON.stringify({ title: 'Theirs' });
  expect(crm.call('POST', '/leads', undefined, { ...asOther, body }).status).toBe(201);
  return { ...crm, asOther, theirs: { lead: 501_001, stage: 9001 } };
}

const agencies: Section = {
  '4: a key reads its own agency’s records': () => {
    const { call, take, asOther, theirs } = openTwoAgencies();
    const answer = call('GET', '/leads', undefined, asOther);
    expect(answer.body).toMatchObject({ data: { items: [{ id: theirs.lead }] } });
    expect(take('GET', '/leads')).toMatchObject({ total: 3 });
  },
  '4: an id of another agency in a list filter matches nothing and is no error': () => {
    const { take, listIds, theirs } = openTwoAgencies();
    expect(listIds('/opportunities', { lead_id: String(theirs.lead) })).toEqual([]);
    expect(listIds('/opportunities', { stage_id: String(theirs.stage) })).toEqual([]);
    expect(take('GET', '/opportunities')).toMatchObject({ total: 1 });
  },
  '4: a body can not name another agency’s records': () => {
    const { outcome, theirs } = openTwoAgencies();
    const deal = { stage_id: 11, lead_id: leadId };
    expect(outcome('POST', '/opportunities', { ...deal, lead_id: theirs.lead }).status).toBe(400);
    expect(outcome('POST', '/opportunities', { ...deal, stage_id: theirs.stage }).status).toBe(400);
    expect(outcome('POST', '/tasks', { title: 'x', lead_id: theirs.lead }).status).toBe(400);
  },
  ...eachRow(
    endpointNames
      .filter(
        (name) => requestOf(name, { task: 't', opportunity: 'o', contact: 'c' })[1].split('/').length > 2,
      )
      .map((name) => [name] as const),
    ([name]) => `4: a record of another agency is not found by ${name}`,
    ([name]) => {
      const { send, asOther } = openTwoAgencies();
      expect(send(name, asOther).status).toBe(404);
      expect(send(name).status).toBeLessThan(300);
    },
  ),
};

const envelope: Section = {
  ...eachRow(
    endpointNames.map((name) => [name] as const),
    ([name]) => `5: ${name} answers in the envelope, with the HTTP status in it`,
    ([name]) => {
      const { status, body } = openAgency().send(name);
      expect(body).toMatchObject({ http_code: status, status: 'success', message: expect.any(String) });
      expect(['data', 'http_code', 'message', 'status']).toEqual(
        expect.arrayContaining(Object.keys(Object(body))),
      );
    },
  ),
  '5: an error has no data': () => {
    const { body } = openAgency().call('GET', '/leads/99');
    expect(Object.keys(Object(body)).toSorted()).toEqual(['http_code', 'message', 'status']);
  },
};

const updates: Section = eachRow(
  [
    ['updateLead', { title: 'Berta' }],
    ['updateTask', { priority: 3 }],
    ['updateOpportunity', { value: 5 }],
    ['updateContact', { phone_number: '+49 30 1' }],
  ] as const,
  ([name]) => `6: ${name} changes only what is supplied`,
  ([name, changed]) => {
    const { ids, send, take } = openAgency();
    const [, path] = requestOf(name, ids);
    const before = Object(take('GET', path));
    send(name);
    const { updated_at: _, ...after } = Object(take('GET', path));
    expect({ ...before, ...after }).toEqual({ ...before, ...changed });
  },
);

const deletes: Section = {
  ...eachRow(
    [
      ['leads', 'deleteLead'],
      ['tasks', 'deleteTask'],
      ['opportunities', 'deleteOpportunity'],
    ] as const,
    ([_, name]) => `7: ${name} moves the record to the trash`,
    ([collection, name]) => {
      const { send, model } = openAgency();
      expect(model.records[collection].trashed()).toEqual([]);
      send(name);
      expect(model.records[collection].trashed()).toHaveLength(1);
    },
  ),
  '7: a deleted contact is gone for good': () => {
    const { send, model } = openAgency();
    send('deleteContact');
    expect(model.records.contacts.get(leadId)?.size).toBe(0);
    expect(send('getContact').status).toBe(404);
  },
};

export const groundRules: Section = { ...agencies, ...envelope, ...updates, ...deletes };
