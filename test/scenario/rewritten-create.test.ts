import { expect, test } from 'vitest';
import type { Crm } from '../../src/core/ports.ts';
import { pushRecord } from '../../src/sync/push.ts';
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
