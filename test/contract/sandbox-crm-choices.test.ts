import { describe, expect, test } from 'vitest';
import { customFieldTypes } from '../../src/crm/contract-records.ts';
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

  test('listings can go without totals', () => {
    const { take } = openModel({ choices: { listFacts: 'none' } });
    expect(Object.keys(Object(take('GET', '/tasks')))).toEqual(['items']);
  });

  const lastPages = { limit: '50', page: '3' };
  test.each([
    ['honoured', lastPages, [1030, 1001], 30],
    ['firstPageOnly', lastPages, [1130, 1081], 50],
    ['ignored', lastPages, [1130, 1001], 130],
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
