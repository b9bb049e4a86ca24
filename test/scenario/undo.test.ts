import { expect, test } from 'vitest';
import { currentLayout } from '../../src/sync/layout.ts';
import { pullCatalog } from '../../src/sync/pull.ts';
import { pushRecord } from '../../src/sync/push.ts';
import { undo } from '../../src/sync/undo.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';

async function openFilled() {
  const stage = await openLinkStage({ leads: 5, opportunities: 0, tasks: 0 });
  const { link } = stage;
  await pullCatalog(link, 'newest');
  await link.table.layOut(currentLayout(link), 'create');
  const engine = stage.createEngine();
  const settle = async () => {
    for (const _turn of Array.from({ length: 4 })) {
      await engine.pullAll(() => {});
      await engine.cycle();
      for (const { key } of link.mirror.readOutbox()) await pushRecord(link, key, () => false);
    }
  };
  await settle();
  return { stage, link, settle };
}

const titlesOf = async (stage: LinkStage) => ({
  crm: new Map((await stage.readCrm()).leads.map(({ id, title }) => [id, title])),
  sheet: new Map((await stage.readSheet())['Leads']?.map(({ ID, Title }) => [ID, Title])),
});

test('a run that was taken back is undone on both sides, and what was edited since stays', async () => {
  const { link, settle, stage } = await openFilled();
  const before = await titlesOf(stage);
  const pasted = ['Wrong 1', 'Wrong 2', 'Wrong 3'].map((title) => [title]);
  await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 1, column: 'Title', rows: pasted });
  await settle();
  const [{ run } = { run: '' }] = link.mirror.searchJournal({ field: 'title', limit: 1 });
  const wrong = await titlesOf(stage);
  expect(link.mirror.searchJournal({ run, limit: 10 })).toHaveLength(3);
  const edited = [...wrong.crm].find(([, title]) => title === 'Wrong 2')?.[0];
  await stage.editCrm(`/leads/${edited}`, { title: 'Right' });
  await settle();
  const { refusals, steps } = await undo(link, { run });
  expect(steps).toHaveLength(2);
  expect(refusals).toMatchObject([{ key: { id: String(edited) }, field: 'title' }]);
  await settle();
  const after = await titlesOf(stage);
  expect(after.crm).toEqual(
    new Map([...before.crm].map(([id, title]) => [id, id === edited ? 'Right' : title])),
  );
  expect(after.sheet).toEqual(after.crm);
});

test('a record that was created in the sheet goes again from both sides', async () => {
  const { link, settle, stage } = await openFilled();
  const before = await titlesOf(stage);
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Not meant' });
  await settle();
  const [created] = link.mirror
    .searchJournal({ limit: 9 })
    .filter(({ kind, side }) => kind === 'create' && side === 'crm');
  expect((await titlesOf(stage)).crm.size).toBe(6);
  await undo(link, { id: created?.id });
  await settle();
  const after = await titlesOf(stage);
  expect(after).toEqual(before);
});
