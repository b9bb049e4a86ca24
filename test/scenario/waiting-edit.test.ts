import { expect, test } from 'vitest';
import { pushRecord } from '../../src/sync/push.ts';
import { openLeadsStage } from '../support/leads-stage.ts';

test('S1: an edit that waits for its row to be restored, while the CRM changes the same field, comes back with the row', async () => {
  const stage = await openLeadsStage('table');
  const { engine, link } = stage;
  const key = { entity: 'lead', id: await stage.firstLead() } as const;
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
  for (const _turn of [1, 2]) await engine.cycle();
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  for (const _turn of [1, 2]) await engine.cycle();
  await stage.editCrm(`/leads/${key.id}`, { title: 'From the CRM' });
  await engine.pullAll(() => {});
  await pushRecord(link, key);
  expect((await stage.titles()).crm.get(key.id)).toBe('From the CRM');
  link.mirror.saveDecision({ scope: `vanished:lead-${key.id}`, choice: 'restore', at: link.clock.now() });
  for (const _turn of [1, 2]) await engine.cycle();
  expect((await stage.titles()).sheet.get(key.id)).toBe('Typed');
  await stage.settle();
  const { crm, sheet } = await stage.titles();
  expect([crm.get(key.id), sheet.get(key.id)]).toEqual(['Typed', 'Typed']);
  expect(link.mirror.searchJournal({ key, limit: 9 })).toContainEqual(
    expect.objectContaining({ side: 'crm', lost: { title: 'From the CRM' } }),
  );
});
