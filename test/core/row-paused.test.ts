import { describe, expect, it } from 'vitest';
import { waitingStep } from '../../src/core/outbox.ts';
import { recordKeyText } from '../../src/core/record.ts';
import type { OutboxItem } from '../../src/core/state.ts';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRow,
  changeRecord,
  journalOf,
  leadKey,
  recordOf,
  removeRecord,
  rowOf,
  type SheetRow,
  type World,
} from '../support/world.ts';
import { cycle, lagMs, pull, push, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf } from '../support/world-view.ts';

const acme = leadKey(1);
const paused = 'Held: paused by its cell in “Pause”. Untick or clear that to go on.';
const titleOf = (row: SheetRow) => row.cells['title'] ?? emptyCell;

/** A world at rest whose first row is ticked. */
async function worldWithPausedRow() {
  const world = await worldWithLeads(['Acme', 'Beta']);
  const row = rowOf(world, acme);
  row.isPaused = true;
  return { world, row };
}

const crmTitle = (world: World) => recordOf(world, acme).fields['title'];

/** What somebody ordered with `undo` waits to be sent. */
function takeBack(world: World, parts: Pick<OutboxItem, 'kind' | 'fields' | 'base'>): void {
  const step = waitingStep({ now: world.clock.now, run: 'run-undo' }, acme, parts);
  world.outbox.set(recordKeyText(acme), { ...step, isUndo: true });
}

describe('a paused row', () => {
  it('is neither taken from nor written to, and says so', async () => {
    const { world, row } = await worldWithPausedRow();
    row.cells['title'] = textCell('Acme GmbH');
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    const plan = await settle(world);
    expect([plan.holds, plan.conflicts, plan.refusals, plan.restlessRows]).toEqual([[], [], [], 0]);
    expect([syncOf(row), row.cells['about.url'] ?? emptyCell]).toEqual([paused, emptyCell]);
    expect(recordOf(world, acme).fields['title']).toBe('Acme');
    expect(isQuiet(await settle(world))).toBe(true);
  });

  it('goes on by itself once it is unticked, with what both sides did meanwhile', async () => {
    const { world, row } = await worldWithPausedRow();
    row.cells['title'] = textCell('Acme GmbH');
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    await settle(world);
    delete row.isPaused;
    await settle(world);
    expect(recordOf(world, acme).fields['title']).toBe('Acme GmbH');
    expect([row.cells['about.url'], syncOf(row)]).toEqual([
      textCell('https://acme.example'),
      expect.stringMatching(/^Synced /),
    ]);
  });

  it('takes back what waits to be sent', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    row.cells['title'] = textCell('Acme GmbH');
    await cycle(world);
    await cycle(world);
    row.isPaused = true;
    await cycle(world);
    await push(world);
    expect(recordOf(world, acme).fields['title']).toBe('Acme');
  });

  it('lets the CRM have what a person takes back, and follows once it is unticked', async () => {
    const { world, row } = await worldWithPausedRow();
    takeBack(world, { kind: 'update', fields: { title: 'Former' }, base: { title: 'Acme' } });
    await cycle(world);
    await push(world);
    await settle(world);
    expect([crmTitle(world), titleOf(row), syncOf(row)]).toEqual(['Former', textCell('Acme'), paused]);
    delete row.isPaused;
    await settle(world);
    expect([crmTitle(world), titleOf(row)]).toEqual(['Former', textCell('Former')]);
  });

  it('S1: keeps what is typed into it after something of it was taken back', async () => {
    const { world, row } = await worldWithPausedRow();
    takeBack(world, { kind: 'update', fields: { title: 'Former' }, base: { title: 'Acme' } });
    row.cells['title'] = textCell('Typed');
    await settle(world);
    expect(titleOf(row)).toEqual(textCell('Typed'));
    delete row.isPaused;
    await settle(world);
    expect([crmTitle(world), titleOf(row)]).toEqual(['Former', textCell('Former')]);
    expect(journalOf(world).map(({ lost }) => lost)).toContainEqual({ title: 'Typed' });
  });

  it('stands while its record is taken back, and goes once it is unticked', async () => {
    const { world, row } = await worldWithPausedRow();
    takeBack(world, { kind: 'delete', fields: {}, base: recordOf(world, acme).fields });
    await settle(world);
    expect([world.crm.size, world.sheet.lead.includes(row)]).toEqual([1, true]);
    delete row.isPaused;
    await settle(world);
    expect(world.sheet.lead).not.toContain(row);
  });

  it('keeps the row of a record that is gone until it is unticked', async () => {
    const { world, row } = await worldWithPausedRow();
    removeRecord(world, acme);
    await settle(world);
    await settle(world);
    expect(world.sheet.lead).toContain(row);
    delete row.isPaused;
    await settle(world);
    expect(world.sheet.lead).not.toContain(row);
  });

  it('does not become a record', async () => {
    const { world } = await worldWithPausedRow();
    const row = addRow(world, 'lead', { title: textCell('New') });
    row.isPaused = true;
    await settle(world);
    expect([syncOf(row), row.id, world.crm.size]).toEqual([paused, emptyCell, 2]);
    delete row.isPaused;
    await settle(world);
    expect(world.crm.size).toBe(3);
  });

  it('does not get its ID back before it is unticked, and its record has not vanished', async () => {
    const { world, row } = await worldWithPausedRow();
    row.id = emptyCell;
    expect((await settle(world)).holds).toEqual([]);
    expect([syncOf(row), row.id]).toEqual([paused, emptyCell]);
    delete row.isPaused;
    await settle(world);
    expect(describeCell(row.id)).toBe('1');
  });

  it('S5: is no edit for the brakes', async () => {
    const world = await worldWithLeads(Array.from({ length: 20 }, (_, index) => `Lead ${index + 1}`));
    const titles = world.sheet.lead.map(titleOf).toReversed();
    for (const [index, row] of world.sheet.lead.entries()) {
      row.cells['title'] = titles[index] ?? emptyCell;
      row.isPaused = true;
    }
    expect((await settle(world)).brakes).toEqual([]);
  });
});

describe('a field that the CRM passes over', () => {
  /** The CRM shows the title that it had before ours. */
  async function passOver(world: World, row: SheetRow): Promise<void> {
    changeRecord(world, acme, { title: 'Acme' });
    world.clock.now += lagMs;
    await pull(world);
    await cycle(world);
    expect(titleOf(row)).toEqual(textCell('Acme'));
    expect(syncOf(row)).toMatch(
      /^Changed by the CRM: Title was “Acme GmbH”, which it did not keep\. Synced [\d: -]+$/,
    );
  }

  it('shows its old value again, and the Sync cell says what was not kept', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    row.cells['title'] = textCell('Acme GmbH');
    await cycle(world);
    await cycle(world);
    await push(world);
    await passOver(world, row);
    expect(isQuiet(await settle(world))).toBe(true);
    changeRecord(world, acme, { title: 'Acme AG' });
    await settle(world);
    expect(syncOf(row)).toMatch(/^Synced [\d: -]+$/);
  });

  it('says so also where another field of the record was sent right after it', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    for (const [field, text] of [
      ['title', 'Acme GmbH'],
      ['status_name', 'In talks'],
    ] as const) {
      row.cells[field] = textCell(text);
      await cycle(world);
      await cycle(world);
      await push(world);
    }
    await passOver(world, row);
  });
});
