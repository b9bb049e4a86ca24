import { expect, test } from 'vitest';
import type { Clock } from '../../src/core/ports.ts';
import { openLinkStage } from '../support/link-stage.ts';

test('rows show what the CRM said while others had their turn between deciding and writing them', async () => {
  const stage = await openLinkStage({ leads: 300, opportunities: 0, tasks: 0 });
  const { clock, mirror } = stage.link;
  const renamed: string[] = [];
  const busy: Clock = {
    ...clock,
    async sleep(durationMs, signal) {
      const [lead] = mirror.readRecords('lead');
      if (durationMs === 0 && lead && renamed.length === 0) {
        renamed.push(lead.key.id);
        mirror.saveRecord({ ...lead, fields: { ...lead.fields, title: 'Renamed meanwhile' } });
      }
      await clock.sleep(durationMs, signal);
    },
  };
  await stage.layOut();
  const engine = stage.createEngine({ clock: busy });
  await engine.pullAll(() => {});
  const { table } = await engine.cycle();

  expect(table).toHaveLength(300);
  const [row] = (await stage.readSheet())['Leads']?.filter((each) => each['ID'] === Number(renamed[0])) ?? [];
  expect(row?.['Title']).toBe('Renamed meanwhile');
});

test('rows whose write goes on into the next minute are not written again for the time in their Sync cells', async () => {
  const stage = await openLinkStage({ leads: 6, opportunities: 0, tasks: 0 });
  const { clock, table } = stage.link;
  let laterMs = 0;
  const write: typeof table.write = async (...order) => {
    const result = await table.write(...order);
    laterMs += 60_000;
    return result;
  };
  const later: Clock = { ...clock, now: () => clock.now() + laterMs };
  const engine = await stage.fill({ clock: later, table: { ...table, write } });
  expect((await engine.cycle()).table).toEqual([]);
});
