import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { openWarehouseEngine } from '../support/warehouse-engine.ts';

/** A stage whose tasks are held: their table was dropped. */
async function openLacking() {
  const stage = await openWarehouseEngine();
  await stage.start();
  await stage.settled();
  await stage.compared();
  await stage.database.query('DROP TABLE crm.task CASCADE');
  const task = await stage.crm.take('task');
  await stage.crm.update('task', task.id, { title: 'Renamed' });
  await until('it is held', async () => stage.engine.found.holds.some(({ entity }) => entity === 'task'));
  return stage;
}

describe('a table that a user dropped', { timeout: 60_000 }, () => {
  test('keeps no other from being written, also when all rows are to be compared', async () => {
    const stage = await openLacking();
    await stage.restart();
    const lead = await stage.crm.take('lead');
    await stage.crm.update('lead', lead.id, { title: 'Renamed' });
    await stage.shows(
      `SELECT title FROM crm.lead WHERE id = ${lead.id}`,
      ([row]) => row?.['title'] === 'Renamed',
    );
    const { tables } = await stage.compare();
    expect(tables.map(({ entity }) => entity)).toEqual(['lead', 'opportunity']);
  });

  test.each([true, false])(
    'is filled once it is there again; the daemon runs meanwhile: %s',
    async (runs) => {
      const stage = await openLacking();
      await stage.mend();
      if (!runs) await stage.restart();
      await stage.settled(20_000);
    },
  );
});
