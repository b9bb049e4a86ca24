import { describe, expect, test } from 'vitest';
import type { VanishedRowPolicy } from '../../src/sheet/policy.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { pushHeldUp } from '../support/held-deletes.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';

/** Somebody deleted the first row, and the delete of its lead waits because the CRM is not asked for now. */
async function openWithDelete(): Promise<LeadsStage & { readonly id: string }> {
  const stage = await openLeadsStage('crm', {}, 'trash');
  const id = await stage.firstLead();
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  for (const _turn of [1, 2]) await stage.engine.cycle();
  expect(stage.link.mirror.readOutbox()).toMatchObject([{ key: { id }, kind: 'delete', state: 'waiting' }]);
  return { ...stage, id };
}

/** Sends what waits, unless the last cycle withheld it. */
async function pushAll({ link }: LeadsStage, { lastPlan }: SheetEngine): Promise<void> {
  for (const { key } of link.mirror.readOutbox())
    await pushRecord(link, key, (item) => lastPlan?.withheld.includes(item.key.entity) ?? true);
}

const restart = ({ createEngine, link }: LeadsStage, vanishedRows: VanishedRowPolicy): SheetEngine => {
  const lead = { ...link.policy.tabs.lead, vanishedRows };
  return createEngine({ ...link, policy: { ...link.policy, tabs: { ...link.policy.tabs, lead } } });
};

describe('S4: a delete that waits to be sent', () => {
  test('is not sent once its row is back, although somebody is typing in the row', async () => {
    const stage = await openWithDelete();
    await stage.editSheet({ kind: 'undo' });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Kept' });
    await stage.engine.cycle();
    await pushAll(stage, stage.engine);
    expect((await stage.titles()).crm.has(stage.id)).toBe(true);
    await stage.settle();
    const { crm, sheet } = await stage.titles();
    expect([crm.get(stage.id), sheet.get(stage.id)]).toEqual(['Kept', 'Kept']);
  });

  test('is not sent once its row is back without its ID: it may be the row of its lead', async () => {
    const stage = await openWithDelete();
    await stage.editSheet({ kind: 'undo' });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'ID', text: '' });
    await stage.engine.cycle();
    await pushAll(stage, stage.engine);
    expect((await stage.titles()).crm.has(stage.id)).toBe(true);
  });

  test('is not sent once its row is back with an edit that waits for a plan to be applied', async () => {
    const stage = await openWithDelete();
    const engine = stage.createEngine({ ...stage.link, isManual: true });
    await stage.editSheet({ kind: 'undo' });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Kept' });
    for (const _turn of [1, 2]) await engine.cycle();
    await pushAll(stage, engine);
    expect((await stage.titles()).crm.has(stage.id)).toBe(true);
  });

  test.each(['ask', 'restore'] as const)(
    'is not sent after a restart with settings by which it would not be deleted: %s',
    async (rule) => {
      const stage = await openWithDelete();
      const engine = restart(stage, rule);
      await engine.cycle();
      await pushAll(stage, engine);
      expect((await stage.titles()).crm.has(stage.id)).toBe(true);
      for (const _turn of [1, 2]) await engine.cycle();
      expect(stage.link.mirror.readOutbox()).toEqual([]);
      expect([(await stage.titles()).sheet.has(stage.id), engine.lastPlan?.questions.length]).toEqual(
        rule === 'ask' ? [false, 1] : [true, 0],
      );
    },
  );

  test('is not sent once its row is back while it waits for its turn', async () => {
    const stage = await openWithDelete();
    const { engine, id, link } = stage;
    const { letGo } = pushHeldUp(link, { entity: 'lead', id });
    await stage.editSheet({ kind: 'undo' });
    await engine.cycle();
    expect(await letGo()).toBe('noted');
    await stage.settle();
    const { crm, sheet } = await stage.titles();
    expect([crm.has(id), sheet.has(id), link.mirror.readOutbox()]).toEqual([true, true, []]);
  });

  test('is sent after a restart with settings by which it is to be', async () => {
    const stage = await openWithDelete();
    const engine = restart(stage, 'trash');
    await engine.cycle();
    await pushAll(stage, engine);
    expect((await stage.titles()).crm.has(stage.id)).toBe(false);
  });
});

test('a delete does not wait for an edit of its row that the key may not send', async () => {
  const stage = await openLeadsStage('crm', {}, 'trash');
  const { engine, link } = stage;
  const id = await stage.firstLead();
  const key = { entity: 'lead', id } as const;
  const refusal = { kind: 'status', status: 403, path: '/leads/*', method: 'PUT', times: 100 } as const;
  stage.setCrmFaults({ faults: [refusal] });
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Never sent' });
  for (const _turn of [1, 2]) await engine.cycle();
  expect(await pushRecord(link, key)).toBe('noted');
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  for (const _turn of [1, 2]) await engine.cycle();
  expect(await pushRecord(link, key)).toBe('written');
  expect((await stage.titles()).crm.has(id)).toBe(false);
  expect(link.mirror.searchJournal({ key, limit: 10 })).toContainEqual(
    expect.objectContaining({ lost: { title: 'Never sent' } }),
  );
});

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
