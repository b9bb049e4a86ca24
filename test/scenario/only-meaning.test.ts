import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/fields/catalog.ts';
import { sampleCatalog } from '../support/fields.ts';
import {
  approve,
  lostLead,
  many,
  newLead,
  ruleScope,
  setRule,
  titlesIn,
  waitToLeave,
  worldOfNewLeads,
} from '../support/ruled-tab.ts';
import { addRecord, changeRecord, createWorld, leadKey, restart, withCatalog } from '../support/world.ts';
import { cycle, settle } from '../support/world-daemon.ts';
import { scopes } from '../support/world-view.ts';

/*
 * What a rule names, and what of it is known: nothing moves by another meaning than the one that was meant.
 */

const withTiers = (options: readonly string[], optionIds: readonly number[]): Catalog => ({
  ...sampleCatalog,
  customFields: sampleCatalog.customFields.map((field) =>
    field.key === 'tier' ? { ...field, options: [...options], optionIds: [...optionIds] } : field,
  ),
});

describe('an option that a rule names', () => {
  /** Leads with the option Gold, which is called Platinum from now on. */
  async function worldOfPlatinum() {
    const world = withCatalog(createWorld(), withTiers(['Gold', 'Silver'], [1, 2]));
    setRule(world, { 'custom.tier': 'Gold' });
    for (const fields of many(12, newLead)) addRecord(world, 'lead', { ...fields, 'custom.tier': 'Gold' });
    await settle(world);
    expect(titlesIn(world)).toHaveLength(12);
    for (let id = 1; id <= 12; id += 1) changeRecord(world, leadKey(id), { 'custom.tier': 'Platinum' });
    return world;
  }

  it('is meant under its new name where another one gets the old name', async () => {
    const before = await worldOfPlatinum();
    const world = withCatalog(before, withTiers(['Platinum', 'Silver', 'Gold'], [1, 2, 3]));
    const plan = await settle(world);
    await waitToLeave(world);
    expect([titlesIn(world).length, scopes(plan)]).toEqual([12, []]);
  });

  it('is so where the other one gets it later', async () => {
    const before = await worldOfPlatinum();
    const between = withCatalog(before, withTiers(['Platinum', 'Silver'], [1, 2]));
    await settle(between);
    const world = withCatalog(between, withTiers(['Platinum', 'Silver', 'Gold'], [1, 2, 3]));
    const plan = await settle(world);
    await waitToLeave(world);
    expect([titlesIn(world).length, scopes(plan)]).toEqual([12, []]);
  });
});

describe('a rule by a field that is new in the CRM', () => {
  const segment = { key: 'segment', name: 'Segment', kind: 'select', options: ['A', 'B'] } as const;

  /** Leads of which the CRM has not reported the field yet. */
  async function worldOfUnreported(count: number) {
    const before = createWorld();
    for (const fields of many(count, newLead)) addRecord(before, 'lead', fields);
    await settle(before);
    const customFields = [...sampleCatalog.customFields, { ...segment, options: [...segment.options] }];
    const world = withCatalog(before, { ...sampleCatalog, customFields });
    setRule(world, { 'custom.segment': 'A' });
    restart(world);
    return world;
  }

  it('is asked about where many rows may leave by it', async () => {
    const world = await worldOfUnreported(20);
    expect(scopes(await cycle(world))).toEqual([ruleScope]);
    for (let id = 1; id <= 20; id += 1) changeRecord(world, leadKey(id), { 'custom.segment': null });
    expect(scopes(await settle(world))).toEqual([ruleScope]);
    await waitToLeave(world);
    expect(titlesIn(world)).toHaveLength(20);
  });

  it('is followed without an answer once few are known to leave', async () => {
    const world = await worldOfUnreported(20);
    await cycle(world);
    for (let id = 1; id <= 20; id += 1)
      changeRecord(world, leadKey(id), { 'custom.segment': id === 1 ? 'B' : 'A' });
    expect(scopes(await settle(world))).toEqual([]);
    await waitToLeave(world);
    expect(titlesIn(world)).toHaveLength(19);
  });
});

it('an answer for a rule is none for one that says less', async () => {
  const world = await worldOfNewLeads([...many(8, newLead), ...many(8, lostLead)]);
  setRule(world, { status: ['lost', 'in_talks'] });
  approve(world, await settle(world));
  setRule(world, { status: ['lost'] });
  expect(scopes(await settle(world))).toEqual([ruleScope]);
});
