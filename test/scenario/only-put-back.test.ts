import { describe, expect, it } from 'vitest';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  leaveOf,
  newLead,
  setRule,
  statusCell,
  titlesIn,
  waitToLeave,
  worldOfNewLeads,
} from '../support/ruled-tab.ts';
import {
  addRecord,
  addRow,
  cellFor,
  changeRecord,
  copyRow,
  createWorld,
  leadKey,
  recordOf,
  removeRow,
  rowOf,
} from '../support/world.ts';
import { pull, settle } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

const acme = leadKey(1);

describe('a row that a user puts back', () => {
  /** A world whose first row left, with a copy of it. */
  async function worldWithCopy() {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    const copy = structuredClone(rowOf(world, acme));
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual(['Beta']);
    return { world, copy };
  }

  it('is held, and not removed again', async () => {
    const { world, copy } = await worldWithCopy();
    world.sheet.lead.push(copy);
    const plan = await settle(world);
    await waitToLeave(world);
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual(['Beta', 'Acme']);
    expect(syncOf(rowOf(world, acme))).toMatch(
      /^Held: does not fit this tab: Status is “lost”\. It left, and was put back\./,
    );
    expect(plan.holds).toMatchObject([{ entity: 'lead', id: '1' }]);
  });

  it('takes part in everything else, and is no longer held once it fits', async () => {
    const { world, copy } = await worldWithCopy();
    world.sheet.lead.push(copy);
    await settle(world);
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    await settle(world);
    expect(recordOf(world, acme).fields['title']).toBe('Acme GmbH');
    expect(rowOf(world, acme).cells['about.url']).toEqual(textCell('https://acme.example'));
    expect(syncOf(rowOf(world, acme))).toMatch(/^Held: does not fit/);
    rowOf(world, acme).cells['status_name'] = statusCell(world, 'new');
    await settle(world);
    expect(syncOf(rowOf(world, acme))).toMatch(/^Synced /);
    expect(leaveOf(world, acme)).toBeUndefined();
  });

  it('may be deleted again, which means nothing', async () => {
    const { world, copy } = await worldWithCopy();
    world.sheet.lead.push(copy);
    await settle(world);
    removeRow(world, acme);
    const plan = await settle(world);
    expect([titles(world), plan.questions]).toEqual([['Acme', 'Beta'], []]);
  });

  it('makes no second record where it lacks its ID', async () => {
    const { world, copy } = await worldWithCopy();
    world.sheet.lead.push({ ...copy, id: emptyCell, sync: emptyCell });
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
    expect(titlesIn(world)).toEqual(['Beta', 'Acme']);
    expect(syncOf(rowOf(world, acme))).toMatch(/^Held: does not fit this tab/);
  });

  it('makes no second record where nothing but its Sync cell shows that it is not typed anew', async () => {
    const { world, copy } = await worldWithCopy();
    const cells = { ...copy.cells, created_at: emptyCell, 'about.url': textCell('https://acme.example') };
    world.sheet.lead.push({ ...copy, cells, id: emptyCell });
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it('may be its record where it lacks its ID and was edited, so that the record does not count as left out', async () => {
    const { world, copy } = await worldWithCopy();
    expect((await settle(world)).leftOut.lead).toBe(1);
    const cells = { ...copy.cells, status_name: statusCell(world, 'contacted') };
    const row = { ...copy, cells, id: emptyCell, sync: emptyCell };
    world.sheet.lead.push(row);
    const plan = await settle(world);
    expect(plan.leftOut.lead).toBe(0);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
    expect(syncOf(row)).toMatch(/looks like record 1, and may be its row/);
  });

  it('stays a copy where its original is there', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    copyRow(world, acme);
    await settle(world);
    await waitToLeave(world);
    await pull(world);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });
});

describe('a new row that is called like one that left', () => {
  it('becomes a record of its own', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    await waitToLeave(world);
    const row = addRow(world, 'lead', { title: textCell('Acme'), status_name: statusCell(world, 'new') });
    await settle(world);
    expect([syncOf(row), titles(world)]).toEqual([
      expect.stringMatching(/^Synced/),
      ['Acme', 'Beta', 'Acme'],
    ]);
  });

  it('does so among tasks, where another lead is meant', async () => {
    const world = createWorld();
    setRule(world, { status: 1 }, 'task');
    for (const title of ['Acme', 'Beta']) addRecord(world, 'lead', { title });
    const id = addRecord(world, 'task', { title: 'Follow up', lead_id: 1, status: 1 });
    await settle(world);
    changeRecord(world, { entity: 'task', id }, { status: 3 });
    await settle(world);
    await waitToLeave(world);
    expect(titlesIn(world, 'task')).toEqual([]);
    const status = cellFor(world, 'task', 'status', 1);
    addRow(world, 'task', { title: textCell('Follow up'), lead_id: textCell('Beta'), status });
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Follow up', 'Follow up']);
  });
});
