import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openModel, start } from '../support/sandbox-crm-calls.ts';

describe('dates of bodies', () => {
  const paths = [
    ['/tasks', { title: 'x' }, 'due_date'],
    ['/tasks', { title: 'x' }, 'start_date'],
    ['/opportunities', { stage_id: 11, lead_id: 1001 }, 'expected_close_date'],
  ] as const;
  describe.each(paths)('%s %j %s', (path, body, field) => {
    test.each([
      ['2026-03-01', '2026-03-01'],
      ['2026-03-01T23:59:59-08:00', '2026-03-01'],
      ['2026-03-01T00:30:00+09:00', '2026-03-01'],
      ['2026-03-01T10:00:00.123Z', '2026-03-01'],
    ])('%s is kept as %s', (written, kept) => {
      const { create, take } = openModel();
      const id = create(path, { ...body, [field]: written });
      expect(take('GET', `${path}/${id}`)).toMatchObject({ [field]: kept });
    });

    test.each(['2026-02-30', '2026-13-01', '01/03/2026', 'tomorrow', '', '2026-3-1', '2026-02-30T10:00:00Z'])(
      '%j is refused with the field and the formats named',
      (written) => {
        const answer = openModel().outcome('POST', path, { ...body, [field]: written });
        expect(answer.status).toBe(400);
        expect(answer.message).toMatch(new RegExp(`^${field}: .*YYYY-MM-DD.*ISO 8601`));
      },
    );
  });

  test('null clears the dates of a task', () => {
    const { create, take, call } = openModel();
    const id = create('/tasks', { title: 'x', due_date: '2026-01-01', start_date: '2026-01-01' });
    call('PUT', `/tasks/${id}`, { due_date: null });
    expect(take('GET', `/tasks/${id}`)).toMatchObject({ due_date: null, start_date: '2026-01-01' });
  });

  test('an opportunity cannot lose its date by null', () => {
    const body = { stage_id: 11, lead_id: 1001, expected_close_date: null };
    expect(openModel().outcome('POST', '/opportunities', body).status).toBe(400);
  });
});

describe('tasks', () => {
  test('a create answers with the id alone, and numeric strings become numbers', () => {
    const { call, take } = openModel();
    const answer = call('POST', '/tasks', { title: 'x', status: '3', priority: '1' });
    expect(answer).toMatchObject({ status: 201 });
    expect(answer.body).toEqual({
      http_code: 201,
      status: 'success',
      message: 'Task created',
      data: { id: 5001 },
    });
    expect(take('GET', '/tasks/5001')).toEqual({
      id: 5001,
      title: 'x',
      description: null,
      status: 3,
      priority: 1,
      due_date: null,
      start_date: null,
      lead_id: null,
      parent_task_id: null,
      created_at: new Date(start).toISOString(),
    });
  });

  test.each([
    [{}, 'title: Required'],
    [{ title: 't'.repeat(501) }, /^title: /],
    [{ title: 'x', status: 0 }, /^status: /],
    [{ title: 'x', status: '5' }, /^status: /],
    [{ title: 'x', status: 'done' }, /^status: /],
    [{ title: 'x', priority: 4 }, /^priority: /],
    [{ title: 'x', priority: 1.5 }, /^priority: /],
    [{ title: 'x', lead_id: 99 }, 'lead_id: 99 does not exist'],
    [{ title: 'x', parent_task_id: 99 }, 'parent_task_id: 99 does not exist'],
  ])('creating with %j is refused', (body, message) => {
    const answer = openModel().outcome('POST', '/tasks', body);
    expect(answer.status).toBe(400);
    expect(answer.message).toMatch(message);
  });

  test('an update is partial and answers without data', () => {
    const { create, call, take } = openModel();
    const id = create('/tasks', { title: 'x', status: 2, lead_id: 1001 });
    expect(call('PUT', `/tasks/${id}`, { priority: '3', description: 'why' }).body).toEqual({
      http_code: 200,
      status: 'success',
      message: 'Task updated',
    });
    const changed = { title: 'x', status: 2, priority: 3, lead_id: 1001, description: 'why' };
    expect(take('GET', `/tasks/${id}`)).toMatchObject(changed);
  });

  test('a deleted task takes its subtasks along, at any depth', () => {
    const { create, call, listIds } = openModel();
    const top = create('/tasks', { title: 'top' });
    const middle = create('/tasks', { title: 'middle', parent_task_id: top });
    create('/tasks', { title: 'low', parent_task_id: middle });
    const other = create('/tasks', { title: 'other' });
    expect(call('DELETE', `/tasks/${top}`).body).toEqual({
      http_code: 200,
      status: 'success',
      message: 'Task moved to trash',
    });
    expect(listIds('/tasks')).toEqual([other]);
  });

  test('a task cannot become a subtask of its own subtask', () => {
    const { create, outcome } = openModel();
    const top = create('/tasks', { title: 'top' });
    const low = create('/tasks', { title: 'low', parent_task_id: top });
    expect(outcome('PUT', `/tasks/${top}`, { parent_task_id: low }).status).toBe(400);
  });
});

describe('opportunities', () => {
  const body = { stage_id: 11, lead_id: 1001 };

  test.each([
    [{ lead_id: 1001 }, 'stage_id: Required'],
    [{ stage_id: 11 }, 'lead_id: Required'],
    [{ ...body, stage_id: 99 }, 'stage_id: 99 does not exist'],
    [{ ...body, lead_id: 99 }, 'lead_id: 99 does not exist'],
    [{ ...body, value: -0.01 }, /^value: /],
    [{ ...body, value: '12' }, /^value: /],
    [{ ...body, confidence: 101 }, /^confidence: /],
    [{ ...body, confidence: -1 }, /^confidence: /],
    [{ ...body, confidence: 50.5 }, /^confidence: /],
  ])('creating with %j is refused', (input, message) => {
    const answer = openModel().outcome('POST', '/opportunities', input);
    expect(answer.status).toBe(400);
    expect(answer.message).toMatch(message);
  });

  test('an update is partial, and what it answers is a choice', () => {
    const answerOf = (opportunityUpdateAnswer: 'record' | 'id' | 'none') => {
      const { create, take } = openModel({ choices: { opportunityUpdateAnswer } });
      const id = create('/opportunities', { ...body, value: 0, confidence: 100 });
      return take('PUT', `/opportunities/${id}`, { value: 12.5, stage_id: 12 });
    };
    expect(answerOf('record')).toMatchObject({
      id: 3001,
      ...body,
      stage_id: 12,
      value: 12.5,
      confidence: 100,
    });
    expect(answerOf('id')).toEqual({ id: 3001 });
    expect(answerOf('none')).toBeUndefined();
  });

  test('a listing keeps what its filters name, bounds included', () => {
    const { create, listIds } = openModel();
    const add = (extra: object) => create('/opportunities', { ...body, ...extra });
    const march = add({ expected_close_date: '2026-03-01' });
    const april = add({ expected_close_date: '2026-04-01', stage_id: 12 });
    const dateless = add({ lead_id: 1002, note: 'Große Pläne' });
    const list = (query: Record<string, string>) => listIds('/opportunities', query);
    expect(list({})).toEqual([dateless, april, march]);
    expect(list({ order: 'asc' })).toEqual([march, april, dateless]);
    expect(list({ stage_id: '12' })).toEqual([april]);
    expect(list({ lead_id: '1002' })).toEqual([dateless]);
    expect(list({ lead_id: '123456' })).toEqual([]);
    expect(list({ expected_close_after: '2026-03-01', expected_close_before: '2026-03-31' })).toEqual([
      march,
    ]);
    expect(list({ expected_close_before: '2026-04-01' })).toEqual([april, march]);
    expect(list({ search: 'große' })).toEqual([dateless]);
    expect(list({ limit: '2', page: '2' })).toEqual([march]);
    expect(list({ limit: '2', page: '3' })).toEqual([]);
  });

  test.each([
    ['page', '0'],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', 'ten'],
    ['order', 'up'],
    ['stage_id', '0'],
    ['lead_id', 'x'],
    ['expected_close_after', '2026-03-01T00:00:00Z'],
    ['expected_close_before', '2026-02-30'],
  ])('a listing refuses %s=%s', (name, value) => {
    const answer = openModel().outcome('GET', '/opportunities', undefined, { query: { [name]: value } });
    expect(answer).toMatchObject({ status: 400, message: expect.stringMatching(`^${name}: `) });
  });
});

describe('contacts', () => {
  const contactPage = z.object({ items: z.tuple([z.object({ id: z.string() })]) });
  const path = '/leads/1001/contacts';
  const ada = { full_name: 'Ada', email: 'ada@example.com' };

  test('live below their lead from creation to final deletion', () => {
    const { call, take, outcome } = openModel();
    const created = call('POST', path, ada);
    expect(created.body).toMatchObject({ http_code: 201, message: 'Contact created' });
    const [{ id }] = contactPage.parse(take('GET', path)).items;
    expect(created.body).toHaveProperty('data', { id, full_name: 'Ada' });
    expect(call('PUT', `${path}/${id}`, { phone_number: '+49 30 1' }).body).toMatchObject({
      message: 'Contact updated',
    });
    const nothing = { whatsapp_number: null };
    expect(take('GET', `${path}/${id}`)).toEqual({ id, ...ada, phone_number: '+49 30 1', ...nothing });
    expect(outcome('PUT', `${path}/${id}`, {}).status).toBe(400);
    expect(outcome('GET', `/leads/1002/contacts/${id}`).status).toBe(404);
    expect(outcome('DELETE', `${path}/${id}`)).toEqual({ status: 200, message: 'Contact deleted' });
    expect(outcome('GET', `${path}/${id}`).status).toBe(404);
  });

  test('an email is used once per lead', () => {
    const { outcome } = openModel();
    const taken = 'Contact with this email already exists for this lead';
    expect(outcome('POST', path, ada).status).toBe(201);
    expect(outcome('POST', path, ada)).toEqual({ status: 409, message: taken });
    expect(outcome('POST', '/leads/1002/contacts', ada).status).toBe(201);
    expect(outcome('POST', '/leads/99/contacts', ada).status).toBe(404);
  });
});
