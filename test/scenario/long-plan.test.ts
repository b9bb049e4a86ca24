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

test.each([
  ['a user emptied every Sync cell', emptySync],
  ['the spreadsheet moved to another time zone', moveZone],
])('where %s, others get their turn while all rows are looked at', async (_case, change) => {
  const stage = await openLinkStage({ leads: 600, opportunities: 0, tasks: 0 });
  const { clock, table } = stage.link;
  let turns = 0;
  const counting: Clock = {
    ...clock,
    async sleep(durationMs, signal) {
      if (durationMs === 0) turns += 1;
      await clock.sleep(durationMs, signal);
    },
  };
  const turnsBefore: number[] = [];
  const look: typeof table.look = (...order) => {
    turnsBefore.push(turns);
    return table.look(...order);
  };
  const engine = await stage.fill({ clock: counting, table: { ...table, look } });
  await change(stage);
  turns = 0;
  await engine.cycle();
  expect(turnsBefore).toHaveLength(1);
  expect(turnsBefore[0]).toBeGreaterThanOrEqual(600 / 250);
});

test('where a user emptied every Sync cell, each write takes some of the rows', async () => {
  const stage = await openLinkStage({ leads: 600, opportunities: 0, tasks: 0 });
  const engine = await stage.fill({ policy: { ...stage.link.policy, updatesMax: 250 } });
  await emptySync(stage);
  const plans = [await engine.cycle(), await engine.cycle(), await engine.cycle(), await engine.cycle()];
  expect(plans.map(({ table }) => table.length)).toEqual([250, 250, 100, 0]);
});

type Stage = Awaited<ReturnType<typeof openLinkStage>>;

function emptySync(stage: Stage): Promise<void> {
  const rows = Array.from({ length: 600 }, (_, number) => number + 1);
  const empty = { sheet: 'Leads', kind: 'edit', column: 'Sync', text: '' } as const;
  return stage.editSheet(...rows.map((row) => ({ ...empty, row })));
}

function moveZone(stage: Stage): Promise<void> {
  const properties = { timeZone: 'Asia/Kolkata' };
  return stage.asOwner({ updateSpreadsheetProperties: { properties, fields: 'timeZone' } });
}
