import { describe, expect, test } from 'vitest';
import { openModel, start } from '../support/sandbox-crm-calls.ts';

const seededId = 1001;

describe('leads', () => {
  test('a created lead answers with exactly the specified fields, a read one with all', () => {
    const { take, create, call } = openModel();
    const about = { description: 'd', url: 'https://example.com/' };
    const created = call('POST', '/leads', { title: 'Öko 🌿', meta_data: { about }, status_name: 'lost' });
    const shown = {
      title: 'Öko 🌿',
      status_name: 'lost',
      meta_data: { about },
      custom_fields: {},
      created_at: new Date(start).toISOString(),
    };
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual({
      http_code: 201,
      status: 'success',
      message: 'Lead created',
      data: { id: 1004, ...shown },
    });
    const id = create('/leads', { title: 'Plain' });
    expect(take('GET', `/leads/${id}`)).toEqual({
      id,
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      title: 'Plain',
      status_name: 'new',
      meta_data: null,
      custom_fields: {},
      avatar: null,
      avatar_type: null,
      created_at: shown.created_at,
      updated_at: shown.created_at,
    });
  });

  test.each([
    [{}, 'title: Required'],
    [{ title: '' }, /^title: /],
    [{ title: 'x'.repeat(201) }, /^title: /],
    [{ title: null }, /^title: /],
    [{ title: 'x', status_name: 's'.repeat(101) }, /^status_name: /],
    [
      { title: 'x', meta_data: { about: { description: 'd'.repeat(501) } } },
      /^meta_data.about.description: /,
    ],
    [{ title: 'x', meta_data: { about: { url: 'no url' } } }, /^meta_data.about.url: /],
    [{ title: 'x', meta_data: { about: { color: 'red' } } }, /^meta_data.about: /],
    [{ title: 'x', custom_fields: { nowhere: 1 } }, 'custom_fields.nowhere: Unknown field_key'],
  ])('creating with %j is refused with the field named', (body, message) => {
    const { outcome, listIds } = openModel();
    const before = listIds('/leads');
    expect(outcome('POST', '/leads', body)).toEqual({
      status: 400,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
    expect(listIds('/leads')).toEqual(before);
  });

  test.each([
    { title: 'x'.repeat(200) },
    { title: 'x', status_name: 's'.repeat(100) },
    { title: 'x', meta_data: { about: { description: 'd'.repeat(500), url: null } } },
    { title: 'x', meta_data: null, status_name: null },
  ])('creating at the very limits is accepted: %#', (body) => {
    expect(openModel().outcome('POST', '/leads', body)).toEqual({ status: 201, message: 'Lead created' });
  });

  test('an update changes only what is supplied', () => {
    const { take, create } = openModel();
    const about = { description: 'old', url: 'https://example.com/' };
    const custom_fields = { city: 'Bonn', newsletter: true };
    const id = create('/leads', {
      title: 'Before',
      status_name: 'lost',
      meta_data: { about },
      custom_fields,
    });
    expect(take('PUT', `/leads/${id}`, { meta_data: { about: { description: 'new' } } })).toMatchObject({
      title: 'Before',
      status_name: 'lost',
      meta_data: { about: { description: 'new', url: 'https://example.com/' } },
      custom_fields,
    });
    const after = take('PUT', `/leads/${id}`, { title: 'After', custom_fields: { newsletter: null } });
    expect(after).toMatchObject({ title: 'After', custom_fields: { city: 'Bonn' } });
    expect(after).not.toHaveProperty('custom_fields.newsletter');
    expect(take('GET', `/leads/${id}`)).toEqual(after);
  });

  test('an unknown status is created along the way, a known one is not', () => {
    const { take, model } = openModel();
    const answerOf = (name: string) => take('PUT', `/leads/${seededId}/status`, { status_name: name });
    expect(answerOf('lost')).toEqual({
      lead_id: seededId,
      status: { name: 'lost', label: 'Lost', color: '#9aa0a6', created: false },
    });
    expect(answerOf('on_hold')).toMatchObject({
      status: { name: 'on_hold', label: 'On hold', created: true },
    });
    expect(answerOf('on_hold')).toMatchObject({ status: { created: false } });
    take('PUT', `/leads/${seededId}`, { status_name: 'again' });
    expect(take('GET', '/lead-statuses')).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ name: 'on_hold', color: expect.stringMatching(/^#[0-9a-f]{6}$/) }),
        expect.objectContaining({ name: 'again', is_default: false }),
      ]),
    });
    expect(model.records.leadStatuses.filter(({ name }) => name === 'on_hold')).toHaveLength(1);
  });

  test('a deleted lead takes its tasks, their subtasks and its opportunities to the trash', () => {
    const { create, call, outcome, listIds, model } = openModel();
    const task = create('/tasks', { title: 'of the lead', lead_id: seededId });
    const subtask = create('/tasks', { title: 'of the task', parent_task_id: task });
    const other = create('/tasks', { title: 'free' });
    const opportunity = create('/opportunities', { lead_id: seededId, stage_id: 11 });
    const kept = create('/opportunities', { lead_id: 1002, stage_id: 11 });
    expect(call('DELETE', `/leads/${seededId}`).body).toMatchObject({
      message: 'Lead moved to trash',
      data: {},
    });
    expect(listIds('/leads')).not.toContain(seededId);
    expect(listIds('/tasks')).toEqual([other]);
    expect(listIds('/opportunities')).toEqual([kept]);
    for (const path of [`/leads/${seededId}`, `/tasks/${subtask}`, `/opportunities/${opportunity}`]) {
      expect(outcome('GET', path)).toEqual({ status: 404, message: 'Resource not found' });
    }
    expect(model.records.tasks.trashed().map(({ id }) => id)).toEqual([task, subtask]);
  });

  test.each([
    ['GET', '/leads/99'],
    ['PUT', '/leads/99'],
    ['PUT', '/leads/99/status'],
    ['DELETE', '/leads/99'],
    ['GET', '/leads/word'],
    ['PATCH', '/leads/1001'],
    ['GET', '/elsewhere'],
  ])('%s %s finds nothing', (method, path) => {
    expect(openModel().outcome(method, path, {})).toEqual({ status: 404, message: 'Resource not found' });
  });

  test.each(['{', '[]', '"text"', 'null'])('the body %s is refused', (body) => {
    const { outcome } = openModel();
    expect(outcome('POST', '/leads', undefined, { body })).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^body: /),
    });
  });
});

describe('custom fields', () => {
  const write = (key: string, value: unknown, choices = {}) => {
    const { call } = openModel({ choices });
    return call('PUT', `/leads/${seededId}`, { custom_fields: { [key]: value } });
  };

  test.each([
    ['city', '007', '007'],
    ['city', '', ''],
    ['yearly_budget', 12.5, 12.5],
    ['yearly_budget', '12.50', 12.5],
    ['yearly_budget', '-1e3', -1000],
    ['newsletter', true, true],
    ['newsletter', 'yes', true],
    ['newsletter', 'No', false],
    ['newsletter', 1, true],
    ['newsletter', '0', false],
    ['first_contact', '2024-02-29', '2024-02-29'],
    ['first_contact', '31/12/2025', '2025-12-31'],
    ['first_contact', '12/31/2025', '2025-12-31'],
    ['first_contact', '03/04/2026', '2026-04-03'],
    ['first_contact', '2026-01-05T23:30:00-11:00', '2026-01-05'],
    ['source', 'REFERRAL', 'Referral'],
    ['services', ['seo', 'Print, Packaging'], ['SEO', 'Print, packaging']],
    ['services', [], []],
    ['account_manager', 9001, '9001'],
    ['account_manager', '9002', '9002'],
    ['team', [9001, '9003'], ['9001', '9003']],
  ])('%s takes %j and stores %j', (key, value, stored) => {
    expect(write(key, value).body).toMatchObject({ data: { custom_fields: { [key]: stored } } });
  });

  test.each([
    ['city', 5],
    ['yearly_budget', 'many'],
    ['yearly_budget', ''],
    ['yearly_budget', true],
    ['newsletter', 'maybe'],
    ['newsletter', 2],
    ['first_contact', '2025-02-29'],
    ['first_contact', '31/31/2025'],
    ['first_contact', 45000],
    ['source', 'Billboard'],
    ['source', ['Referral']],
    ['services', 'SEO'],
    ['services', ['SEO', 'Magic']],
    ['account_manager', '1'],
    ['team', '9001'],
    ['nowhere', 'x'],
  ])('%s refuses %j', (key, value) => {
    const message = expect.stringMatching(new RegExp(`^custom_fields\\.${key}: `));
    expect(write(key, value)).toMatchObject({ status: 400, body: { status: 'failed', message } });
  });

  test('a date that fits both slash formats is read as chosen', () => {
    const answer = write('first_contact', '03/04/2026', { ambiguousSlashDate: 'monthFirst' });
    expect(answer.body).toMatchObject({ data: { custom_fields: { first_contact: '2026-03-04' } } });
  });

  test('a cleared field can be shown as null', () => {
    const answer = write('city', null, { clearedCustomField: 'null' });
    expect(answer.body).toMatchObject({ data: { custom_fields: { city: null } } });
  });
});
