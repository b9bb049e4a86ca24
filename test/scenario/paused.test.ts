import { expect, test } from 'vitest';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { undo } from '../../src/sync/undo.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import { until } from '../support/until.ts';

/** A filled sheet whose leads can be paused. */
async function openPausable() {
  const stage = await openLinkStage({ leads: 6, opportunities: 0, tasks: 0 });
  const { policy } = stage.link;
  const lead = { ...policy.tabs.lead, pauseHeader: 'Pause' };
  const engine = await stage.fill({ policy: { ...policy, tabs: { ...policy.tabs, lead } } });
  return { stage, engine, link: engine.link };
}

const edit = (stage: LinkStage, column: string, text: string) =>
  stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column, text });

test('a row that is ticked in the column for it is left alone until it is unticked', async () => {
  const { stage, engine, link } = await openPausable();
  await edit(stage, 'Pause', 'TRUE');
  await edit(stage, 'Title', 'Typed while paused');
  for (const _cycle of Array.from({ length: 4 })) await engine.cycle();
  expect(link.mirror.readOutbox()).toEqual([]);
  expect(engine.lastPlan?.table).toEqual([]);
  await edit(stage, 'Pause', 'FALSE');
  await until('the edit is taken', async () => {
    await engine.cycle();
    return link.mirror.readOutbox().length === 1;
  });
});

test('what was taken back reaches the CRM although its row is paused before it is sent', async () => {
  const { stage, engine, link } = await openPausable();
  const { mirror } = link;
  await edit(stage, 'Title', 'Wrong');
  await until('the edit is taken', async () => {
    await engine.cycle();
    return mirror.readOutbox().length === 1;
  });
  const [item] = mirror.readOutbox();
  if (!item) throw new Error('The edit does not wait any more.');
  const { base, key } = item;
  await pushRecord(link, key);
  await engine.cycle();
  expect(await undo(link, { key, field: 'title' })).toMatchObject({ refusals: [] });
  await edit(stage, 'Pause', 'TRUE');
  for (const _cycle of Array.from({ length: 2 })) await engine.cycle();
  expect(await pushRecord(link, key)).toBe('written');
  const { leads } = await stage.readCrm();
  expect(leads.find(({ id }) => String(id) === key.id)?.title).toBe(base['title']);
});

test('a tab without its column for pauses is held, because nobody could tell which rows to leave alone', async () => {
  const { stage, engine } = await openPausable();
  await edit(stage, 'Pause', 'TRUE');
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 0, column: 'Pause', text: '' });
  await engine.cycle();
  expect(engine.lastPlan?.holds).toMatchObject([
    {
      entity: 'lead',
      reason: expect.stringMatching(/^“Leads” has no column “Pause”, in which rows are paused\./),
    },
  ]);
});
