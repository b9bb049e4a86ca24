import { expect, test } from 'vitest';
import { decisionOf } from '../../src/core/waiting/answer.ts';
import { shownOf } from '../../src/core/waiting/brakes.ts';
import { deletesScope, findBrakes } from '../../src/warehouse/brakes.ts';
import { warehouseFacts } from '../../src/warehouse/facts.ts';
import { lead, openMirrorDirectory } from '../support/mirror-directory.ts';
import { until } from '../support/until.ts';
import { openWarehouseEngine } from '../support/warehouse-engine.ts';

const { open } = openMirrorDirectory();

test('W6: an approval is not for what is gone later, also where a row could not be deleted', {
  timeout: 60_000,
}, async () => {
  const stage = await openWarehouseEngine({
    counts: { leads: 20, opportunities: 0, tasks: 0 },
    terms: { limits: { deletesMin: 0, deletesShare: 0 } },
  });
  await stage.start();
  await stage.settled();
  await stage.engine.stop(5_000);
  const [kept, ...others] = stage.model.records.leads.live();
  await stage.database.query('CREATE TABLE public.own (lead_id bigint REFERENCES crm.lead)');
  await stage.database.query('INSERT INTO public.own VALUES ($1)', [kept?.id]);
  const trash = async (leads: typeof others) => {
    for (const { id } of leads) await stage.crm.trash('lead', id);
  };
  const scope = 'brake:lead:rows';
  /** About how many rows it is asked. */
  const asked = () => stage.engine.found.brakes.find((brake) => brake.scope === scope)?.changes.count ?? 0;
  await trash([...(kept ? [kept] : []), ...others.slice(0, 5)]);
  await stage.restart();
  await until('it is asked about all', async () => asked() === 6);
  await stage.answer(scope, 'approve');
  const rows = async () => (await stage.database.query('SELECT count(*)::int FROM crm.lead'))[0]?.['count'];
  await until('the others are deleted', async () => (await rows()) === 15);
  await until('nothing is asked', async () => asked() === 0);
  expect(stage.engine.found.holds.map(({ id }) => id)).toEqual([String(kept?.id)]);

  await trash(others.slice(5, 9));
  await until('it is asked again', async () => asked() === 4);
  expect(await rows()).toBe(15);
  await stage.database.query('DROP TABLE public.own');
  await stage.answer(scope, 'approve');
  await stage.settled();
  await until('nothing is due', async () => stage.due() === 0);
  expect(stage.side.mirror.readDecisions()).toEqual([]);
});

test('W6: an approval is for as many rows as were shown, and those that may be deleted anyway', () => {
  const { mirror: common } = open();
  common.setFollowers(['warehouse']);
  const mirror = common.of('warehouse');
  mirror.saveFact(warehouseFacts.rows('lead'), 1_000);
  const lose = (from: number, to: number) => {
    for (let id = from; id <= to; id += 1) mirror.feed.noteDue([lead(String(id))]);
  };
  const find = () => findBrakes(mirror, ['lead'], { deletesMin: 5, deletesShare: 0.01 }, 1);
  lose(1, 30);
  const [brake] = find();
  expect(brake?.reason).toMatch(/^30 of 1000 records are gone/);
  mirror.saveDecision(decisionOf(deletesScope('lead'), 'approve', 1, brake && shownOf(brake)));
  expect(find()).toEqual([]);
  lose(31, 40);
  expect(find()).toEqual([]);
  lose(41, 41);
  expect(find()).toMatchObject([{ changes: { count: 41 } }]);
});

test('W6: as many new records make up for none that were deleted', { timeout: 60_000 }, async () => {
  const stage = await openWarehouseEngine({
    counts: { leads: 20, opportunities: 0, tasks: 0 },
    terms: { limits: { deletesMin: 5, deletesShare: 0 } },
  });
  await stage.start();
  await stage.settled();
  const leads = stage.model.records.leads.live();
  const trash = async (from: number, to: number) => {
    for (const { id } of leads.slice(from, to)) await stage.crm.trash('lead', id);
  };
  await trash(0, 4);
  for (let count = 1; count <= 4; count += 1) await stage.crm.create('lead', { title: `New ${count}` });
  await stage.settled();
  await trash(4, 6);
  const brake = await until('it is asked', async () => stage.engine.found.brakes[0]);
  expect(brake.reason).toMatch(/after \d in the last hour/);
});
