import { describe, expect, it } from 'vitest';
import { type Cell, describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { changeRecord, leadKey, removeRow, rowOf, type World } from '../support/world.ts';
import { acme, rest, shownTitle, titleOf, typeTitle } from '../support/world-acme.ts';
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

describe('a brake that is answered while users type on', () => {
  it('S5: lets go what it was answered for, and stops the tab for all that comes behind the same words', async () => {
    const world = await openWorld(Array.from({ length: 60 }, (_, index) => `Lead ${index + 1}`));
    const fill = (from: number, to: number) => {
      for (let id = from; id <= to; id += 1)
        rowOf(world, leadKey(id)).cells['about.url'] = textCell('https://filled.example');
    };
    fill(1, 25);
    await rest(world);
    choose(world, 'brake:lead:column', 'Approve');
    fill(26, 50);
    expect(await cycle(world)).toMatchObject({ brakes: [], withheld: ['lead'], outbox: { save: [] } });
    expect((await cycle(world)).brakes).toMatchObject([
      { scope: 'brake:lead:column', changes: { count: 25 } },
    ]);
  });
});

describe('a row that is held because it may be the row of another record', () => {
  /** Beta’s row shows much of what Acme has, of whose title both sides disagree. */
  async function disagree(): Promise<World> {
    const world = await openWorld(['Acme', 'Beta']);
    changeRecord(world, acme, { 'about.url': 'https://acme.example', 'about.description': 'Acme sells' });
    await settle(world);
    changeRecord(world, acme, { title: 'Acme of the CRM' });
    typeTitle(world, 'Acme of the sheet');
    await settle(world);
    expect(scopesIn(world)).toEqual(['conflict:lead-1:title']);
    return world;
  }

  /** Somebody types into the cells of Beta that Acme has filled. */
  const fillBeta = (world: World, cellOf: (name: string) => Cell | undefined) => {
    for (const name of ['about.url', 'about.description'])
      rowOf(world, leadKey(2)).cells[name] = cellOf(name) ?? emptyCell;
  };

  it('keeps the question about its conflict, and the choice that was made beside it', async () => {
    const world = await disagree();
    fillBeta(world, (name) => rowOf(world, acme).cells[name]);
    choose(world, 'conflict:lead-1:title', 'CRM');
    const plan = await rest(world);
    expect(plan.holds.map(({ decision }) => decision)).toContain('swap:lead-1');
    expect(scopesIn(world)).toContain('conflict:lead-1:title');
    fillBeta(world, () => emptyCell);
    await settle(world);
    expect([titleOf(world), shownTitle(world)]).toEqual(['Acme of the CRM', 'Acme of the CRM']);
    expect(scopesIn(world)).toEqual([]);
  });
});
