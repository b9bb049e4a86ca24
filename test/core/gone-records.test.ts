import { describe, expect, it } from 'vitest';
import { booleanCell, describeCell, textCell } from '../../src/sheet/port/cell.ts';
import { addRecord, journalOf, leadKey, recordOf, removeRecord, removeRow, rowOf } from '../support/world.ts';
import { cycle, pull, refuse, settle, worldWithLeads } from '../support/world-daemon.ts';
import { expectNoWrites, sheetIds } from '../support/world-view.ts';

const acme = leadKey(1);
const three = ['Acme', 'Beta', 'Gamma'];

describe('a record that is gone from the CRM', () => {
  it('S4: keeps its row until its absence is proven', async () => {
    const world = await worldWithLeads(three);
    removeRecord(world, acme);
    await pull(world);
    expectNoWrites(await cycle(world));
  });

  it('fault 23: takes its unchanged row with it', async () => {
    const world = await worldWithLeads(three);
    removeRecord(world, acme);
    await settle(world);
    expect(sheetIds(world)).toEqual(['2', '3']);
    expect([...world.agreements.keys()]).toEqual(['lead-2', 'lead-3']);
    expect(journalOf(world).at(-1)).toMatchObject({
      kind: 'delete',
      side: 'table',
      before: expect.objectContaining({ title: 'Acme' }),
      cause: 'deleted in the CRM',
    });
  });

  it('takes its row with it where a table has put a checkbox there, unless somebody has ticked it', async () => {
    const world = await worldWithLeads(three);
    world.boxedFields.add('custom.is_vip');
    for (const { cells, id } of world.sheet.lead)
      cells['custom.is_vip'] = booleanCell(describeCell(id) === '2');
    for (const id of [1, 2]) removeRecord(world, leadKey(id));
    for (const _sweep of [1, 2]) await pull(world);
    await settle(world);
    expect(sheetIds(world)).toEqual(['2', '3']);
  });

  it('S1: takes its row with it where somebody typed into a column that only shows, and the history keeps that', async () => {
    const world = await worldWithLeads(three, { columns: { 'about.url': { direction: 'toTable' } } });
    rowOf(world, acme).cells['about.url'] = textCell('typed.example');
    removeRecord(world, acme);
    await pull(world);
    await pull(world);
    await settle(world);
    expect(sheetIds(world)).toEqual(['2', '3']);
    expect(journalOf(world).at(-1)).toMatchObject({ kind: 'delete', lost: { 'about.url': 'typed.example' } });
  });

  it('takes the row with it that it has just got, also where nobody answered that write', async () => {
    const world = await worldWithLeads(three);
    const added = leadKey(addRecord(world, 'lead', { title: 'Delta' }));
    await pull(world);
    await cycle(world, 'unanswered');
    expect(sheetIds(world)).toEqual(['1', '2', '3', added.id]);
    removeRecord(world, added);
    await pull(world);
    await pull(world);
    await settle(world);
    expect(sheetIds(world)).toEqual(['1', '2', '3']);
  });

  it('S4: leaves a row that was edited, and says what to do', async () => {
    const world = await worldWithLeads(three);
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    removeRecord(world, acme);
    // The record is proven gone before the edit rested.
    await pull(world);
    await pull(world);
    const plan = await settle(world);
    expect(plan.holds).toMatchObject([{ id: '1', position: 1 }]);
    expect(describeCell(rowOf(world, acme).sync)).toMatch(
      /^Held: The record was deleted in the CRM, but this row was edited/,
    );
  });

  it('that was edited is created again when a person clears its ID', async () => {
    const world = await worldWithLeads(three);
    const row = rowOf(world, acme);
    row.cells['title'] = textCell('Acme GmbH');
    removeRecord(world, acme);
    await pull(world);
    await pull(world);
    await settle(world);
    row.id = { kind: 'empty' };
    await settle(world);
    expect([...world.crm.values()].map(({ fields }) => fields['title']).toSorted()).toEqual([
      'Acme GmbH',
      'Beta',
      'Gamma',
    ]);
  });

  it('whose row somebody brings back once it went to the trash is not said to have been edited, and is the same again once it is restored', async () => {
    const world = await worldWithLeads(three, { policy: { vanishedRows: 'trash' } });
    const [record, row] = [recordOf(world, acme), rowOf(world, acme)];
    removeRow(world, acme);
    await settle(world);
    expect(world.crm.has('lead-1')).toBe(false);
    world.sheet.lead.push(row);
    await settle(world);
    expect(describeCell(row.sync)).toBe(
      'Held: This row came back, but its record was deleted in the CRM. Restore it there, clear the ID to create it anew without what belonged to it, or delete the row.',
    );
    world.crm.set('lead-1', record);
    expect((await settle(world)).holds).toEqual([]);
    expect(describeCell(row.sync)).toMatch(/^Synced/);
  });

  it('that comes back gets its row again', async () => {
    const world = await worldWithLeads(three);
    const record = recordOf(world, acme);
    removeRecord(world, acme);
    await settle(world);
    world.crm.set('lead-1', record);
    await settle(world);
    expect(sheetIds(world).toSorted()).toEqual(['1', '2', '3']);
  });

  it('S1: gets the edit that the CRM refused meanwhile once somebody restores it', async () => {
    const world = await worldWithLeads(three);
    const record = recordOf(world, acme);
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    await cycle(world);
    await cycle(world);
    removeRecord(world, acme);
    const message = 'The CRM does not have lead-1 any more.';
    refuse(world, { state: 'refused', error: { code: 'CRM_NOT_FOUND', message } });
    await settle(world);
    world.crm.set('lead-1', record);
    expect((await settle(world)).refusals).toEqual([]);
    expect(recordOf(world, acme).fields['title']).toBe('Acme GmbH');
  });
});
