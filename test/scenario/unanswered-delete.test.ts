import { expect, test } from 'vitest';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { openLeadsStage } from '../support/leads-stage.ts';

test('S1: a delete whose answer got lost is in the journal with what the record had, although the lists tell of it before it is tried again', async () => {
  const stage = await openLeadsStage();
  const { engine, link } = stage;
  const key = { entity: 'lead', id: await stage.firstLead() } as const;
  await stage.editCrm(`/leads/${key.id}`, { title: 'Acme' });
  await stage.settle();
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  link.mirror.saveDecision({ scope: `vanished:lead-${key.id}`, choice: 'trash', at: link.clock.now() });
  for (const _turn of [1, 2]) await engine.cycle();
  stage.setCrmFaults({ faults: [{ kind: 'dropAfter', method: 'DELETE', path: '/leads/*' }] });
  await pushRecord(link, key);
  expect(link.mirror.findOutboxItem(key)).toMatchObject({ kind: 'delete', state: 'waiting' });
  for (const _sweep of [1, 2]) await engine.pullAll(() => {});
  await engine.cycle();
  expect(link.mirror.findOutboxItem(key)).toBeUndefined();
  const lines = link.mirror.searchJournal({ key, limit: 9 });
  expect(lines.filter(({ kind }) => kind === 'delete')).toMatchObject([
    { side: 'crm', before: { title: 'Acme' } },
  ]);
});
