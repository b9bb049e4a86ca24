import { expect, test } from 'vitest';
import { openScenario } from '../support/scenario.ts';

test('the dropdowns of leads offer all leads by the names that they have in the CRM, some minutes later', async () => {
  const scene = await openScenario({ counts: { leads: 3, opportunities: 1, tasks: 1 } });
  const { table } = scene.engine.link;
  const offered: (readonly string[])[] = [];
  const { offerLeads } = table;
  table.offerLeads = (names, before) => {
    offered.push(names);
    return offerLeads(names, before);
  };
  const { id } = await scene.crm.take('lead');
  await scene.crm.update('lead', id, { title: 'Renamed' });
  await expect.poll(() => offered.length, { timeout: 60_000 }).toBe(1);
  expect(offered[0]).toContain(`Renamed (#${id})`);
  expect(offered[0]).toHaveLength(3);
});
