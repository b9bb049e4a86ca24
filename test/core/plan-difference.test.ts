import { describe, expect, it } from 'vitest';
import { comparePlans } from '../../src/sheet/plans/plan-difference.ts';
import { textCell } from '../../src/sheet/port/cell.ts';
import { changeRecord, leadKey, rowOf } from '../support/world.ts';
import { decideWorld, pull, worldWithLeads } from '../support/world-daemon.ts';

const [acme, beta] = [leadKey(1), leadKey(2)];

/** A world at rest in which the CRM renamed one lead and the sheet another, seen by the daemon. */
async function worldThatMoved() {
  const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { conflict: 'ask' });
  changeRecord(world, acme, { title: 'Acme Ltd' });
  rowOf(world, beta).cells['title'] = textCell('Beta Ltd');
  await pull(world);
  return world;
}

describe('two plans', () => {
  it('are the same when only time passed and rows were sorted', async () => {
    const world = await worldThatMoved();
    const planned = await decideWorld(world);
    world.clock.now += 60_000;
    world.sheet.lead.reverse();
    expect(comparePlans(planned, await decideWorld(world))).toEqual([]);
  });

  it('differ by record and field, each with what is there now', async () => {
    const world = await worldThatMoved();
    const planned = await decideWorld(world);
    changeRecord(world, acme, { title: 'Acme GmbH' });
    await pull(world);
    expect(comparePlans(planned, await decideWorld(world))).toMatchObject([
      {
        place: 'lead-1 title in the sheet',
        planned: '"Acme" → "Acme Ltd"',
        now: '"Acme" → "Acme GmbH"',
      },
    ]);
  });

  it('differ by what one of them lacks', async () => {
    const world = await worldThatMoved();
    const planned = await decideWorld(world);
    changeRecord(world, acme, { title: 'Acme' });
    await pull(world);
    expect(comparePlans(planned, await decideWorld(world))).toEqual([
      { place: 'lead-1 title in the sheet', planned: '"Acme" → "Acme Ltd"' },
    ]);
  });
});
