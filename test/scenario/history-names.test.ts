import { expect, test } from 'vitest';
import type { LabelledEntry } from '../../src/sync/labels.ts';
import { openLeadsStage } from '../support/leads-stage.ts';
import { serve } from '../support/served.ts';

/** Five leads, the first of which somebody renamed in the sheet, and how the history is asked. */
async function openRenamed() {
  const stage = await openLeadsStage();
  const id = await stage.firstLead();
  const before = (await stage.titles()).crm.get(id);
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Oak & Ember GmbH' });
  await stage.settle();
  const { get, post } = await serve(stage.engine);
  const ask = async (query: Record<string, string>) => {
    const answer = await get(`/api/history?${new URLSearchParams(query)}`);
    const body = (await answer.json()) as { readonly entries: readonly LabelledEntry[] };
    return { status: answer.status, body };
  };
  return { ask, before, id, post, stage };
}

test('a line of the history says in the words of the sheet who was changed, and what', async () => {
  const { ask, before, id } = await openRenamed();
  const { body } = await ask({ limit: '1' });
  expect(body.entries).toMatchObject([
    {
      key: { entity: 'lead', id },
      name: `Oak & Ember GmbH (#${id})`,
      entityTitle: 'Leads',
      changes: [{ header: 'Title', before, after: 'Oak & Ember GmbH' }],
    },
  ]);
});

test('times are of the zone of whoever asks, and of UTC where that is not known here', async () => {
  const { ask, stage } = await openRenamed();
  const createdIn = async (zone: string) => {
    const { body } = await ask({ field: 'Created', limit: '1', zone });
    return body.entries[0]?.changes.find(({ header }) => header === 'Created')?.after ?? '';
  };
  const [record] = stage.link.mirror.readRecords('lead');
  expect(record?.fields['created_at']).toMatch(/Z$/);
  const [utc, there] = [await createdIn('UTC'), await createdIn('Asia/Tokyo')];
  expect(Date.parse(`${there.replace(' ', 'T')}Z`) - Date.parse(`${utc.replace(' ', 'T')}Z`)).toBe(
    9 * 3_600_000,
  );
  expect(await createdIn('__proto__')).toBe(utc);
});

test('a record is named by its id, its key, its name or its title, and what is called alike is listed', async () => {
  const { ask, id, post, stage } = await openRenamed();
  const linesOf = async (record: string) => (await ask({ record })).body.entries.length;
  const count = await linesOf(`lead-${id}`);
  expect(count).toBeGreaterThan(1);
  for (const record of [id, `#${id}`, 'oak & ember gmbh', `Oak & Ember GmbH (#${id})`, 'ember'])
    expect(await linesOf(record)).toBe(count);
  expect(await ask({ record: 'Nobody' })).toEqual({
    status: 404,
    body: { error: expect.stringMatching(/^No record is called “Nobody”\./) },
  });
  const [other] = [...(await stage.titles()).crm.keys()].filter((each) => each !== id);
  await stage.editCrm(`/leads/${other}`, { title: 'Oak & Ember GmbH' });
  await stage.settle();
  const several = { error: expect.stringContaining(`lead-${id} is Oak & Ember GmbH (#${id})`) };
  expect(await ask({ record: 'Oak & Ember GmbH' })).toEqual({ status: 400, body: several });
  expect(await post('/api/undo', { record: 'Oak & Ember GmbH' })).toEqual({ status: 400, body: several });
});

test('a field is named by its header as well', async () => {
  const { ask, id, post } = await openRenamed();
  const [byHeader, byName] = [await ask({ field: 'Title' }), await ask({ field: 'title' })];
  expect(byHeader).toEqual(byName);
  expect(await ask({ field: 'status' })).toMatchObject({ status: 200 });
  expect(await ask({ field: 'Status' })).toMatchObject({
    status: 400,
    body: { error: '“Status” may be status_name or status: name one of them.' },
  });
  expect(await post('/api/undo', { record: id, field: 'TITLE', isDryRun: true })).toMatchObject({
    status: 200,
    body: { steps: [{ name: `Oak & Ember GmbH (#${id})`, changes: [{ header: 'Title' }] }] },
  });
});
