import { describe, expect, it } from 'vitest';
import { nextNotice, tellChanged } from '../../src/core/notice.ts';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { changeRecord, leadKey, rowOf, type World } from '../support/world.ts';
import { cycle, pull, push, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf } from '../support/world-view.ts';

const acme = leadKey(1);
const dayMs = 24 * 60 * 60 * 1_000;
const says = (world: World) => syncOf(rowOf(world, acme));

/** Both sides change the title, and the CRM's stays. */
async function loseTitle(world: World, typed = 'Sheet says A') {
  rowOf(world, acme).cells['title'] = textCell(typed);
  changeRecord(world, acme, { title: 'CRM says B' });
  await pull(world);
}

describe('the Sync cell of a row whose value lost to the CRM', () => {
  it('says so before the date for a day, and behind it from then on', async () => {
    const world = await worldWithLeads(['Acme']);
    await loseTitle(world);
    await settle(world);
    expect(says(world)).toMatch(/^Changed by the CRM: Title was “Sheet says A”\. Synced 2026-11-21 00:0\d$/);
    const date = says(world).slice(-16);
    world.clock.now += dayMs - 60_000;
    await settle(world);
    expect(says(world)).toMatch(/^Changed by the CRM: /);
    world.clock.now += dayMs;
    await settle(world);
    expect(says(world)).toBe(`Synced ${date}. Changed by the CRM: Title was “Sheet says A”`);
    expect(isQuiet(await cycle(world))).toBe(true);
  });

  it('says so also where another cell of the row was edited at the same time, and is sent', async () => {
    const world = await worldWithLeads(['Acme']);
    await loseTitle(world);
    rowOf(world, acme).cells['about.url'] = textCell('https://acme.example');
    await cycle(world);
    await cycle(world);
    await push(world);
    await settle(world);
    expect(says(world)).toMatch(/^Changed by the CRM: Title was “Sheet says A”\. Synced /);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    expect(says(world)).toMatch(/^Changed by the CRM: Title was “Sheet says A”\. Synced /);
  });

  it('says so behind what is more pressing, which may last for longer than a day', async () => {
    const world = await worldWithLeads(['Acme']);
    await loseTitle(world);
    rowOf(world, acme).cells['about.url'] = textCell('=A1');
    await settle(world);
    const lost = 'Changed by the CRM: Title was “Sheet says A”';
    expect(says(world)).toMatch(/^Error: Website holds a formula\./);
    expect(says(world).endsWith(`in the CRM. ${lost}`)).toBe(true);
    expect(isQuiet(await cycle(world))).toBe(true);
    world.clock.now += dayMs;
    await settle(world);
    expect(says(world)).toMatch(/in the CRM\.$/);
    rowOf(world, acme).cells['about.url'] = emptyCell;
    await settle(world);
    expect(says(world)).toMatch(/^Synced [\d: -]+\. Changed by the CRM: /);
  });

  it('says it no longer once somebody has typed that value again, or the CRM has another one', async () => {
    const world = await worldWithLeads(['Acme']);
    await loseTitle(world);
    await settle(world);
    rowOf(world, acme).cells['title'] = textCell('Sheet says A');
    await settle(world);
    expect(says(world)).toMatch(/^Synced [\d: -]+$/);
    await loseTitle(world);
    await settle(world);
    changeRecord(world, acme, { title: 'CRM says C' });
    await settle(world);
    expect(says(world)).toMatch(/^Synced [\d: -]+$/);
  });

  it('names every field that lost, also one that was emptied and one that lost before', async () => {
    const world = await worldWithLeads(['Acme']);
    changeRecord(world, acme, { 'about.url': 'https://a.example', status_name: 'new' });
    await settle(world);
    await loseTitle(world);
    await settle(world);
    const { cells } = rowOf(world, acme);
    cells['about.url'] = emptyCell;
    cells['status_name'] = textCell('In talks');
    changeRecord(world, acme, { 'about.url': 'https://b.example', status_name: 'lost' });
    await settle(world);
    expect(says(world)).toMatch(
      /^Changed by the CRM: Status was “In talks”, Website was \(empty\)\. Changed by the CRM: Title was “Sheet says A”\. Synced /,
    );
  });

  it('shows the beginning of a long value, and the date all the same', async () => {
    const world = await worldWithLeads(['Acme']);
    const typed = 'x'.repeat(190);
    await loseTitle(world, typed);
    await settle(world);
    expect(says(world)).toMatch(/^Changed by the CRM: Title was “x{80}…”\. Synced 2026-11-21 00:0\d$/);
    const fields = Array.from({ length: 40 }, (_, index) => ({
      field: `custom.${index}`,
      words: `Field ${index} was “${'x'.repeat(80)}…”`,
    }));
    const { notice } = nextNotice(
      { notice: '' },
      { fields: [], notice: tellChanged(fields), at: world.clock.now },
    );
    expect(notice).toMatch(/ and 35 more$/);
  });

  it('of an edit that the CRM did not keep says that as well', async () => {
    const world = await worldWithLeads(['Acme']);
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    await cycle(world);
    await cycle(world);
    await push(world);
    changeRecord(world, acme, { title: 'Acme' });
    await settle(world);
    expect(says(world)).toMatch(
      /^Changed by the CRM: Title was “Acme GmbH”, which it did not keep\. Synced /,
    );
  });

  it('is at rest with what an earlier version noted there', async () => {
    const world = await worldWithLeads(['Acme']);
    const notice = "Title: the CRM's value was kept, the sheet had “Acme AG”";
    const agreement = world.agreements.get('lead-1')!;
    world.agreements.set('lead-1', { ...agreement, notice });
    rowOf(world, acme).sync = textCell(`${describeCell(rowOf(world, acme).sync)}. ${notice}`);
    expect((await cycle(world)).table).toEqual([]);
  });
});

describe('the Sync cell of a row whose value won over the CRM’s', () => {
  it('says first what the CRM had', async () => {
    const world = await worldWithLeads(['Acme'], { conflict: 'table' });
    await loseTitle(world);
    await settle(world);
    expect(says(world)).toMatch(/^Replaced in the CRM: Title was “CRM says B”\. Synced /);
  });
});
