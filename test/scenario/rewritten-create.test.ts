import { expect, test } from 'vitest';
import type { Crm } from '../../src/core/ports.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { openLeadsStage } from '../support/leads-stage.ts';

test('a new row whose text the CRM writes its own way without a word gets that text, and nobody is asked', async () => {
  const stage = await openLeadsStage('ask');
  const { engine, link } = stage;
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: ' Acme  Ltd ' });
  for (const _turn of [1, 2, 3]) await engine.cycle();
  const item = link.mirror.readOutbox().find(({ kind }) => kind === 'create');
  const crm: Pick<Crm, 'createRecord' | 'getRecord'> = {
    getRecord: (key, lane) => link.crm.getRecord(key, lane),
    async createRecord(entity, fields, sending) {
      const answer = await link.crm.createRecord(entity, { ...fields, title: 'Acme Ltd' }, sending);
      return { ...answer, fields: {} };
    },
  };
  expect(await pushRecord({ ...link, crm: crm as Crm }, item!.key)).toBe('written');
  await stage.settle();
  expect(engine.lastPlan?.conflicts).toEqual([]);
  expect([...(await stage.titles()).sheet.values()]).toContain('Acme Ltd');
  expect([...(await stage.titles()).crm.values()]).toContain('Acme Ltd');
});

test.each([
  ['Status', 'Contacted'],
  ['Title', 'Acme Ltd. & Sons'],
])(
  'S1: what somebody types into %s of a new row while the CRM creates it goes there, and nobody is asked about what that made of it',
  async (column, text) => {
    const stage = await openLeadsStage('crm');
    const { engine, link } = stage;
    const type = (into: string, typed: string) =>
      stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: into, text: typed });
    await type('Title', 'Acme Ltd.');
    for (const _turn of [1, 2, 3]) await engine.cycle();
    const item = link.mirror.readOutbox().find(({ kind }) => kind === 'create');
    await type(column, text);
    const crm: Pick<Crm, 'createRecord' | 'getRecord'> = {
      getRecord: (key, lane) => link.crm.getRecord(key, lane),
      createRecord: (entity, fields, sending) =>
        link.crm.createRecord(entity, { ...fields, title: 'Acme Ltd' }, sending),
    };
    expect(await pushRecord({ ...link, crm: crm as Crm }, item!.key)).toBe('written');
    await stage.settle();
    expect(engine.lastPlan?.conflicts).toEqual([]);
    const row = (await stage.readSheet())['Leads']?.at(-1);
    expect(row?.[column]).toBe(text);
    const made = (await stage.readCrm()).leads.find(({ id }) => id === row?.['ID']);
    expect([made?.title, made?.status_name]).toContain(column === 'Title' ? text : 'contacted');
  },
);
