import { expect, test } from 'vitest';
import { currentLayout } from '../../src/sync/layout.ts';
import { pullCatalog } from '../../src/sync/pull.ts';
import { pushRecord } from '../../src/sync/push.ts';
import { openLinkStage } from '../support/link-stage.ts';

test('S4: a row that our own delete took, because rows moved, never deletes its record', async () => {
  const stage = await openLinkStage({ leads: 6, opportunities: 0, tasks: 0 });
  const { link } = stage;
  await pullCatalog(link, 'newest');
  await link.table.layOut(currentLayout(link), 'create');
  const engine = stage.createEngine({ policy: { ...link.policy, vanishedRows: 'trash' } });
  await engine.pullAll(() => {});
  await engine.cycle();
  const [first] = (await stage.readCrm()).leads;
  await stage.removeInCrm(`/leads/${first?.id}`);
  await engine.pullAll(() => {});
  await engine.pullAll(() => {});
  await engine.cycle();
  await stage.setSheetFaults({
    beforeNextWrite: [{ kind: 'sort', sheet: 'Leads', column: 'ID', descending: true }],
  });
  for (const _cycle of Array.from({ length: 5 })) {
    await engine.cycle();
    for (const { key } of link.mirror.readOutbox()) await pushRecord(link, key);
  }
  const ids = (await stage.readCrm()).leads.map(({ id }) => id);
  expect(ids).toHaveLength(5);
  expect((await stage.readSheet())['Leads']?.map(({ ID }) => ID).toSorted()).toEqual(ids.toSorted());
});
