import { describe, expect, it } from 'vitest';
import { decisionOf } from '../../src/core/waiting/answer.ts';
import { shownOf } from '../../src/core/waiting/brakes.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  changeRecord,
  leadKey,
  recordOf,
  removeRecord,
  removeRow,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, pull, settle, worldWithLeads } from '../support/world-daemon.ts';
import { scopes } from '../support/world-view.ts';

const titles = Array.from({ length: 60 }, (_, index) => `Lead ${index + 1}`);
const first = (count: number) => Array.from({ length: count }, (_, index) => leadKey(index + 1));

const fill = (world: World, count: number, field: string, text: string) => {
  for (const key of first(count)) rowOf(world, key).cells[field] = text === '' ? emptyCell : textCell(text);
};

/** Cycles until what people typed has rested; answers the plan of then. */
const rest = async (world: World): Promise<Plan> => {
  await cycle(world);
  return await cycle(world);
};

/** A world in which somebody filled half a column, and let that go; none of it is sent yet. */
async function approvedFill(): Promise<World> {
  const world = await worldWithLeads(titles);
  fill(world, 30, 'about.url', 'https://meant.example');
  expect(scopes(await rest(world))).toEqual(['brake:lead:column']);
  world.decisions.set('brake:lead:column', 'approve');
  expect(scopes(await cycle(world))).toEqual([]);
  expect(world.outbox.size).toBe(30);
  return world;
}

describe('while what a person let go is being sent', () => {
  it('S5: another column that is filled by accident stops the tab, and what waits of both is withheld', async () => {
    const world = await approvedFill();
    fill(world, 40, 'about.description', 'By accident');
    const plan = await rest(world);
    expect(plan.brakes).toMatchObject([{ scope: 'brake:lead:column', changes: { count: 40 } }]);
    expect(plan.withheld).toEqual(['lead']);
    fill(world, 40, 'about.description', '');
    await settle(world);
    const urls = first(31).map((key) => recordOf(world, key).fields['about.url']);
    expect(urls).toEqual([...Array.from({ length: 30 }, () => 'https://meant.example'), null]);
    expect(recordOf(world, leadKey(1)).fields['about.description']).toBeNull();
    expect([...world.decisions]).toEqual([]);
  });

  it('S5: other values in the same cells are asked about as well', async () => {
    const world = await approvedFill();
    fill(world, 30, 'about.url', 'https://accident.example');
    expect(scopes(await rest(world))).toEqual(['brake:lead:column']);
    world.decisions.set('brake:lead:column', 'approve');
    await settle(world);
    expect(recordOf(world, leadKey(30)).fields['about.url']).toBe('https://accident.example');
    expect([...world.decisions]).toEqual([]);
  });

  it('a few further edits go with it', async () => {
    const world = await approvedFill();
    fill(world, 3, 'about.description', 'Meant as well');
    expect(scopes(await rest(world))).toEqual([]);
    await settle(world);
    expect(recordOf(world, leadKey(3)).fields['about.description']).toBe('Meant as well');
    expect([...world.decisions]).toEqual([]);
  });

  it('S5: further rows that vanish are no part of the answer for those before', async () => {
    const world = await worldWithLeads(titles);
    for (const key of first(10)) removeRow(world, key);
    expect(scopes(await rest(world))).toEqual(['brake:lead:vanished']);
    world.decisions.set('brake:lead:vanished', 'trash');
    await cycle(world);
    expect(world.outbox.size).toBe(10);
    for (const key of first(20).slice(10)) removeRow(world, key);
    expect((await rest(world)).brakes).toMatchObject([
      { scope: 'brake:lead:vanished', changes: { count: 10 } },
    ]);
    world.decisions.set('brake:lead:vanished', 'restore');
    await settle(world);
    expect(world.sheet.lead).toHaveLength(50);
    expect(world.crm.size).toBe(50);
    expect([...world.decisions]).toEqual([]);
  });

  it('S5: one that comes back, edited in the CRM, is no part of the answer where its row is deleted again at once', async () => {
    const world = await worldWithLeads(titles);
    for (const key of first(10)) removeRow(world, key);
    await rest(world);
    changeRecord(world, leadKey(1), { title: 'Edited' });
    await pull(world);
    world.decisions.set('brake:lead:vanished', 'trash');
    await cycle(world);
    removeRow(world, leadKey(1));
    await settle(world);
    expect(world.crm.has('lead-1')).toBe(true);
    expect(world.crm.size).toBe(51);
  });

  it('rows that were let go without a word are asked about one by one', async () => {
    const world = await worldWithLeads(titles);
    for (const key of first(10)) removeRow(world, key);
    await rest(world);
    world.decisions.set('brake:lead:vanished', 'approve');
    const plan = await settle(world);
    expect(plan.brakes).toEqual([]);
    expect(plan.questions.map(({ scope }) => scope)).toContain('vanished:lead-7');
    world.decisions.set('vanished:lead-7', 'restore');
    await settle(world);
    expect([world.sheet.lead.length, world.crm.size]).toEqual([51, 60]);
  });
});

describe('an answer for rows that are gone', () => {
  /** Answers a brake in the face of what it shows. */
  const answer = (world: World, { brakes: [brake] }: Plan, choice: 'trash' | 'restore') => {
    if (!brake) throw new Error('There is no brake.');
    const decided = decisionOf(brake.scope, choice, world.clock.now, shownOf(brake));
    world.decisions.set(decided.scope, decided.choice);
  };

  it('S4: is over once most of them are back: what is still gone, or gone since, is asked about one by one', async () => {
    const world = await worldWithLeads(titles);
    const rows = [...world.sheet.lead];
    for (const key of first(10)) removeRow(world, key);
    answer(world, await rest(world), 'trash');
    world.sheet.lead.splice(0, world.sheet.lead.length, ...rows);
    for (const id of [30, 31]) removeRow(world, leadKey(id));
    const plan = await settle(world);
    expect([world.crm.size, plan.brakes]).toEqual([60, []]);
    expect(plan.questions.map(({ scope }) => scope)).toEqual(['vanished:lead-30', 'vanished:lead-31']);
    expect([...world.decisions]).toEqual([]);
  });

  it('S4: takes no row that was to come back, where an earlier answer for all of them came too late', async () => {
    const world = await worldWithLeads(titles);
    const [row] = world.sheet.lead;
    for (const key of first(60)) removeRow(world, key);
    answer(world, await rest(world), 'trash');
    world.sheet.lead.push(row!);
    const plan = await rest(world);
    expect(scopes(plan)).toEqual(['brake:lead:vanished']);
    answer(world, plan, 'restore');
    await settle(world);
    expect([world.crm.size, world.sheet.lead.length]).toEqual([60, 60]);
  });

  it.each(['ask', 'restore'] as const)(
    'S4: without a word about the records, follows the rule of the settings also when that becomes “%s”',
    async (vanishedRows) => {
      const world = await worldWithLeads(titles, { policy: { vanishedRows: 'trash' } });
      for (const key of first(10)) removeRow(world, key);
      await rest(world);
      world.decisions.set('brake:lead:vanished', 'approve');
      await cycle(world);
      expect(world.outbox.size).toBe(10);
      const restarted = { ...world, policy: { ...world.policy, vanishedRows } };
      const plan = await settle(restarted);
      expect([world.crm.size, plan.brakes]).toEqual([60, []]);
      expect(world.sheet.lead).toHaveLength(vanishedRows === 'ask' ? 50 : 60);
    },
  );

  it.each([
    ['trash', 50, 'Approve does what the configuration says: their records go to the trash.'],
    ['restore', 60, 'Approve does what the configuration says: the rows come back.'],
  ] as const)(
    'without a word about the records, means what its question says where the rule is %s',
    async (vanishedRows, left, words) => {
      const world = await worldWithLeads(titles, { policy: { vanishedRows } });
      for (const key of first(10)) removeRow(world, key);
      const { brakes } = await rest(world);
      expect(brakes).toMatchObject([{ reason: expect.stringContaining(words) }]);
      world.decisions.set('brake:lead:vanished', 'approve');
      await settle(world);
      expect([world.crm.size, world.sheet.lead.length]).toEqual([left, left]);
    },
  );

  it('without a word about the records, brings their rows back where the rule becomes that', async () => {
    const world = await worldWithLeads(titles);
    for (const key of first(10)) removeRow(world, key);
    await rest(world);
    world.decisions.set('brake:lead:vanished', 'approve');
    await settle(world);
    await settle({ ...world, policy: { ...world.policy, vanishedRows: 'restore' } });
    expect(world.sheet.lead).toHaveLength(60);
    expect([...world.decisions]).toEqual([]);
  });
});

describe('once a person let go records that are gone from the CRM, whose rows somebody had edited', () => {
  const proveGone = async (world: World, ids: readonly number[]): Promise<Plan> => {
    for (const id of ids) removeRecord(world, leadKey(id));
    for (let sweep = 1; sweep <= 3; sweep += 1) await pull(world);
    return await rest(world);
  };
  const between = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);

  async function approvedLosses(): Promise<World> {
    const world = await worldWithLeads(titles);
    for (const key of first(10)) rowOf(world, key).cells['title'] = textCell(`Edited ${key.id}`);
    expect(scopes(await proveGone(world, between(1, 10)))).toEqual(['brake:lead:gone']);
    world.decisions.set('brake:lead:gone', 'approve');
    const plan = await settle(world);
    expect([plan.brakes, plan.holds.length, world.sheet.lead.length]).toEqual([[], 10, 60]);
    return world;
  }

  it('S5: further records that disappear are asked about by themselves, and their rows stay until then', async () => {
    const world = await approvedLosses();
    expect((await proveGone(world, between(11, 50))).brakes).toMatchObject([
      { scope: 'brake:lead:gone', changes: { count: 40 } },
    ]);
    expect((await settle(world)).withheld).toEqual(['lead']);
    expect(world.sheet.lead).toHaveLength(60);
    world.decisions.set('brake:lead:gone', 'approve');
    expect((await settle(world)).brakes).toEqual([]);
    expect(world.sheet.lead).toHaveLength(20);
  });

  it('S5: an answer that is read when more have disappeared than it was given for is over, and all of them are asked about', async () => {
    const world = await worldWithLeads(titles);
    const answer = ({ brakes: [brake] }: Plan) => {
      if (!brake) throw new Error('There is no brake.');
      const { choice, scope } = decisionOf(brake.scope, 'approve', world.clock.now, shownOf(brake));
      world.decisions.set(scope, choice);
    };
    answer(await proveGone(world, between(1, 10)));
    expect((await proveGone(world, between(11, 50))).brakes).toMatchObject([
      { scope: 'brake:lead:gone', changes: { count: 50 } },
    ]);
    expect(world.sheet.lead).toHaveLength(60);
    expect([...world.decisions]).toEqual([]);
    answer(await rest(world));
    expect((await settle(world)).brakes).toEqual([]);
    expect(world.sheet.lead).toHaveLength(10);
    expect([...world.decisions]).toEqual([]);
  });

  it('one further row goes without a question', async () => {
    const world = await approvedLosses();
    expect((await proveGone(world, [11])).brakes).toEqual([]);
    await settle(world);
    expect(world.sheet.lead).toHaveLength(59);
  });

  it('the answer is over for a record that is back, and for a row that is deleted', async () => {
    const world = await worldWithLeads(titles);
    const lost = first(10).map((key) => recordOf(world, key));
    for (const key of first(10)) rowOf(world, key).cells['title'] = textCell(`Edited ${key.id}`);
    await proveGone(world, between(1, 10));
    world.decisions.set('brake:lead:gone', 'approve');
    await settle(world);
    for (const { key, fields } of lost.slice(0, 5)) world.crm.set(`lead-${key.id}`, { key, fields });
    for (const { key } of lost.slice(5)) removeRow(world, key);
    await settle(world);
    expect([...world.decisions]).toEqual([]);
  });
});
