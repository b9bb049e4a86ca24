import { expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { withCrm } from '../support/changed-crm.ts';
import { openLeadsStage } from '../support/leads-stage.ts';
import { openScenario } from '../support/scenario.ts';
import { until } from '../support/until.ts';

test.each([
  ['', []],
  [', where its answer got lost', ['dropAfter']],
] as const)(
  'S1: the journal of a delete tells what the record had, in a column that the sheet does not have any more too%s',
  async (_where, faults) => {
    const scene = await openScenario();
    await scene.act({ kind: 'deleteColumns', sheet: 'Leads', column: 'About', count: 1 });
    await scene.cycled(2);
    const about = { meta_data: { about: { description: 'Met at the fair' } } };
    const id = await scene.crm.create('lead', { title: 'Acme', ...about });
    await scene.told('lead', id, /^Synced/);
    scene.setFaults({ faults: faults.map((kind) => ({ kind, method: 'DELETE', path: `/leads/${id}` })) });
    const row = await scene.position('lead', id);
    await scene.act({ kind: 'deleteRows', sheet: 'Leads', row, count: 1 });
    await scene.decide(`vanished:lead-${id}`, 'trash');
    const findDelete = async () =>
      scene.engine.link.mirror
        .searchJournal({ limit: 9 })
        .find(({ key, kind }) => kind === 'delete' && key.id === String(id));
    const line = await until('the delete is done', findDelete);
    expect(line.before).toMatchObject({ title: 'Acme', 'about.description': 'Met at the fair' });
  },
);

test('fault 39: a column that was deleted and typed anew is filled, and empties nothing in the CRM', async () => {
  const scene = await openScenario();
  const person = (kind: 'deleteColumns') => ({ kind, sheet: 'Leads', column: 'About', count: 1 }) as const;
  await scene.act(person('deleteColumns'));
  await scene.cycled(2);
  expect(scene.engine.lastPlan?.holds.map(({ reason }) => reason).join()).toContain(
    '“About” of “Leads” is gone',
  );
  await scene.act({ kind: 'edit', sheet: 'Leads', row: 0, column: 20, text: 'About' });
  await scene.settled();
  expect(scene.requests('PUT', /./)).toEqual([]);
  expect(scene.engine.lastPlan?.holds).toEqual([]);
});

test('what the CRM does not accept is told with the header that people gave the column', async () => {
  const stage = await openLeadsStage();
  const id = await stage.firstLead();
  const type = (row: number, column: string, text: string) =>
    stage.editSheet({ kind: 'edit', sheet: 'Leads', row, column, text });
  await type(0, 'Title', 'Firm');
  await stage.settle();
  await type(1, 'Firm', 'Typed');
  for (const _time of [1, 2]) await stage.engine.cycle();
  const refuse = () => Promise.reject(new SyncError('CRM_REFUSED', 'title: No such title.'));
  expect(await pushRecord(withCrm(stage.link, { updateRecord: refuse }), { entity: 'lead', id })).toBe(
    'noted',
  );
  await stage.engine.cycle();
  expect(stage.engine.lastPlan?.refusals).toMatchObject([
    { id, position: 1, reason: 'The CRM does not accept this Firm: No such title.' },
  ]);
});
