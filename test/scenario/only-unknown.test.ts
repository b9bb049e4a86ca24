import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/fields/catalog.ts';
import { Standing } from '../../src/sheet/index/standing.ts';
import { decideAgain } from '../../src/sheet/plans/decide-again.ts';
import { sampleCatalog } from '../support/fields.ts';
import { approve, newLead, setRule, titlesIn, waitToLeave, worldOfNewLeads } from '../support/ruled-tab.ts';
import {
  addRecord,
  changeRecord,
  createWorld,
  leadKey,
  restart,
  type World,
  withCatalog,
} from '../support/world.ts';
import { cycle, inputOf, settle } from '../support/world-daemon.ts';
import { titles } from '../support/world-view.ts';

/* What is not known of a record moves nothing: neither out of its tab nor into it. */

const dayMs = 24 * 60 * 60 * 1_000;
const daysAgo = ({ clock }: World, days: number) => new Date(clock.now - days * dayMs).toISOString();

describe('a rule by a field that the CRM switches off', () => {
  const withoutOwner: Catalog = {
    ...sampleCatalog,
    customFields: sampleCatalog.customFields.map((field) =>
      field.key === 'owner' ? { ...field, held: 'The CRM does not list it any more.' } : field,
    ),
  };
  const ownedLeads = Array.from({ length: 40 }, (_, number) => ({
    ...newLead(`Lead ${number + 1}`),
    'custom.owner': 'u1',
  }));
  const empty = (world: World, count: number) => {
    for (let number = 1; number <= count; number += 1)
      changeRecord(world, leadKey(number), { 'custom.owner': null });
  };

  it.each([3, 40])('keeps all rows, also where %i of the records are read first', async (count) => {
    let world = await worldOfNewLeads(ownedLeads, { only: { owner: 'u1' } });
    empty(world, count);
    await settle(world);
    world = withCatalog(world, withoutOwner);
    await settle(world);
    await waitToLeave(world);
    expect(titlesIn(world)).toHaveLength(40);
  });
});

it('a record in a stage that is not known yet keeps its row', async () => {
  const world = createWorld();
  const [pipeline] = world.catalog.pipelines;
  setRule(world, { 'stage.pipeline': pipeline?.name ?? '' }, 'opportunity');
  addRecord(world, 'lead', { title: 'Acme' });
  const stage = pipeline?.stages[0]?.id ?? 0;
  const id = addRecord(world, 'opportunity', { title: 'Deal', lead_id: '1', stage_id: stage });
  await settle(world);
  changeRecord(world, { entity: 'opportunity', id }, { stage_id: 9_876 });
  await settle(world);
  await waitToLeave(world);
  expect(world.sheet.opportunity).toHaveLength(1);
});

it('no row goes by its age before the CRM was read again', async () => {
  const world = createWorld();
  setRule(world, { updatedWithinDays: 30 });
  for (const title of ['Acme', 'Bolt', 'Corp'])
    addRecord(world, 'lead', { title, updated_at: daysAgo(world, 25) });
  await settle(world);
  world.clock.now += 7 * dayMs;
  changeRecord(world, leadKey(1), { updated_at: daysAgo(world, 1) });
  restart(world);
  await cycle(world);
  world.clock.now += 301_000;
  await cycle(world);
  await cycle(world);
  expect(titlesIn(world)).toEqual(['Acme', 'Bolt', 'Corp']);
  await settle(world);
  await waitToLeave(world);
  expect(titlesIn(world)).toEqual(['Acme']);
});

it('a row that is deleted when its days are over, and before the CRM was read again, is no delete', async () => {
  const world = createWorld();
  setRule(world, { updatedWithinDays: 30 });
  for (const title of ['Acme', 'Bolt']) addRecord(world, 'lead', { title, updated_at: daysAgo(world, 25) });
  await settle(world);
  world.clock.now += 7 * dayMs;
  changeRecord(world, leadKey(1), { updated_at: daysAgo(world, 1) });
  world.sheet.lead.splice(0);
  for (const _look of [1, 2, 3]) {
    await cycle(world);
    world.clock.now += 60_000;
  }
  expect(world.outbox.size).toBe(0);
  await settle(world);
  expect([titlesIn(world), titles(world)]).toEqual([['Acme'], ['Acme', 'Bolt']]);
});

it('a row is no delete either where that is so by the rule that is about to be followed', async () => {
  const world = createWorld({ policy: { vanishedRows: 'trash' } });
  setRule(world, { updatedWithinDays: 60 });
  for (let number = 1; number <= 30; number += 1)
    addRecord(world, 'lead', { title: `${number}`, updated_at: daysAgo(world, number <= 20 ? 40 : 25) });
  await settle(world);
  setRule(world, { updatedWithinDays: 30 });
  await settle(world);
  world.clock.now += 7 * dayMs;
  world.sheet.lead.splice(29, 1);
  await cycle(world);
  approve(world, await cycle(world));
  for (const _look of [1, 2, 3]) {
    await cycle(world);
    expect(world.outbox.size).toBe(0);
  }
});

it.each([
  ['whose rule is not understood', { status: 'nonsense' }],
  ['by an age that the CRM does not tell', { updatedWithinDays: 90 }],
])('of a tab %s nothing is decided again where nothing changes', async (_what, only) => {
  const world = await worldOfNewLeads([newLead('Acme'), newLead('Bolt')], { only: {} });
  setRule(world, only);
  await settle(world);
  addRecord(world, 'lead', newLead('Corp'));
  await settle(world);
  const standing = new Standing();
  const input = await inputOf(world);
  decideAgain(input, standing, undefined);
  standing.update(input);
  expect(titlesIn(world)).toEqual(['Acme', 'Bolt']);
  expect(standing.groundOf('lead').loose()).toEqual({ records: [], agreements: [], rows: [] });
});
