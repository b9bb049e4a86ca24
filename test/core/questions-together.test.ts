import { describe, expect, it } from 'vitest';
import { describeCell, textCell } from '../../src/sheet/port/cell.ts';
import { leadKey, removeRow, type World } from '../support/world.ts';
import { acme, rest } from '../support/world-acme.ts';
import { cycle, settle, worldWithLeads } from '../support/world-daemon.ts';

const openWorld = async (titles: readonly string[]): Promise<World> =>
  await worldWithLeads(titles, { conflict: 'ask', policy: { questionsTitle: 'Questions' } });

const scopesIn = (world: World) => world.sheet.question.map(({ id }) => describeCell(id));

/** Somebody chooses beside a question in its tab. */
function choose(world: World, scope: string, text: string): void {
  const row = world.sheet.question.find(({ id }) => describeCell(id) === scope);
  if (!row) throw new Error(`There is no row of ${scope}, only of ${scopesIn(world).join(', ')}.`);
  row.cells['choose'] = textCell(text);
}

describe('answers that are given in the tab of the questions at the same time', () => {
  it('to one row that is gone and to the brake for all of them both count', async () => {
    const world = await openWorld(Array.from({ length: 20 }, (_, index) => `Lead ${index + 1}`));
    removeRow(world, acme);
    await settle(world);
    for (let id = 2; id <= 10; id += 1) removeRow(world, leadKey(id));
    await rest(world);
    expect(scopesIn(world)).toEqual(['vanished:lead-1', 'brake:lead:vanished']);
    choose(world, 'vanished:lead-1', 'Trash');
    choose(world, 'brake:lead:vanished', 'Approve');
    await cycle(world);
    expect(world.decisions.get('vanished:lead-1')).toBe('trash');
    await settle(world);
    expect([world.crm.has('lead-1'), world.crm.size]).toEqual([false, 19]);
  });
});
