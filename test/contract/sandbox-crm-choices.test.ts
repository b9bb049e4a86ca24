import { describe, expect, test } from 'vitest';
import { customFieldTypes } from '../../src/crm/contract.ts';
import { seedRecords } from '../../src/sandbox/crm/seed.ts';
import { openModel, start } from '../support/sandbox-crm-calls.ts';

describe('where the specification is silent', () => {
  const counts = { leads: 130, opportunities: 0, tasks: 0 };

  test.each(['items', 'data', 'results', 'records', 'entity', 'array'] as const)(
    'listings can have the shape %s',
    (listShape) => {
      const { take } = openModel({ choices: { listShape } });
      const leads = [1003, 1002, 1001].map((id) => expect.objectContaining({ id }));
      const key = listShape === 'entity' ? 'leads' : listShape;
      const wrapped = { [key]: leads, total: 3, page: 1, limit: 25 };
      expect(take('GET', '/leads')).toEqual(listShape === 'array' ? leads : wrapped);
    },
  );

  test.each([
    ['totals', { total: 130, page: 1, limit: 25 }],
    ['hasMore', { has_more: true }],
    ['pageCount', { page: 1, total_pages: 6 }],
    ['none', {}],
  ] as const)('beside the elements can stand %s', (listFacts, facts) => {
    const { take } = openModel({ counts, choices: { listFacts } });
    const { items: _, ...beside } = Object(take('GET', '/leads'));
    expect(beside).toEqual(facts);
  });

  test('listed leads can lack updated_at, which single ones have', () => {
    const { take } = openModel({ choices: { listedLeadHasUpdatedAt: false } });
    expect(take('GET', '/leads')).not.toHaveProperty('items.0.updated_at');
    expect(take('GET', '/leads/1001')).toHaveProperty('updated_at');
  });

  const lastPages = { limit: '50', page: '3' };
  test.each([
    ['honoured', lastPages, [1030, 1001], 30],
    ['firstPageOnly', lastPages, [1130, 1081], 50],
    ['ignored', lastPages, [1130, 1001], 130],
    ['refused', {}, [1130, 1001], 130],
  ] as const)('the paging of leads and tasks can be %s', (leadAndTaskPaging, query, ends, length) => {
    const ids = openModel({ counts, choices: { leadAndTaskPaging } }).listIds('/leads', query);
    expect([ids.at(0), ids.at(-1)]).toEqual(ends);
    expect(ids).toHaveLength(length);
  });

  test('a page that is too large is refused, or clamped where that is chosen', () => {
    const query = { limit: '500' };
    expect(openModel({ counts }).outcome('GET', '/leads', undefined, { query }).status).toBe(400);
    const clamping = openModel({ counts, choices: { oversizedLimit: 'clamped' } });
    expect(clamping.listIds('/leads', query)).toHaveLength(100);
  });

  test('leads and tasks can refuse every parameter', () => {
    const { outcome } = openModel({ choices: { leadAndTaskPaging: 'refused' } });
    expect(outcome('GET', '/leads', undefined, { query: { page: '1' } })).toEqual({
      status: 400,
      message: 'page: Unrecognized parameter',
    });
  });

  test('the largest page of leads and tasks can be smaller', () => {
    const choices = { leadAndTaskLimitMax: 20, oversizedLimit: 'clamped' } as const;
    const { listIds, outcome } = openModel({ counts, choices });
    expect([listIds('/leads', { limit: '100' }).length, listIds('/leads').length]).toEqual([20, 20]);
    expect(outcome('GET', '/opportunities', undefined, { query: { limit: '101' } }).status).toBe(400);
  });

  test('leads and tasks can come oldest first where no order is asked for', () => {
    const { listIds } = openModel({ choices: { leadAndTaskOrder: 'asc' } });
    expect(listIds('/leads')).toEqual([1001, 1002, 1003]);
    expect(listIds('/leads', { order: 'desc' })).toEqual([1003, 1002, 1001]);
  });

  test.each([
    ['empty', { status: 200, message: 'Leads retrieved' }],
    ['lastPage', { status: 200, message: 'Leads retrieved' }],
    ['notFound', { status: 404, message: 'Resource not found' }],
  ] as const)('behind the last page can be: %s', (pageBeyondLast, expected) => {
    const { listIds, outcome } = openModel({ choices: { pageBeyondLast } });
    expect(outcome('GET', '/leads', undefined, { query: { page: '2' } })).toEqual(expected);
    expect(listIds('/leads')).toHaveLength(3);
    if (pageBeyondLast === 'lastPage') expect(listIds('/leads', { page: '9' })).toEqual(listIds('/leads'));
  });

  test.each([
    ['plain', (record: object) => record],
    ['entity', (opportunity: object) => ({ opportunity })],
    ['item', (item: object) => ({ item })],
  ] as const)('a single record can be %s', (singleRecord, wrap) => {
    const { create, take } = openModel({ choices: { singleRecord } });
    const id = create('/opportunities', { stage_id: 11, lead_id: 1001 });
    expect(take('GET', `/opportunities/${id}`)).toEqual(wrap(expect.objectContaining({ id })));
    expect(take('GET', '/leads/1001')).toHaveProperty('id', 1001);
  });

  test.each([
    ['record', { id: 3001, stage_id: 12, value: 12.5 }],
    ['id', { id: 3001 }],
    ['none', undefined],
  ] as const)('an updated opportunity can be answered by %s', (opportunityUpdateAnswer, expected) => {
    const { create, take } = openModel({ choices: { opportunityUpdateAnswer } });
    const id = create('/opportunities', { stage_id: 11, lead_id: 1001 });
    const answer = take('PUT', `/opportunities/${id}`, { value: 12.5, stage_id: 12 });
    expect(answer).toEqual(expected && expect.objectContaining(expected));
    expect(Object.keys(Object(answer)).length > 1).toBe(opportunityUpdateAnswer === 'record');
  });

  test.each([
    ['dayFirst', '2026-04-03'],
    ['monthFirst', '2026-03-04'],
  ] as const)('03/04/2026 can be read as %s', (ambiguousSlashDate, day) => {
    const { take } = openModel({ choices: { ambiguousSlashDate } });
    const custom_fields = { first_contact: '03/04/2026' };
    expect(take('PUT', '/leads/1001', { custom_fields })).toMatchObject({
      custom_fields: { first_contact: day },
    });
  });

  test.each([
    ['null', { city: null }],
    ['absent', {}],
  ] as const)('a cleared custom field can read as %s', (clearedCustomField, kept) => {
    const { create, take } = openModel({ choices: { clearedCustomField } });
    const id = create('/leads', { title: 'x', custom_fields: { city: 'Bonn' } });
    const lead = take('PUT', `/leads/${id}`, { custom_fields: { city: null } });
    expect(lead).toHaveProperty('custom_fields', kept);
  });

  test('fields that a create does not list can be dropped', () => {
    const { create, take } = openModel({ choices: { createKeepsUnlistedFields: false } });
    const task = create('/tasks', { title: 'x', description: 'kept?' });
    const opportunity = create('/opportunities', { lead_id: 1001, stage_id: 11, note: 'kept?' });
    expect(take('GET', `/tasks/${task}`)).toMatchObject({ description: null });
    expect(take('GET', `/opportunities/${opportunity}`)).toMatchObject({ note: null });
  });

  test('other answers can be chosen one by one', () => {
    const { outcome, create, take } = openModel({
      choices: {
        newLeadStatus: 'none',
        autoCreatedStatusName: 'slug',
        aboutUpdate: 'replace',
        singleRecord: 'entity',
        danglingReferenceStatus: 404,
        malformedIdStatus: 400,
        searchParameter: 'q',
        requiredOnCreate: { task: ['title', 'lead_id'], opportunity: ['value'], contact: ['email'] },
      },
    });
    const about = { description: 'd', url: 'https://example.com/' };
    const lead = create('/leads', { title: 'x', meta_data: { about } });
    expect(take('GET', `/leads/${lead}`)).toMatchObject({ status_name: null });
    const replaced = take('PUT', `/leads/${lead}`, {
      meta_data: { about: { url: null } },
      status_name: 'Größe L!',
    });
    expect(replaced).toMatchObject({ meta_data: { about: { url: null } }, status_name: 'große-l' });
    expect(replaced).not.toHaveProperty('meta_data.about.description');
    const task = create('/tasks', { title: 'x', lead_id: lead });
    expect(take('GET', `/tasks/${task}`)).toMatchObject({ task: { id: task } });
    expect(outcome('PUT', `/tasks/${task}`, { lead_id: 99 }).status).toBe(404);
    expect(outcome('GET', '/leads/word').status).toBe(400);
    expect(outcome('POST', '/tasks', { title: 'x' }).message).toBe('lead_id: Required');
    expect(outcome('POST', '/opportunities', { lead_id: lead, stage_id: 11 }).message).toBe(
      'value: Required',
    );
    expect(outcome('POST', `/leads/${lead}/contacts`, {}).message).toBe('email: Required');
    expect(openModel().listIds('/opportunities', { q: 'nothing has this' })).toEqual([]);
  });
});

describe('the seed', () => {
  const counts = { leads: 60, opportunities: 40, tasks: 50 };
  const everything = (seed: number) => {
    const records = seedRecords(seed, counts, start);
    return { leads: records.leads.live(), deals: records.opportunities.live(), tasks: records.tasks.live() };
  };

  test('gives the same records for the same arguments and others for another seed', () => {
    expect(everything(7)).toEqual(everything(7));
    expect(everything(7)).not.toEqual(everything(8));
  });

  test('makes the asked number of records, all created in the year before the instant', () => {
    const { leads, deals, tasks } = everything(7);
    expect([leads.length, deals.length, tasks.length]).toEqual([60, 40, 50]);
    const yearBefore = new Date(start - 366 * 86_400_000).toISOString();
    const now = new Date(start).toISOString();
    for (const { created_at } of [...leads, ...deals, ...tasks]) {
      expect(created_at > yearBefore && created_at < now).toBe(true);
    }
  });

  test('has what tends to break in a sheet', () => {
    const { leads } = everything(7);
    const titles = leads.map((lead) => lead.title);
    expect(titles).toEqual(expect.arrayContaining(['=1+1', '007', '+49 30 1234567']));
    expect(leads.some((lead) => lead.status_name === null)).toBe(true);
    expect(leads.some((lead) => lead.meta_data === null)).toBe(true);
  });

  test('only makes values that the CRM itself accepts', () => {
    const { model, outcome } = openModel({ counts });
    for (const { id, title, status_name, meta_data, custom_fields } of model.records.leads.live()) {
      const accepted = { status: 200, message: 'Lead updated' };
      expect(outcome('PUT', `/leads/${id}`, { title, status_name, meta_data, custom_fields })).toEqual(
        accepted,
      );
    }
    for (const { id, created_at: _, ...fields } of model.records.tasks.live()) {
      expect(outcome('PUT', `/tasks/${id}`, fields).message).toBe('Task updated');
    }
    for (const { id, created_at: _, ...fields } of model.records.opportunities.live()) {
      expect(outcome('PUT', `/opportunities/${id}`, fields).message).toBe('Opportunity updated');
    }
  });

  test('has every type of custom field, and stages of equal names in different pipelines', () => {
    const { customFields, pipelines } = seedRecords(7, counts, start);
    expect(new Set(customFields.map(({ type }) => type))).toEqual(new Set(customFieldTypes));
    const qualified = pipelines.flatMap(({ stages }) => stages).filter(({ name }) => name === 'Qualified');
    expect(new Set(qualified.map(({ id }) => id)).size).toBe(2);
  });
});
