import { expect } from 'vitest';
import { z } from 'zod';
import { start } from '../../support/sandbox-crm-calls.ts';
import { eachRow, expectRefused, failed, leadId, openAgency, type Section, stageId } from './section.ts';

const startTime = new Date(start).toISOString();

export const states: Section = {
  'Lead status: one that exists is taken, created is false': () => {
    expect(openAgency().take('PUT', `/leads/${leadId}/status`, { status_name: 'lost' })).toEqual({
      lead_id: leadId,
      status: { name: 'lost', label: 'Lost', color: '#9aa0a6', created: false },
    });
  },
  'Lead status: one that does not exist is created with its definition, created is true': () => {
    const { take } = openAgency();
    const set = () => take('PUT', `/leads/${leadId}/status`, { status_name: 'on_hold' });
    expect(set()).toMatchObject({ status: { name: 'on_hold', label: 'On hold', created: true } });
    expect(set()).toMatchObject({ status: { created: false } });
    const { items } = z
      .object({ items: z.array(z.looseObject({ name: z.string() })) })
      .parse(take('GET', '/lead-statuses'));
    expect(items.filter(({ name }) => name === 'on_hold')).toEqual([
      expect.objectContaining({ color: expect.stringMatching(/^#[0-9a-f]{6}$/), is_default: false }),
    ]);
    expect(take('GET', `/leads/${leadId}`)).toMatchObject({ status_name: 'on_hold' });
  },
  ...eachRow(
    [
      ['POST', '/leads', { title: 'x' }],
      ['PUT', `/leads/${leadId}`, {}],
    ] as const,
    ([method, path]) => `Lead status: ${method} ${path} creates the definition too`,
    ([method, path, body]) => {
      const { take, model } = openAgency();
      expect(take(method, path, { ...body, status_name: 'again' })).toMatchObject({ status_name: 'again' });
      expect(model.records.leadStatuses.map(({ name }) => name)).toContain('again');
    },
  ),
  'Lead status: a refused request creates no definition': () => {
    const { outcome, model } = openAgency();
    const count = model.records.leadStatuses.length;
    expect(outcome('PUT', `/leads/${leadId}`, { status_name: 'again', title: '' }).status).toBe(400);
    expect(model.records.leadStatuses).toHaveLength(count);
  },
  ...eachRow(
    [1, 2, 3, 4].flatMap((from) => [1, 2, 3, 4].map((to) => [from, to] as const)),
    ([from, to]) => `Task status: ${from} becomes ${to}`,
    ([from, to]) => {
      const { create, call, take } = openAgency();
      const id = create('/tasks', { title: 'x', status: from });
      call('PUT', `/tasks/${id}`, { status: to });
      expect(take('GET', `/tasks/${id}`)).toMatchObject({ status: to });
    },
  ),
  'Trash: a lead takes its tasks, their subtasks and its opportunities along, and no others': () => {
    const { create, call, outcome, listIds, model, ids } = openAgency();
    const subtask = create('/tasks', { title: 'of the task', parent_task_id: Number(ids.task) });
    const task = create('/tasks', { title: 'free' });
    const opportunity = create('/opportunities', { lead_id: 1002, stage_id: stageId });
    call('DELETE', `/leads/${leadId}`);
    expect(listIds('/leads')).not.toContain(leadId);
    expect([listIds('/tasks'), listIds('/opportunities')]).toEqual([[task], [opportunity]]);
    for (const path of [`/leads/${leadId}`, `/tasks/${subtask}`, `/opportunities/${ids.opportunity}`]) {
      expect(outcome('GET', path)).toEqual({ status: 404, message: 'Resource not found' });
    }
    expect(model.records.tasks.trashed().map(({ id }) => id)).toEqual([Number(ids.task), subtask]);
  },
  'Trash: a task takes its subtasks along, at any depth, and leaves its lead': () => {
    const { create, call, listIds, ids } = openAgency();
    const middle = create('/tasks', { title: 'middle', parent_task_id: Number(ids.task) });
    create('/tasks', { title: 'low', parent_task_id: middle });
    const other = create('/tasks', { title: 'other' });
    call('DELETE', `/tasks/${ids.task}`);
    expect(listIds('/tasks')).toEqual([other]);
    expect(listIds('/leads')).toContain(leadId);
  },
  'Trash: an opportunity takes nothing along': () => {
    const { send, listIds, ids } = openAgency();
    send('deleteOpportunity');
    expect([listIds('/opportunities'), listIds('/tasks')]).toEqual([[], [Number(ids.task)]]);
  },
  'Trash: a contact of a trashed lead is not found': () => {
    const { send } = openAgency();
    send('deleteLead');
    expect([send('getContact').status, send('listContacts').status]).toEqual([404, 404]);
  },
  ...eachRow(
    [['deleteLead'], ['deleteTask'], ['deleteOpportunity']] as const,
    ([name]) => `Trash: ${name} finds a trashed record no more`,
    ([name]) => {
      const { send } = openAgency();
      expect([send(name).status, send(name).status]).toEqual([200, 404]);
    },
  ),
};

export const leads: Section = {
  'POST /leads: title missing gives 400 "title: Required"': () =>
    expect(openAgency().call('POST', '/leads', {}).body).toEqual(failed(400, 'title: Required')),
  'POST /leads: the answer holds exactly the six fields': () => {
    const body = { title: 'Öko 🌿', status_name: 'lost', meta_data: { about: { url: 'https://a.io/' } } };
    expect(openAgency().take('POST', '/leads', { ...body, custom_fields: { city: 'Bonn' } })).toEqual({
      id: 1004,
      ...body,
      custom_fields: { city: 'Bonn' },
      created_at: startTime,
    });
  },
  'GET /leads/{id}: the answer is the full lead': () => {
    const { create, take } = openAgency();
    const id = create('/leads', { title: 'Plain' });
    expect(take('GET', `/leads/${id}`)).toEqual({
      id,
      uuid: expect.any(String),
      title: 'Plain',
      status_name: 'new',
      meta_data: null,
      custom_fields: {},
      avatar: null,
      avatar_type: null,
      created_at: startTime,
      updated_at: startTime,
    });
  },
  'PUT /leads/{id}: the answer is the full lead, as it reads afterwards': () => {
    const { take } = openAgency();
    const about = { description: 'd', url: null };
    const changed = {
      title: 'B',
      status_name: 'lost',
      meta_data: { about },
      custom_fields: { city: 'Bonn' },
    };
    const answer = take('PUT', `/leads/${leadId}`, changed);
    expect(answer).toMatchObject({ ...changed, custom_fields: { city: 'Bonn' } });
    expect(take('GET', `/leads/${leadId}`)).toEqual(answer);
  },
  'PUT /leads/{id}/status: a missing status_name is refused': () =>
    expectRefused('PUT', `/leads/${leadId}/status`, {}, 'status_name'),
  'DELETE /leads/{id}: data is {}': () =>
    expect(openAgency().send('deleteLead').body).toHaveProperty('data', {}),
  'GET /lead-statuses: data is an object with items, by sort_order': () => {
    const { items } = z
      .strictObject({ items: z.array(z.looseObject({ sort_order: z.int() })) })
      .parse(openAgency().take('GET', '/lead-statuses'));
    const orders = items.map((status) => status.sort_order);
    expect(orders).toEqual(orders.toSorted((left, right) => left - right));
  },
  'GET /custom-fields and GET /pipelines: data is an array': () => {
    const { take } = openAgency();
    expect([take('GET', '/custom-fields'), take('GET', '/pipelines')].every(Array.isArray)).toBe(true);
  },
  ...eachRow(
    [['{'], ['[]'], ['"text"'], ['null'], ['']] as const,
    ([body]) => `bodies are JSON objects: ${JSON.stringify(body)} is none`,
    ([body]) => {
      const answer = openAgency().outcome('POST', '/leads', undefined, { body });
      expect(answer).toEqual({ status: 400, message: expect.stringMatching(/^(body|title): /) });
    },
  ),
};

export const tasks: Section = {
  'POST /tasks: data is the id alone': () =>
    expect(openAgency().take('POST', '/tasks', { title: 'x' })).toEqual({ id: 5002 }),
  'POST /tasks: every field is kept, numeric strings as numbers': () => {
    const { create, take, ids } = openAgency();
    const dates = { due_date: '2026-03-02', start_date: '2026-03-01' };
    const parents = { lead_id: leadId, parent_task_id: Number(ids.task) };
    const id = create('/tasks', {
      title: 'x',
      description: 'y',
      status: '3',
      priority: '1',
      ...dates,
      ...parents,
    });
    const kept = { id, title: 'x', description: 'y', status: 3, priority: 1, ...dates, ...parents };
    expect(take('GET', `/tasks/${id}`)).toEqual({ ...kept, created_at: startTime });
  },
  'PUT /tasks/{id}: the answer has no data': () =>
    expect(openAgency().send('updateTask').body).toEqual({
      http_code: 200,
      status: 'success',
      message: 'Task updated',
    }),
  'PUT /tasks/{id}: the other fields of a task can be updated': () => {
    const { call, take, ids } = openAgency();
    const changed = { title: 'y', description: 'z', lead_id: 1002 };
    call('PUT', `/tasks/${ids.task}`, changed);
    expect(take('GET', `/tasks/${ids.task}`)).toMatchObject(changed);
  },
  'PUT /tasks/{id}: a task can not become a subtask of its own subtask': () => {
    const { create, outcome, ids } = openAgency();
    const low = create('/tasks', { title: 'low', parent_task_id: Number(ids.task) });
    expect(outcome('PUT', `/tasks/${ids.task}`, { parent_task_id: low }).status).toBe(400);
  },
  'DELETE /tasks/{id}: the answer has no data': () =>
    expect(openAgency().send('deleteTask').body).not.toHaveProperty('data'),
};

/** Three opportunities: of March, of April in another stage, and one without a date on another lead. */
function openDeals() {
  const crm = openAgency();
  crm.send('deleteOpportunity');
  const add = (extra: object) => crm.create('/opportunities', { stage_id: 11, lead_id: leadId, ...extra });
  const march = add({ expected_close_date: '2026-03-01' });
  const april = add({ expected_close_date: '2026-04-01', stage_id: 12 });
  const dateless = add({ lead_id: 1002, note: 'Große Pläne' });
  const names = new Map([
    [march, 'march'],
    [april, 'april'],
    [dateless, 'dateless'],
  ]);
  const list = (query: Record<string, string>) =>
    crm.listIds('/opportunities', query).map((id) => names.get(id));
  return { ...crm, list };
}

const filters: readonly (readonly [Record<string, string>, readonly string[]])[] = [
  [{}, ['dateless', 'april', 'march']],
  [{ order: 'desc' }, ['dateless', 'april', 'march']],
  [{ order: 'asc' }, ['march', 'april', 'dateless']],
  [{ stage_id: '12' }, ['april']],
  [{ stage_id: '99' }, []],
  [{ lead_id: '1002' }, ['dateless']],
  [{ lead_id: '123456' }, []],
  [{ expected_close_after: '2026-03-01' }, ['april', 'march']],
  [{ expected_close_after: '2026-03-02' }, ['april']],
  [{ expected_close_before: '2026-04-01' }, ['april', 'march']],
  [{ expected_close_before: '2026-03-31' }, ['march']],
  [{ expected_close_after: '2026-03-01', expected_close_before: '2026-03-01' }, ['march']],
  [{ stage_id: '11', lead_id: '1001' }, ['march']],
  [{ search: 'große' }, ['dateless']],
  [{ limit: '2' }, ['dateless', 'april']],
  [{ limit: '2', page: '2' }, ['march']],
  [{ limit: '2', page: '3' }, []],
  [{ limit: '2', page: '1', order: 'asc' }, ['march', 'april']],
];

const refusedQueries = [
  ['page', '0'],
  ['page', '1.5'],
  ['limit', '0'],
  ['limit', '101'],
  ['limit', 'ten'],
  ['limit', '1e1'],
  ['order', 'up'],
  ['stage_id', '0'],
  ['lead_id', '0'],
  ['lead_id', 'x'],
] as const;

export const opportunities: Section = {
  ...eachRow(
    [
      [{ lead_id: leadId }, 'stage_id'],
      [{ stage_id: stageId }, 'lead_id'],
    ] as const,
    ([_body, field]) => `POST /opportunities: it is always in a stage and on a lead, so ${field} is required`,
    ([body, field]) => expectRefused('POST', '/opportunities', body, field),
  ),
  'POST /opportunities: data is the id alone': () =>
    expect(openAgency().send('createOpportunity').body).toHaveProperty('data', { id: 3002 }),
  'GET /opportunities/{id}: data holds the fields': () => {
    const { create, take } = openAgency();
    const fields = {
      stage_id: 12,
      lead_id: 1002,
      value: 12.5,
      confidence: 40,
      expected_close_date: '2026-05-01',
    };
    const id = create('/opportunities', fields);
    const kept = { id, ...fields, note: null, created_at: startTime };
    expect(take('GET', `/opportunities/${id}`)).toEqual(kept);
  },
  'DELETE /opportunities/{id}: the answer has no data': () =>
    expect(openAgency().send('deleteOpportunity').body).not.toHaveProperty('data'),
  ...eachRow(
    filters,
    ([query]) => `GET /opportunities: ${new URLSearchParams(query).toString() || 'no query'}`,
    ([query, expected]) => expect(openDeals().list(query)).toEqual(expected),
  ),
  ...eachRow(
    refusedQueries,
    ([name, value]) => `GET /opportunities: ${name}=${value} is refused`,
    ([name, value]) => {
      const answer = openAgency().outcome('GET', '/opportunities', undefined, { query: { [name]: value } });
      expect(answer).toEqual({ status: 400, message: expect.stringMatching(`^${name}: .`) });
    },
  ),
  ...eachRow(
    [
      [{}, 25],
      [{ limit: '1' }, 1],
      [{ limit: '100' }, 100],
    ] as const,
    ([query, length]) => `GET /opportunities: a page holds ${length} for ${JSON.stringify(query)}`,
    ([query, length]) => {
      const { listIds } = openAgency({ counts: { leads: 3, opportunities: 130, tasks: 0 } });
      expect(listIds('/opportunities', query)).toHaveLength(length);
    },
  ),
};

export const contacts: Section = {
  'POST: data holds id and full_name': () => {
    const { data } = z.object({ data: z.unknown() }).parse(openAgency().send('createContact').body);
    expect(data).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), full_name: 'Carla' });
  },
  'GET one: data holds the contact fields, as they were written': () => {
    const { call, take } = openAgency();
    const ada = { full_name: 'A', email: 'a@b.io', phone_number: '+49 30', whatsapp_number: '+49 31' };
    const created = call('POST', '/leads/1002/contacts', ada);
    const { id } = z.object({ data: z.looseObject({ id: z.string() }) }).parse(created.body).data;
    expect(take('GET', `/leads/1002/contacts/${id}`)).toEqual({ id, ...ada });
  },
  'GET all: the contacts of the lead and of no other': () => {
    const { take, ids } = openAgency();
    expect(take('GET', `/leads/${leadId}/contacts`)).toMatchObject({ items: [{ id: ids.contact }] });
    expect(take('GET', '/leads/1002/contacts')).toMatchObject({ items: [] });
  },
  'a contact is found below its own lead only': () => {
    const { outcome, ids } = openAgency();
    expect(outcome('GET', `/leads/1002/contacts/${ids.contact}`).status).toBe(404);
  },
  'POST: an email that a contact of this lead has gives 409': () => {
    const { call } = openAgency();
    const taken = { full_name: 'Another', email: 'ada@example.com' };
    const message = 'Contact with this email already exists for this lead';
    expect(call('POST', `/leads/${leadId}/contacts`, taken).body).toEqual(failed(409, message));
    expect(call('POST', '/leads/1002/contacts', taken).status).toBe(201);
  },
  'POST: contacts without an email do not collide': () => {
    const { send } = openAgency();
    expect([send('createContact').status, send('createContact').status]).toEqual([201, 201]);
  },
  'PUT: an empty body, or one without a contact field, gives 400': () => {
    const { outcome, ids } = openAgency();
    const path = `/leads/${leadId}/contacts/${ids.contact}`;
    expect([outcome('PUT', path, {}).status, outcome('PUT', path, { color: 'red' }).status]).toEqual([
      400, 400,
    ]);
  },
  'DELETE: the contact is gone and the others stay': () => {
    const { send, take } = openAgency();
    send('createContact');
    send('deleteContact');
    expect(take('GET', `/leads/${leadId}/contacts`)).toMatchObject({ items: [{ full_name: 'Carla' }] });
  },
};
