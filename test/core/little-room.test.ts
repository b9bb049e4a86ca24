import { describe, expect, test } from 'vitest';
import { addRecord, createWorld } from '../support/world.ts';
import { decideWorld, pull, readSheet } from '../support/world-daemon.ts';

describe('a spreadsheet with little room', () => {
  /** Three leads without rows, and so many rows that their tab can get. */
  async function planFor(room: number) {
    const world = createWorld();
    for (const title of ['Acme', 'Bolt', 'Corp']) addRecord(world, 'lead', { title });
    await pull(world);
    const { tabs, timeZone } = await readSheet(world);
    const lead = { ...tabs.lead, room };
    return decideWorld(world, { tabs: { ...tabs, lead }, timeZone });
  }

  test('gets its rows in more than one write, because its other tabs may grow as well, and nothing is said', async () => {
    const { holds, table } = await planFor(3);
    expect([holds, table]).toMatchObject([[], [{ write: { id: { number: 1 } } }]]);
  });

  test('without room for all says for how many there is none', async () => {
    const { holds, table } = await planFor(2);
    expect(holds).toMatchObject([{ reason: expect.stringContaining('no room for 1 more rows') }]);
    expect(table).toHaveLength(1);
  });
});
