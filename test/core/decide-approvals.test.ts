import { describe, expect, it } from 'vitest';
import { decisionOf } from '../../src/core/answer.ts';
import { shownOf } from '../../src/core/brakes.ts';
import type { Plan } from '../../src/sheet/decide/plan.ts';
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

  it('S5: one that comes back, edited in the CRM, is no part of the answer where its row is deleted again at once', () => {
    const world = worldWithLeads(titles);
    for (const key of first(10)) removeRow(world, key);
    rest(world);
    changeRecord(world, leadKey(1), { title: 'Edited' });
    pull(world);
    world.decisions.set('brake:lead:vanished', 'trash');
    cycle(world);
    removeRow(world, leadKey(1));
    settle(world);
    expect(world.crm.has('lead-1')).toBe(true);
    expect(world.crm.size).toBe(51);
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

describe('an answer for rows that are gone', () => {
  /** Answers a brake in the face of what it shows. */
  const answer = (world: World, { brakes: [brake] }: Plan, choice: 'trash' | 'restore') => {
    if (!brake) throw new Error('There is no brake.');
    const decided = decisionOf(brake.scope, choice, world.now, shownOf(brake));
    world.decisions.set(decided.scope, decided.choice);
  };

  it('S4: is over once most of them are back: what is still gone, or gone since, is asked about one by one', () => {
    const world = worldWithLeads(titles);
    const rows = [...world.sheet.lead];
    for (const key of first(10)) removeRow(world, key);
    answer(world, rest(world), 'trash');
    world.sheet.lead.splice(0, world.sheet.lead.length, ...rows);
    for (const id of [30, 31]) removeRow(world, leadKey(id));
    const plan = settle(world);
    expect([world.crm.size, plan.brakes]).toEqual([60, []]);
    expect(plan.questions.map(({ scope }) => scope)).toEqual(['vanished:lead-30', 'vanished:lead-31']);
    expect([...world.decisions]).toEqual([]);
  });

  it('S4: takes no row that was to come back, where an earlier answer for all of them came too late', () => {
    const world = worldWithLeads(titles);
    const [row] = world.sheet.lead;
    for (const key of first(60)) removeRow(world, key);
    answer(world, rest(world), 'trash');
    world.sheet.lead.push(row!);
    const plan = rest(world);
    expect(scopes(plan)).toEqual(['brake:lead:vanished']);
    answer(world, plan, 'restore');
    settle(world);
    expect([world.crm.size, world.sheet.lead.length]).toEqual([60, 60]);
  });

  it.each(['ask', 'restore'] as const)(
    'S4: without a word about the records, follows the rule of the settings also when that becomes “%s”',
    (vanishedRows) => {
      const world = worldWithLeads(titles, { policy: { vanishedRows: 'trash' } });
      for (const key of first(10)) removeRow(world, key);
      rest(world);
      world.decisions.set('brake:lead:vanished', 'approve');
      cycle(world);
      expect(world.outbox.size).toBe(10);
      const restarted = { ...world, policy: { ...world.policy, vanishedRows } };
      const plan = settle(restarted);
      expect([world.crm.size, plan.brakes]).toEqual([60, []]);
      expect(world.sheet.lead).toHaveLength(vanishedRows === 'ask' ? 50 : 60);
    },
  );

  it.each([
    ['trash', 50, 'Approve does what the configuration says: their records go to the trash.'],
    ['restore', 60, 'Approve does what the configuration says: the rows come back.'],
  ] as const)(
    'without a word about the records, means what its question says where the rule is %s',
    (vanishedRows, left, words) => {
      const world = worldWithLeads(titles, { policy: { vanishedRows } });
      for (const key of first(10)) removeRow(world, key);
      const { brakes } = rest(world);
      expect(brakes).toMatchObject([{ reason: expect.stringContaining(words) }]);
      world.decisions.set('brake:lead:vanished', 'approve');
      settle(world);
      expect([world.crm.size, world.sheet.lead.length]).toEqual([left, left]);
    },
  );

  it('without a word about the records, brings their rows back where the rule becomes that', () => {
    const world = worldWithLeads(titles);
    for (const key of first(10)) removeRow(world, key);
    rest(world);
    world.decisions.set('brake:lead:vanished', 'approve');
    settle(world);
    settle({ ...world, policy: { ...world.policy, vanishedRows: 'restore' } });
    expect(world.sheet.lead).toHaveLength(60);
    expect([...world.decisions]).toEqual([]);
  });
});

describe('once a person let go records that are gone from the CRM, whose rows somebody had edited', () => {
  const proveGone = (world: World, ids: readonly number[]): Plan => {
    for (const id of ids) removeRecord(world, leadKey(id));
    for (let sweep = 1; sweep <= 3; sweep += 1) pull(world);
    return rest(world);
  };
  const between = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);

  function approvedLosses(): World {
    const world = worldWithLeads(titles);
    for (const key of first(10)) rowOf(world, key).cells['title'] = textCell(`Edited ${key.id}`);
    expect(scopes(proveGone(world, between(1, 10)))).toEqual(['brake:lead:gone']);
    world.decisions.set('brake:lead:gone', 'approve');
    const plan = settle(world);
    expect([plan.brakes, plan.holds.length, world.sheet.lead.length]).toEqual([[], 10, 60]);
    return world;
  }

  it('S5: further records that disappear are asked about by themselves, and their rows stay until then', () => {
    const world = approvedLosses();
    expect(proveGone(world, between(11, 50)).brakes).toMatchObject([
      { scope: 'brake:lead:gone', changes: { count: 40 } },
    ]);
    expect(settle(world).withheld).toEqual(['lead']);
    expect(world.sheet.lead).toHaveLength(60);
    world.decisions.set('brake:lead:gone', 'approve');
    expect(settle(world).brakes).toEqual([]);
    expect(world.sheet.lead).toHaveLength(20);
  });

  it('S5: an answer that is read when more have disappeared than it was given for is over, and all of them are asked about', () => {
    const world = worldWithLeads(titles);
    const answer = ({ brakes: [brake] }: Plan) => {
      if (!brake) throw new Error('There is no brake.');
      const { choice, scope } = decisionOf(brake.scope, 'approve', world.now, shownOf(brake));
      world.decisions.set(scope, choice);
    };
    answer(proveGone(world, between(1, 10)));
    expect(proveGone(world, between(11, 50)).brakes).toMatchObject([
      { scope: 'brake:lead:gone', changes: { count: 50 } },
    ]);
    expect(world.sheet.lead).toHaveLength(60);
    expect([...world.decisions]).toEqual([]);
    answer(rest(world));
    expect(settle(world).brakes).toEqual([]);
    expect(world.sheet.lead).toHaveLength(10);
    expect([...world.decisions]).toEqual([]);
  });

  it('one further row goes without a question', () => {
    const world = approvedLosses();
    expect(proveGone(world, [11]).brakes).toEqual([]);
    settle(world);
    expect(world.sheet.lead).toHaveLength(59);
  });

  it('the answer is over for a record that is back, and for a row that is deleted', () => {
    const world = worldWithLeads(titles);
    const lost = first(10).map((key) => recordOf(world, key));
    for (const key of first(10)) rowOf(world, key).cells['title'] = textCell(`Edited ${key.id}`);
    proveGone(world, between(1, 10));
    world.decisions.set('brake:lead:gone', 'approve');
    settle(world);
    for (const { key, fields } of lost.slice(0, 5)) world.crm.set(`lead-${key.id}`, { key, fields });
    for (const { key } of lost.slice(5)) removeRow(world, key);
    settle(world);
    expect([...world.decisions]).toEqual([]);
  });
});
