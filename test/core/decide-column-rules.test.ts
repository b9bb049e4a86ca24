import { describe, expect, it } from 'vitest';
import type { BlankRule } from '../../src/core/merge.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  changeRecord,
  forgetAgreed,
  leadKey,
  recordOf,
  removeRecord,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, pull, settle, worldWithLeads } from '../support/world-daemon.ts';

const acme = leadKey(1);
const shown = (world: World, field: string) => describeCell(rowOf(world, acme).cells[field] ?? emptyCell);
const shownSync = (world: World) => describeCell(rowOf(world, acme).sync);

/** A lead with a website, whose column has the rule. */
async function worldWithWebsite(blank: BlankRule, conflict: 'crm' | 'table' | 'ask' = 'crm'): Promise<World> {
  const world = await worldWithLeads(['Acme'], { columns: { 'about.url': { blank, conflict } } });
  changeRecord(world, acme, { 'about.url': 'https://acme.example' });
  await settle(world);
  return world;
}

const emptyWebsite = (world: World) => {
  rowOf(world, acme).cells['about.url'] = emptyCell;
};

describe('an emptied cell', () => {
  it('empties the field in the CRM where nothing else is said', async () => {
    const world = await worldWithWebsite('clear');
    emptyWebsite(world);
    await settle(world);
    expect(recordOf(world, acme).fields['about.url']).toBeNull();
  });

  it('gets its value back where it is to be left, once the person rests', async () => {
    const world = await worldWithWebsite('leave');
    emptyWebsite(world);
    expect(await cycle(world)).toMatchObject({ table: [], restlessRows: 1 });
    await settle(world);
    expect(shown(world, 'about.url')).toBe('https://acme.example');
    expect(recordOf(world, acme).fields['about.url']).toBe('https://acme.example');
    expect(shownSync(world)).toMatch(/^Synced [\d: -]+$/);
  });

  it('that is to be left is no conflict and no edit for the brakes', async () => {
    const world = await worldWithLeads(
      Array.from({ length: 20 }, (_, index) => `Lead ${index + 1}`),
      { conflict: 'ask', columns: { 'about.url': { blank: 'leave' } } },
    );
    for (const { key } of world.crm.values())
      changeRecord(world, key, { 'about.url': `https://${key.id}.example` });
    await settle(world);
    for (const row of world.sheet.lead) row.cells['about.url'] = emptyCell;
    changeRecord(world, acme, { 'about.url': 'https://new.example' });
    const plan = await settle(world);
    expect([plan.brakes, plan.conflicts, plan.refusals]).toEqual([[], [], []]);
    expect(shown(world, 'about.url')).toBe('https://new.example');
  });

  it('that is refused stays empty, and the Sync cell says what to do until it is done', async () => {
    const world = await worldWithWebsite('refuse');
    emptyWebsite(world);
    expect((await settle(world)).refusals).toHaveLength(1);
    expect([shown(world, 'about.url'), recordOf(world, acme).fields['about.url']]).toEqual([
      '(empty)',
      'https://acme.example',
    ]);
    expect(shownSync(world)).toBe(
      'Error: Website can not be emptied here. Put “https://acme.example” back, or type another value.',
    );
    rowOf(world, acme).cells['about.url'] = textCell('https://acme.example');
    expect((await settle(world)).refusals).toEqual([]);
    expect(shownSync(world)).toMatch(/^Synced /);
  });

  it('that is refused is one also where the commas of a list are left in it', async () => {
    const world = await worldWithLeads(['Acme'], { columns: { 'custom.topics': { blank: 'refuse' } } });
    changeRecord(world, acme, { 'custom.topics': ['Web', 'Print'] });
    await settle(world);
    rowOf(world, acme).cells['custom.topics'] = textCell(', ');
    expect((await settle(world)).refusals).toHaveLength(1);
    expect(recordOf(world, acme).fields['custom.topics']).toEqual(['Web', 'Print']);
  });

  it.each([
    ['crm', 'https://new.example', /^Changed by the CRM: Website was \(empty\)/],
    ['table', '(empty)', /^Error: Website can not be emptied here\. Put “https:\/\/new\.example” back/],
    ['ask', '(empty)', /^Conflict: the CRM has “https:\/\/new\.example” for Website/],
  ] as const)('that is refused, while the CRM changed and %s wins', async (conflict, cell, sync) => {
    const world = await worldWithWebsite('refuse', conflict);
    emptyWebsite(world);
    changeRecord(world, acme, { 'about.url': 'https://new.example' });
    await settle(world);
    expect(shown(world, 'about.url')).toBe(cell);
    expect(shownSync(world)).toMatch(sync);
    expect(recordOf(world, acme).fields['about.url']).toBe('https://new.example');
  });

  it('that is to be left does not keep the row of a record that is gone', async () => {
    const world = await worldWithWebsite('leave');
    emptyWebsite(world);
    removeRecord(world, acme);
    await pull(world);
    await settle(world);
    expect(world.sheet.lead).toEqual([]);
  });
});

describe('two values that meet without ever having been agreed', () => {
  it.each(['crm', 'table', 'ask'] as const)(
    'S1: wait for a person, also where %s wins conflicts',
    async (conflict) => {
      const world = await worldWithLeads(['Acme', 'Beta'], { conflict });
      rowOf(world, acme).cells['title'] = textCell('Acme from the sheet');
      forgetAgreed(world);
      const plan = await settle(world);
      expect(plan.conflicts).toMatchObject([
        { key: acme, field: 'title', agreed: null, crm: 'Acme', table: 'Acme from the sheet' },
      ]);
      expect([recordOf(world, acme).fields['title'], shown(world, 'title')]).toEqual([
        'Acme',
        'Acme from the sheet',
      ]);
      expect(shownSync(world)).toMatch(/^Conflict: the CRM has “Acme” for Title\./);
      world.decisions.set('conflict:lead-1:title', 'table');
      expect((await settle(world)).conflicts).toEqual([]);
      expect(recordOf(world, acme).fields['title']).toBe('Acme from the sheet');
    },
  );

  it('need nobody where one of them is empty: the other fills it', async () => {
    const world = await worldWithLeads(['Acme']);
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    rowOf(world, acme).cells['about.description'] = textCell('Makes anvils');
    forgetAgreed(world);
    expect((await settle(world)).conflicts).toEqual([]);
    expect(shown(world, 'about.url')).toBe('https://acme.example');
    expect(recordOf(world, acme).fields['about.description']).toBe('Makes anvils');
  });
});
