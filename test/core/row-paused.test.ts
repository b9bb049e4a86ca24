import { describe, expect, it } from 'vitest';
import { describeCell, emptyCell, textCell } from '../../src/core/cell.ts';
import { isQuiet } from '../../src/core/decide/plan.ts';
import {
  addRow,
  changeRecord,
  leadKey,
  recordOf,
  removeRecord,
  rowOf,
  type SheetRow,
} from '../support/world.ts';
import { cycle, pull, push, settle, worldWithLeads } from '../support/world-daemon.ts';

const acme = leadKey(1);
const paused = 'Held: paused by the checkbox in “Pause”. Untick it to go on.';
const syncOf = (row: SheetRow) => describeCell(row.sync);
const titleOf = (row: SheetRow) => row.cells['title'] ?? emptyCell;

/** A world at rest whose first row is ticked. */
function worldWithPausedRow() {
  const world = worldWithLeads(['Acme', 'Beta']);
  const row = rowOf(world, acme);
  row.isPaused = true;
  return { world, row };
}

describe('a paused row', () => {
  it('is neither taken from nor written to, and says so', () => {
    const { world, row } = worldWithPausedRow();
    row.cells['title'] = textCell('Acme GmbH');
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    const plan = settle(world);
    expect([plan.holds, plan.conflicts, plan.refusals, plan.restlessRows]).toEqual([[], [], [], 0]);
    expect([syncOf(row), row.cells['about.url'] ?? emptyCell]).toEqual([paused, emptyCell]);
    expect(recordOf(world, acme).fields['title']).toBe('Acme');
    expect(isQuiet(settle(world))).toBe(true);
  });

  it('goes on by itself once it is unticked, with what both sides did meanwhile', () => {
    const { world, row } = worldWithPausedRow();
    row.cells['title'] = textCell('Acme GmbH');
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    settle(world);
    delete row.isPaused;
    settle(world);
    expect(recordOf(world, acme).fields['title']).toBe('Acme GmbH');
    expect([row.cells['about.url'], syncOf(row)]).toEqual([
      textCell('https://acme.example'),
      expect.stringMatching(/^Synced /),
    ]);
  });

  it('takes back what waits to be sent', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    row.cells['title'] = textCell('Acme GmbH');
    cycle(world);
    cycle(world);
    row.isPaused = true;
    cycle(world);
    push(world);
    expect(recordOf(world, acme).fields['title']).toBe('Acme');
  });

  it('keeps the row of a record that is gone until it is unticked', () => {
    const { world, row } = worldWithPausedRow();
    removeRecord(world, acme);
    settle(world);
    settle(world);
    expect(world.sheet.lead).toContain(row);
    delete row.isPaused;
    settle(world);
    expect(world.sheet.lead).not.toContain(row);
  });

  it('does not become a record', () => {
    const { world } = worldWithPausedRow();
    const row = addRow(world, 'lead', { title: textCell('New') });
    row.isPaused = true;
    settle(world);
    expect([syncOf(row), row.id, world.crm.size]).toEqual([paused, emptyCell, 2]);
    delete row.isPaused;
    settle(world);
    expect(world.crm.size).toBe(3);
  });

  it('does not get its ID back before it is unticked, and its record has not vanished', () => {
    const { world, row } = worldWithPausedRow();
    row.id = emptyCell;
    expect(settle(world).holds).toEqual([]);
    expect([syncOf(row), row.id]).toEqual([paused, emptyCell]);
    delete row.isPaused;
    settle(world);
    expect(describeCell(row.id)).toBe('1');
  });

  it('S5: is no edit for the brakes', () => {
    const world = worldWithLeads(Array.from({ length: 20 }, (_, index) => `Lead ${index + 1}`));
    const titles = world.sheet.lead.map(titleOf).toReversed();
    for (const [index, row] of world.sheet.lead.entries()) {
      row.cells['title'] = titles[index] ?? emptyCell;
      row.isPaused = true;
    }
    expect(settle(world).brakes).toEqual([]);
  });
});

describe('a field that the CRM passes over', () => {
  it('shows its old value again, and the Sync cell says what was not kept', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    row.cells['title'] = textCell('Acme GmbH');
    cycle(world);
    cycle(world);
    push(world);
    changeRecord(world, acme, { title: 'Acme' });
    pull(world);
    cycle(world);
    expect(titleOf(row)).toEqual(textCell('Acme'));
    expect(syncOf(row)).toMatch(/^Synced .+\. Title: the CRM did not keep “Acme GmbH”$/);
    expect(isQuiet(settle(world))).toBe(true);
    changeRecord(world, acme, { title: 'Acme AG' });
    settle(world);
    expect(syncOf(row)).toMatch(/^Synced [\d: -]+$/);
  });
});
