import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Entity } from '../../src/core/record.ts';
import type { Fields } from '../../src/core/value.ts';
import { createCrmBench } from '../support/crm-bench.ts';
import { answerSuccess, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serveAnswer(content: unknown) {
  const server = await startScriptedServer((response) => answerSuccess(response, content));
  servers.push(server);
  return { ...createCrmBench(server.baseUrl), server };
}

describe('the canonical form', () => {
  const read = async (entity: Entity, content: object) => {
    const { crm } = await serveAnswer({ id: 42, ...content });
    return (await crm.getRecord({ entity, id: '42' }, 'edit'))?.fields;
  };

  it.each([
    ['fields the CRM does not mention', {}, {}],
    ['an empty text', { description: '' }, { description: null }],
    ['a date with a time', { due_date: '2026-02-28T23:30:00-08:00' }, { due_date: '2026-02-28' }],
    [
      'an instant of another zone',
      { created_at: '2026-01-01T12:00:00+02:00' },
      { created_at: '2026-01-01T10:00:00.000Z' },
    ],
    ['an instant that is none', { created_at: 'yesterday' }, {}],
    ['fields nobody knows', { colour: 'red' }, {}],
  ])('of a task reads %s', async (_, content, fields) => {
    expect(await read('task', content)).toEqual(fields);
  });

  it.each([
    ['no about', { meta_data: null }, { 'about.description': null, 'about.url': null }],
    [
      'a part of about',
      { meta_data: { about: { url: 'https://x.io' } } },
      { 'about.description': null, 'about.url': 'https://x.io' },
    ],
    ['no custom fields', { custom_fields: null }, {}],
    ['no times', { uuid: null, created_at: null, updated_at: null }, {}],
    ['user ids as numbers', { custom_fields: { team: [7, 8] } }, { 'custom.team': ['7', '8'] }],
    ['an empty list', { custom_fields: { team: [] } }, { 'custom.team': null }],
    ['a value nobody understands', { custom_fields: { place: { lat: 1 } } }, {}],
    ['a list in which nobody understands something', { custom_fields: { team: ['7', { id: 8 }, null] } }, {}],
  ])('of a lead reads %s', async (_, content, fields) => {
    expect(await read('lead', content)).toEqual(fields);
  });

  it('of a lead without any custom fields reads every one as empty', async () => {
    const definition = { id: 1, name: 'City', field_key: 'city', type: 'text' };
    const server = await startScriptedServer((response, { url }) => {
      const reference = url.includes('custom') ? [definition] : [];
      answerSuccess(response, url.includes('/leads/') ? { id: 42, custom_fields: null } : reference);
    });
    servers.push(server);
    const { crm } = createCrmBench(server.baseUrl);
    await crm.readCatalog('newest');
    const lead = await crm.getRecord({ entity: 'lead', id: '42' }, 'edit');
    expect(lead?.fields).toEqual({ 'custom.city': null });
  });

  // No create is shown to demand these, and one record without them must not hold the whole list.
  it.each<[Entity, Fields]>([
    ['opportunity', { lead_id: null, stage_id: null }],
    ['task', { title: null }],
    ['lead', { title: null }],
  ])('of a record reads what a create may have left unset as empty: %s', async (entity, content) => {
    expect(await read(entity, content)).toEqual(content);
  });

  it.each([
    ['2026-01-01T12:00:00+02', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01 12:00:00.123456-03', '2026-01-01T15:00:00.123Z'],
    ['2026-01-01T12:00:00+0530', '2026-01-01T06:30:00.000Z'],
    ['2026-01-01', '2026-01-01T00:00:00.000Z'],
  ])('reads the instant %s in its own zone', async (told, instant) => {
    expect(await read('task', { created_at: told })).toEqual({ created_at: instant });
  });

  it('reads an instant without a zone as UTC wherever this machine is', async () => {
    vi.stubEnv('TZ', 'America/New_York');
    const fields = await read('task', { created_at: '2026-01-01T12:00:00' });
    vi.unstubAllEnvs();
    expect(fields).toEqual({ created_at: '2026-01-01T12:00:00.000Z' });
  });

  it('is not read from the answer about another record: what was merged into that is not there any more', async () => {
    const { crm } = await serveAnswer({ id: 43, title: 'What it was merged into' });
    const merged = { entity: 'lead', id: '42' } as const;
    expect(await crm.getRecord(merged, 'sweep')).toBeUndefined();
    const completed = crm.updateRecord(merged, { 'about.url': 'https://typed.example' });
    await expect(completed).rejects.toMatchObject({ code: 'CRM_NOT_FOUND' });
  });

  it.each<[boolean, object]>([
    [false, { deleted_at: '2026-01-01T12:00:00Z' }],
    [false, { is_trashed: true }],
    [false, { isDeleted: 1 }],
    [true, { deleted_at: null, deleted: false, is_deleted: 0, trashed: 'no', deletedAt: '' }],
    [true, { deleted_at: '0000-00-00 00:00:00' }],
    [true, { deletedAt: '0001-01-01T00:00:00Z' }],
  ])(
    'of a record that tells of the trash it is in is none: it is there, %s, with %o',
    async (isThere, content) => {
      const { crm } = await serveAnswer({ id: 42, ...content });
      const record = await crm.getRecord({ entity: 'opportunity', id: '42' }, 'sweep');
      expect(record !== undefined).toBe(isThere);
    },
  );

  it('is not read from the answer to an update that tells of another record', async () => {
    const { crm } = await serveAnswer({ id: 43, value: 7, note: 'Of the other one' });
    const { fields } = await crm.updateRecord({ entity: 'opportunity', id: '42' }, { value: 5 });
    expect(fields).toEqual({ value: 5 });
  });

  it('is sent without what is empty in a create and without what the CRM sets itself', async () => {
    const { crm, server } = await serveAnswer({ id: 42 });
    await crm.createRecord('opportunity', {
      lead_id: 1,
      value: null,
      note: null,
      created_at: '2026-01-01T00:00:00.000Z',
    });
    expect(JSON.parse(server.requests[0]!.body)).toEqual({ lead_id: 1 });
  });
});
