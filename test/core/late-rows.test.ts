import { describe, expect, test } from 'vitest';
import { lateLandingMs } from '../../src/core/open-write.ts';
import { bolt, gone, hitWorld, over, scope } from '../support/damages.ts';
import { addRecord, createWorld, removeRow, type World } from '../support/world.ts';
import { cycle, pull, settle } from '../support/world-daemon.ts';
import { sheetIds } from '../support/world-view.ts';

/** Two leads whose first rows are sent, and nothing is heard of that. */
async function sendInVain(outcome: 'late' | 'lost'): Promise<World> {
  const world = createWorld();
  addRecord(world, 'lead', { title: 'Acme' });
  addRecord(world, 'lead', { title: 'Bolt' });
  await pull(world);
  await cycle(world, outcome);
  return world;
}

describe('new rows of which nothing is heard', () => {
  test('are not sent once more before they land', async () => {
    const world = await sendInVain('late');
    await cycle(world);
    world.tabs.land();
    expect((await settle(world)).holds).toEqual([]);
    expect(sheetIds(world)).toEqual(['1', '2']);
  });

  test('are sent once more when they can no longer land', async () => {
    const world = await sendInVain('lost');
    await cycle(world);
    expect(sheetIds(world)).toEqual([]);
    world.clock.now += lateLandingMs;
    await cycle(world);
    expect(sheetIds(world)).toEqual(['1', '2']);
  });

  test('are sent once more as soon as ever where the clock was set back', async () => {
    const world = await sendInVain('lost');
    world.clock.now -= 24 * 60 * 60 * 1_000;
    await cycle(world);
    world.clock.now += lateLandingMs;
    await cycle(world);
    expect(sheetIds(world)).toEqual(['1', '2']);
  });

  test('keep no other record from its row', async () => {
    const world = await sendInVain('late');
    addRecord(world, 'lead', { title: 'Corp' });
    await pull(world);
    await cycle(world);
    expect(sheetIds(world)).toEqual(['3']);
  });
});

test('a deleted row that is put back, of which nothing is heard, is not put back once more before that lands', async () => {
  const { world } = await hitWorld({}, { ...gone, own: { Note: over(gone.id, gone.id) } });
  removeRow(world, bolt);
  world.decisions.set(scope, 'restore');
  await cycle(world, 'late');
  await cycle(world);
  world.tabs.land();
  await settle(world);
  expect(sheetIds(world).filter((id) => id === bolt.id)).toEqual([bolt.id]);
});
