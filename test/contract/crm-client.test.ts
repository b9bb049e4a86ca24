import { afterEach, describe, expect, it } from 'vitest';
import type { Crm } from '../../src/core/ports.ts';
import type { Entity, ListedEntity, ObservedRecord } from '../../src/core/record.ts';
import type { Fields } from '../../src/core/value.ts';
import type { CrmChoices } from '../../src/sandbox/crm/choices.ts';
import { type SandboxCrm, startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { createCrmBench } from '../support/crm-bench.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { answerSuccess, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

const servers: (SandboxCrm | ScriptedServer)[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

interface SandboxOptions {
  readonly choices?: Partial<CrmChoices>;
  readonly leads?: number;
  readonly opportunities?: number;
  readonly tasks?: number;
}

/** The client in front of a sandbox CRM that lives in the same standing time. */
async function serveSandbox({ choices = {}, leads = 3, opportunities = 2, tasks = 2 }: SandboxOptions = {}) {
  const clock = createManualClock();
  const counts = { leads, opportunities, tasks };
  const sandbox = await startSandboxCrm({ port: 0, seed: 7, counts, choices, clock: clock.now });
  servers.push(sandbox);
  const bench = createCrmBench(sandbox.baseUrl, { apiKey: sandbox.apiKey, clock });
  const { crm } = bench;
  const catalog = await crm.readCatalog('newest');
  const read = async (entity: Entity, id: string): Promise<Fields> =>
    (await crm.getRecord({ entity, id }, 'edit'))?.fields ?? {};
  return { ...bench, sandbox, catalog, read };
}

async function serveAnswer(content: unknown) {
  const server = await startScriptedServer((response) => answerSuccess(response, content));
  servers.push(server);
  return { ...createCrmBench(server.baseUrl), server };
}

async function readAll(crm: Crm, entity: ListedEntity): Promise<ObservedRecord[]> {
  const records: ObservedRecord[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await crm.listRecords(entity, page, 'sweep');
    records.push(...answer.records);
    if (!answer.hasMore) return records;
  }
}

describe('the catalog', () => {
  it('has pipelines with their stages, lead statuses and custom fields of every kind', async () => {
    const { catalog, sandbox } = await serveSandbox();
    const { records } = sandbox.model;
    expect(catalog.pipelines.map(({ id, name }) => ({ id, name }))).toEqual(
      records.pipelines.map(({ id, name }) => ({ id, name })),
    );
    expect(catalog.pipelines.every((pipeline) => pipeline.stages.length > 0)).toBe(true);
    expect(catalog.leadStatuses.length).toBeGreaterThan(0);
    const active = records.customFields.filter((definition) => definition.is_active);
    expect(catalog.customFields.map((field) => field.key).toSorted()).toEqual(
      active.map((definition) => definition.field_key).toSorted(),
    );
    for (const field of catalog.customFields) {
      expect(field.options.length > 0).toBe(field.kind === 'select' || field.kind === 'multi-select');
    }
  });

  it.each(['items', 'data', 'results', 'records', 'entity', 'array'] as const)(
    'is read where lists come as %s',
    async (listShape) => {
      const { catalog } = await serveSandbox({ choices: { listShape } });
      expect(catalog.customFields.length).toBeGreaterThan(0);
    },
  );

  it('leaves out a custom field of a type nobody knows, and says so', async () => {
    const definition = { id: 1, name: 'Place', field_key: 'place', type: 'geo', stages: [] };
    const { crm, log } = await serveAnswer([definition]);
    expect(await crm.readCatalog('newest')).toMatchObject({
      customFields: [],
      unusable: { place: 'its kind in the CRM is not known here' },
    });
    expect(log.lines).toContainEqual({
      level: 'warn',
      event: 'crm.custom-field.left-out',
      fields: { key: 'place', type: 'geo' },
    });
  });

  it('is read where nobody has filled in more than the names', async () => {
    const unset = {
      color: null,
      is_active: null,
      is_default: null,
      label: null,
      order: null,
      sort_order: null,
    };
    const stage = { id: 11, name: 'New', order_index: null, tag_name: null };
    const names = { id: 1, name: 'Plain', field_key: 'plain', type: 'text', options: null };
    const { crm } = await serveAnswer([{ ...names, ...unset, stages: [stage] }]);
    expect(await crm.readCatalog('newest')).toEqual({
      pipelines: [{ id: 1, name: 'Plain', stages: [{ id: 11, name: 'New', order: 0 }] }],
      leadStatuses: [{ name: 'Plain', label: 'Plain' }],
      customFields: [{ key: 'plain', name: 'Plain', kind: 'text', options: [] }],
    });
  });

  it('fails when it can not be understood, and says where', async () => {
    const { crm } = await serveAnswer({ count: 1 });
    await expect(crm.readCatalog('newest')).rejects.toMatchObject({
      code: 'CRM_UNREADABLE',
      message: expect.stringContaining('GET /pipelines cannot be understood: no list is in the answer'),
    });
  });
});

describe('records', () => {
  const opportunity = {
    value: 1250.5,
    confidence: 40,
    expected_close_date: '2026-03-31',
    note: 'Zweites Gespräch 🙂',
  };
  const task = {
    title: '=1+1',
    description: 'Zeile 1\nZeile 2',
    status: 2,
    priority: 3,
    start_date: '2026-01-02',
    due_date: '2026-02-28',
  };

  it('S12: a lead comes back with what was written, custom fields of every kind too', async () => {
    const { crm, catalog, sandbox, read } = await serveSandbox();
    const member = sandbox.model.records.members[0]!;
    const written: Record<string, Fields[string]> = {
      title: '007',
      status_name: catalog.leadStatuses[0]!.name,
      'about.description': 'Met at the fair',
      'about.url': 'https://example.com/a?b=1',
    };
    for (const { key, kind, options } of catalog.customFields) {
      const samples: Readonly<Record<string, Fields[string]>> = {
        text: '+49 30 1234',
        number: 12.5,
        boolean: true,
        date: '2026-02-28',
        select: options[0] ?? null,
        'multi-select': options.slice(0, 2),
        user: String(member.id),
        users: [String(member.id)],
      };
      written[`custom.${key}`] = samples[kind] ?? null;
    }
    const { id, fields } = await crm.createRecord('lead', written);
    expect(fields).toMatchObject(written);
    expect(await read('lead', id)).toMatchObject(written);
    expect((await readAll(crm, 'lead')).find((record) => record.id === id)?.fields).toMatchObject(written);
  });

  it('S12: an opportunity comes back with what was written', async () => {
    const { crm, catalog, sandbox, read } = await serveSandbox();
    const lead_id = sandbox.model.records.leads.live()[0]!.id;
    const written = { ...opportunity, lead_id, stage_id: catalog.pipelines[0]!.stages[0]!.id };
    const { id } = await crm.createRecord('opportunity', written);
    expect(await read('opportunity', id)).toMatchObject(written);
  });

  it.each(['plain', 'entity', 'item'] as const)(
    'S12: a task comes back with what was written, %s',
    async (singleRecord) => {
      const { crm, sandbox, read } = await serveSandbox({ choices: { singleRecord } });
      const lead_id = sandbox.model.records.leads.live()[0]!.id;
      const { id } = await crm.createRecord('task', { ...task, lead_id, parent_task_id: null });
      expect(await read('task', id)).toMatchObject({ ...task, lead_id, parent_task_id: null });
    },
  );

  it('a listing and a direct read say the same', async () => {
    const { crm, read } = await serveSandbox();
    for (const entity of ['lead', 'opportunity', 'task'] as const) {
      for (const { id, fields } of await readAll(crm, entity)) expect(await read(entity, id)).toEqual(fields);
    }
  });

  it.each(['absent', 'null'] as const)(
    'custom fields that are cleared are empty, %s in the answer',
    async (clearedCustomField) => {
      const { crm, catalog, read } = await serveSandbox({ choices: { clearedCustomField } });
      const name = `custom.${catalog.customFields.find((field) => field.kind === 'text')!.key}`;
      const { id } = await crm.createRecord('lead', { title: 'Anna', [name]: 'x' });
      await crm.updateRecord({ entity: 'lead', id }, { [name]: null });
      expect(await read('lead', id)).toMatchObject({ [name]: null });
    },
  );

  it.each(['merge', 'replace'] as const)(
    'changing one part of about keeps the other where the CRM would %s it',
    async (aboutUpdate) => {
      const { crm, read } = await serveSandbox({ choices: { aboutUpdate } });
      const about = { 'about.description': 'Met at the fair', 'about.url': 'https://example.com/' };
      const { id } = await crm.createRecord('lead', { title: 'Anna', ...about });
      await crm.updateRecord({ entity: 'lead', id }, { 'about.description': null });
      expect(await read('lead', id)).toMatchObject({ ...about, 'about.description': null });
    },
  );

  it.each(['record', 'id', 'none'] as const)(
    'an update whose answer holds %s brings back what was sent at least',
    async (opportunityUpdateAnswer) => {
      const { crm, sandbox, read } = await serveSandbox({ choices: { opportunityUpdateAnswer } });
      const key = {
        entity: 'opportunity',
        id: String(sandbox.model.records.opportunities.live()[0]!.id),
      } as const;
      expect((await crm.updateRecord(key, { value: 77 })).fields).toMatchObject({ value: 77 });
      expect(await read(key.entity, key.id)).toMatchObject({ value: 77 });
    },
  );

  it('an update changes nothing but its fields', async () => {
    const { crm, sandbox, read } = await serveSandbox();
    const id = String(sandbox.model.records.leads.live()[0]!.id);
    const before = await read('lead', id);
    await crm.updateRecord({ entity: 'lead', id }, { title: 'Renamed' });
    const changed = { title: 'Renamed', updated_at: expect.not.stringMatching(String(before['updated_at'])) };
    expect(await read('lead', id)).toEqual({ ...before, ...changed });
  });

  it('an update of a part of about fails when the lead is gone', async () => {
    const { crm } = await serveSandbox();
    const call = crm.updateRecord({ entity: 'lead', id: '999' }, { 'about.url': null });
    await expect(call).rejects.toMatchObject({ code: 'CRM_NOT_FOUND' });
  });

  it('an edit that names what the CRM does not have is refused with words that say what', async () => {
    const { crm, sandbox } = await serveSandbox({ choices: { danglingReferenceStatus: 404 } });
    const id = String(sandbox.model.records.tasks.live()[0]!.id);
    const update = crm.updateRecord({ entity: 'task', id }, { title: 'Call', parent_task_id: 99_999 });
    await expect(update).rejects.toMatchObject({
      code: 'CRM_NOT_FOUND',
      message: expect.stringMatching(/^The CRM does not have the parent task #99999 of this task any more\./),
    });
  });

  it('a refusal carries the words of the CRM', async () => {
    const { crm, sandbox } = await serveSandbox();
    const id = String(sandbox.model.records.tasks.live()[0]!.id);
    const call = crm.updateRecord({ entity: 'task', id }, { due_date: '2026-02-30' });
    await expect(call).rejects.toMatchObject({
      code: 'CRM_REFUSED',
      message: expect.stringContaining('due_date'),
    });
  });

  it('a deleted record is gone, and deleting it again is done', async () => {
    const { crm, sandbox } = await serveSandbox();
    const key = { entity: 'task', id: String(sandbox.model.records.tasks.live()[0]!.id) } as const;
    await crm.deleteRecord(key);
    expect(await crm.getRecord(key, 'edit')).toBeUndefined();
    await crm.deleteRecord(key);
  });
});

describe('the sandbox’s listings', () => {
  const listings: readonly Partial<CrmChoices>[] = [
    { listShape: 'array' },
    { listShape: 'entity', listFacts: 'none' },
    { listShape: 'results', leadAndTaskPaging: 'ignored' },
    { listFacts: 'none', leadAndTaskPaging: 'ignored' },
    { oversizedLimit: 'clamped' },
  ];

  it.each(listings)('are read completely with %o', async (choices) => {
    const { crm } = await serveSandbox({ choices, leads: 230, opportunities: 130, tasks: 7 });
    for (const [entity, count] of [
      ['lead', 230],
      ['opportunity', 130],
      ['task', 7],
    ] as const) {
      expect(new Set((await readAll(crm, entity)).map((record) => record.id)).size).toBe(count);
    }
  });

  it('start with the newest', async () => {
    const { crm } = await serveSandbox();
    const { id } = await crm.createRecord('task', { title: 'Call' });
    expect((await crm.listRecords('task', 1, 'newest')).records[0]?.id).toBe(id);
  });

  it('fault 14: are not taken for complete where the CRM serves its first page only', async () => {
    const choices = { leadAndTaskPaging: 'firstPageOnly' } as const;
    const { crm } = await serveSandbox({ choices, leads: 230 });
    await expect(readAll(crm, 'lead')).rejects.toMatchObject({ code: 'CRM_UNREADABLE' });
  });
});
