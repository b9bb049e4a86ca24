import { describe, expect, it } from 'vitest';
import { emptyCell, textCell } from '../../src/core/cell.ts';
import type { Plan } from '../../src/core/decide/plan.ts';
import { leadKey, recordOf, removeRow, rowOf, type World } from '../support/world.ts';
import { cycle, settle, worldWithLeads } from '../support/world-daemon.ts';

const titles = Array.from({ length: 60 }, (_, index) => `Lead ${index + 1}`);
const first = (count: number) => Array.from({ length: count }, (_, index) => leadKey(index + 1));
const scopes = ({ brakes }: Plan) => brakes.map(({ scope }) => scope);

const fill = (world: World, count: number, field: string, text: string) => {
  for (const key of first(count)) rowOf(world, key).cells[field] = text === '' ? emptyCell : textCell(text);
};

/** Cycles until what people typed has rested; answers the plan of then. */
const rest = (world: World): Plan => {
  cycle(world);
  return cycle(world);
};

/** A world in which somebody filled half a column, and let that go; none of it is sent yet. */
function approvedFill(): World {
  const world = worldWithLeads(titles);
  fill(world, 30, 'about.url', 'https://meant.example');
  expect(scopes(rest(world))).toEqual(['brake:lead:column']);
  world.decisions.set('brake:lead:column', 'approve');
  expect(scopes(cycle(world))).toEqual([]);
  expect(world.outbox.size).toBe(30);
  return world;
}

describe('while what a person let go is being sent', () => {
  it('S5: another column that is filled by accident stops the tab, and what waits of both is withheld', () => {
    const world = approvedFill();
    fill(world, 40, 'about.description', 'By accident');
    const plan = rest(world);
    expect(plan.brakes).toMatchObject([{ scope: 'brake:lead:column', changes: { count: 40 } }]);
    expect(plan.withheld).toEqual(['lead']);
    fill(world, 40, 'about.description', '');
    settle(world);
    const urls = first(31).map((key) => recordOf(world, key).fields['about.url']);
    expect(urls).toEqual([...Array.from({ length: 30 }, () => 'https://meant.example'), null]);
    expect(recordOf(world, leadKey(1)).fields['about.description']).toBeNull();
    expect([...world.decisions]).toEqual([]);
  });

  it('S5: other values in the same cells are asked about as well', () => {
    const world = approvedFill();
    fill(world, 30, 'about.url', 'https://accident.example');
    expect(scopes(rest(world))).toEqual(['brake:lead:column']);
    world.decisions.set('brake:lead:column', 'approve');
    settle(world);
    expect(recordOf(world, leadKey(30)).fields['about.url']).toBe('https://accident.example');
    expect([...world.decisions]).toEqual([]);
  });

  it('a few further edits go with it', () => {
    const world = approvedFill();
    fill(world, 3, 'about.description', 'Meant as well');
    expect(scopes(rest(world))).toEqual([]);
    settle(world);
    expect(recordOf(world, leadKey(3)).fields['about.description']).toBe('Meant as well');
    expect([...world.decisions]).toEqual([]);
  });

  it('S5: further rows that vanish are no part of the answer for those before', () => {
    const world = worldWithLeads(titles);
    for (const key of first(10)) removeRow(world, key);
    expect(scopes(rest(world))).toEqual(['brake:lead:vanished']);
    world.decisions.set('brake:lead:vanished', 'trash');
    cycle(world);
    expect(world.outbox.size).toBe(10);
    for (const key of first(20).slice(10)) removeRow(world, key);
    expect(rest(world).brakes).toMatchObject([{ scope: 'brake:lead:vanished', changes: { count: 10 } }]);
    world.decisions.set('brake:lead:vanished', 'restore');
    settle(world);
    expect(world.sheet.lead).toHaveLength(50);
    expect(world.crm.size).toBe(50);
    expect([...world.decisions]).toEqual([]);
  });

  it('rows that were let go without a word are asked about one by one', () => {
    const world = worldWithLeads(titles);
    for (const key of first(10)) removeRow(world, key);
    rest(world);
    world.decisions.set('brake:lead:vanished', 'approve');
    const plan = settle(world);
    expect(plan.brakes).toEqual([]);
    expect(plan.questions.map(({ scope }) => scope)).toContain('vanished:lead-7');
    world.decisions.set('vanished:lead-7', 'restore');
    settle(world);
    expect([world.sheet.lead.length, world.crm.size]).toEqual([51, 60]);
  });
});
