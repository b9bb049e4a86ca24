import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { openWarehouseEngine } from '../support/warehouse-engine.ts';

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
  const isAsked = async () => stage.engine.found.brakes.some((brake) => brake.scope === scope);
  await trash([...(kept ? [kept] : []), ...others.slice(0, 5)]);
  await stage.restart();
  await until('it is asked', async () => (await isAsked()) && stage.side.mirror.feed.countGone().lead === 6);
  stage.approve(scope);
  const rows = async () => (await stage.database.query('SELECT count(*)::int FROM crm.lead'))[0]?.['count'];
  await until('the others are deleted', async () => (await rows()) === 15);
  await until('nothing is asked', async () => !(await isAsked()));
  expect(stage.engine.found.holds.map(({ id }) => id)).toEqual([String(kept?.id)]);

  await trash(others.slice(5, 9));
  await until('it is asked again', isAsked);
  expect(await rows()).toBe(15);
  await stage.database.query('DROP TABLE public.own');
  stage.approve(scope);
  await stage.settled();
  await until('nothing is due', async () => stage.due() === 0);
  expect(stage.side.mirror.readDecisions()).toEqual([]);
});
