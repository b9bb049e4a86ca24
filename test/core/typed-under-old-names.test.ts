import { describe, expect, it } from 'vitest';
import type { RecordKey } from '../../src/core/record.ts';
import { type Cell, describeCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  both,
  pipelines,
  sentToCrm,
  settleUntouched,
  shownIn,
  tier,
  tiers,
  topicsIn,
  topicsOf,
  type,
  webAndSeo,
  worldWith,
} from '../support/names-world.ts';
import {
  addRecord,
  changeRecord,
  clearJournal,
  createWorld,
  leadKey,
  recordOf,
  restart,
  rowOf,
  type World,
  withCatalog,
} from '../support/world.ts';
import { cycle, push, settle } from '../support/world-daemon.ts';

/** The CRM called SEO “Search” since the row was written. */
const renamedSeo = async () =>
  withCatalog(
    await worldWith(topicsOf(webAndSeo), { 'custom.topics': both }),
    topicsOf({ ...webAndSeo, 2: 'Search' }),
  );

describe('what a person types into a cell whose names have changed', () => {
  it('is understood by the old name of an option, alone and in a list', async () => {
    const world = await renamedSeo();
    changeRecord(world, leadKey(1), { 'custom.topics': ['Web design'] });
    await settle(world);
    await type(world, 'custom.topics', textCell('Web design, SEO'));
    expect(topicsIn(world)).toEqual(['Web design', 'Search']);
    expect(shownIn(world, 'custom.topics')).toBe('Web design, Search');
    await type(world, 'custom.topics', textCell('seo'));
    expect(topicsIn(world)).toEqual(['Search']);
  });

  it('is understood by the old name of the option of a choice', async () => {
    const world = withCatalog(
      await worldWith(tier(tiers), { 'custom.tier': 'Silver' }),
      tier({ ...tiers, 1: 'Platinum' }),
    );
    await type(world, 'custom.tier', textCell('Gold'));
    expect(recordOf(world, leadKey(1)).fields['custom.tier']).toBe('Platinum');
    expect(shownIn(world, 'custom.tier')).toBe('Platinum');
  });

  it('is asked about where two options were called so', async () => {
    const first = await worldWith(tier({ 1: 'Gold', 2: 'Silver' }), { 'custom.tier': 'Silver' });
    const second = withCatalog(first, tier({ 1: 'Platinum', 2: 'Silver', 3: 'Gold' }));
    const world = withCatalog(second, tier({ 1: 'Platinum', 2: 'Silver', 3: 'Copper' }));
    await type(world, 'custom.tier', textCell('Gold'));
    expect(describeCell(rowOf(world, leadKey(1)).sync)).toContain('“Gold” names several: Platinum, Copper.');
    expect(sentToCrm(world)).toEqual([]);
  });

  it('means the option that is called so now, where another one was called so before', async () => {
    const world = withCatalog(
      await worldWith(tier(tiers), { 'custom.tier': 'Gold' }),
      tier({ 1: 'Platinum', 2: 'Silver', 3: 'Gold' }),
    );
    changeRecord(world, leadKey(1), { 'custom.tier': 'Platinum' });
    await settleUntouched(world);
    expect(shownIn(world, 'custom.tier')).toBe('Platinum');
    await type(world, 'custom.tier', textCell('Gold'));
    expect(recordOf(world, leadKey(1)).fields['custom.tier']).toBe('Gold');
  });

  it('is not understood by the name of an option that was deleted', async () => {
    const world = withCatalog(
      await worldWith(topicsOf(webAndSeo), { 'custom.topics': ['Web design'] }),
      topicsOf({ 1: 'Web design', 3: 'Print, packaging' }),
    );
    await type(world, 'custom.topics', textCell('Web design, SEO'));
    expect(describeCell(rowOf(world, leadKey(1)).sync)).toContain('“SEO” is not known.');
  });

  it('S1: is an edit before the row follows the new names, and after', async () => {
    for (const isFollowing of [false, true]) {
      const world = await renamedSeo();
      if (isFollowing) await settle(world);
      await type(world, 'custom.topics', textCell('Web design'));
      expect(topicsIn(world)).toEqual(['Web design']);
      await type(world, 'custom.topics', textCell('Search'));
      expect(topicsIn(world)).toEqual(['Search']);
    }
  });

  it('S1: is an edit also where it is the name of one option, and the cell showed the names of two', async () => {
    const world = withCatalog(
      await worldWith(topicsOf({ 1: 'Print', 2: 'Packaging' }), { 'custom.topics': ['Print', 'Packaging'] }),
      topicsOf({ 1: 'Print', 2: 'Packaging', 3: 'Print, packaging' }),
    );
    await settleUntouched(world);
    expect(shownIn(world, 'custom.topics')).toBe('Print\nPackaging');
    await type(world, 'custom.topics', textCell('Print, packaging'));
    expect(topicsIn(world)).toEqual(['Print, packaging']);
  });

  it('is asked about where it is the old name of the stage that the row shows, and the name of another one by now', async () => {
    const fields = { stage_id: 1, lead_id: 1 };
    const world = withCatalog(
      await worldWith(pipelines({ 1: 'Sales / New', 2: 'Sales / Won' }), fields, 'opportunity'),
      pipelines({ 1: 'Sales / Open', 2: 'Sales / Won', 3: 'Sales / New' }),
    );
    await settleUntouched(world);
    const deal: RecordKey = { entity: 'opportunity', id: '2' };
    expect(shownIn(world, 'stage_id', deal)).toBe('Sales / Open');
    await type(world, 'stage_id', textCell('Sales / New'), deal);
    expect(describeCell(rowOf(world, deal).sync)).toContain('“Sales / New” names several');
    expect(recordOf(world, deal).fields['stage_id']).toBe(1);
  });
});

describe('a name that a person typed', () => {
  const deal: RecordKey = { entity: 'opportunity', id: '3' };

  /** The lead of a deal was typed, and sent; the row shows it as it was typed. */
  async function worldWithTypedLead(typed: Cell): Promise<World> {
    const world = createWorld();
    addRecord(world, 'lead', { title: 'Acme' });
    addRecord(world, 'lead', { title: 'Beta' });
    addRecord(world, 'opportunity', { lead_id: 1, stage_id: 11 });
    await settle(world);
    rowOf(world, deal).cells['lead_id'] = typed;
    await cycle(world);
    await cycle(world);
    await push(world);
    expect(recordOf(world, deal).fields['lead_id']).toBe(2);
    expect(rowOf(world, deal).cells['lead_id']).toEqual(typed);
    clearJournal(world);
    return world;
  }

  it.each([
    ['another lead gets the same title', 1, 'Beta'],
    ['the lead gets another title', 2, 'Gamma'],
  ])('goes on meaning the same lead where %s before the row is written', async (_what, id, title) => {
    for (const isRestarted of [false, true]) {
      const world = await worldWithTypedLead(textCell('beta'));
      if (isRestarted) restart(world);
      changeRecord(world, leadKey(id), { title });
      await settleUntouched(world);
      expect(recordOf(world, deal).fields['lead_id']).toBe(2);
      expect(shownIn(world, 'lead_id', deal)).toBe(id === 2 ? 'Gamma (#2)' : 'Beta (#2)');
    }
  });

  it.each([['2.00'], ['200%'], ['1900-01-01']])(
    'as a number goes on meaning the same in a column that shows it as %s',
    async (shown) => {
      const world = await worldWithTypedLead(numberCell(2));
      rowOf(world, deal).cells['lead_id'] = { kind: 'number', number: 2, shown };
      await settleUntouched(world);
      expect(recordOf(world, deal).fields['lead_id']).toBe(2);
    },
  );
});

describe('a parent task that a person typed', () => {
  const call: RecordKey = { entity: 'task', id: '1' };
  const letter: RecordKey = { entity: 'task', id: '2' };
  const child: RecordKey = { entity: 'task', id: '3' };

  it.each([
    ['another task gets the same title', letter, 'Call', 'Call (#1)'],
    ['it gets another title', call, 'Visit', 'Visit (#1)'],
  ])(
    'by its title goes on meaning the same where %s before the row is written',
    async (_what, renamed, title, shown) => {
      const world = createWorld();
      for (const text of ['Call', 'Letter', 'Notes']) addRecord(world, 'task', { title: text });
      await settle(world);
      rowOf(world, child).cells['parent_task_id'] = textCell('call');
      await cycle(world);
      await cycle(world);
      await push(world);
      expect(recordOf(world, child).fields['parent_task_id']).toBe(1);
      clearJournal(world);
      restart(world);
      changeRecord(world, renamed, { title });
      await settleUntouched(world);
      expect(recordOf(world, child).fields['parent_task_id']).toBe(1);
      expect(rowOf(world, child).cells['parent_task_id']).toEqual(textCell(shown));
    },
  );
});

describe('a row whose names have changed', () => {
  it('is known by what it shows once its ID was wiped', async () => {
    const world = await worldWith(topicsOf(webAndSeo), { 'custom.topics': both });
    const later = { ...withCatalog(world, topicsOf({ 1: 'Web design', 3: 'Print, packaging' })) };
    rowOf(later, leadKey(1)).id = emptyCell;
    await settle(later);
    expect([later.crm.size, later.sheet.lead.length]).toEqual([1, 1]);
    await settleUntouched(later);
  });
});
