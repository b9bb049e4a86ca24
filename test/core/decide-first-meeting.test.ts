import { describe, expect, it } from 'vitest';
import { recordKeyText } from '../../src/core/record.ts';
import { emptyAgreement } from '../../src/core/state.ts';
import { numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { setRule } from '../support/ruled-tab.ts';
import { addRecord, addRow, createWorld, restart, type World } from '../support/world.ts';
import { cycle, pull, settle, worldWithLeads } from '../support/world-daemon.ts';
import { scopes, titles } from '../support/world-view.ts';

/** A CRM with leads and a tab in which somebody wrote two of them down long ago. */
function filledWorld(): World {
  const world = createWorld();
  for (const title of ['Acme', 'Bolt', 'Cup']) addRecord(world, 'lead', { title });
  addRow(world, 'lead', { title: textCell('Acme') });
  addRow(world, 'lead', { title: textCell('Bolt') });
  return world;
}

describe('a tab with rows without IDs, at the first meeting', () => {
  it('S5: is left alone on both sides, with the way on in the reason', async () => {
    const world = filledWorld();
    const plan = await settle(world);
    expect(scopes(plan)).toEqual(['brake:lead:first']);
    expect(plan.brakes[0]?.reason).toMatch(/^2 rows without an ID stand in “Leads”.*init --match-by/);
    expect([plan.table, world.outbox.size, world.sheet.lead.length]).toEqual([[], 0, 2]);
    expect(titles(world)).toEqual(['Acme', 'Bolt', 'Cup']);
  });

  it('is left alone also before the CRM was read', async () => {
    const world = filledWorld();
    await cycle(world);
    await cycle(world);
    expect(scopes(await cycle(world))).toEqual(['brake:lead:first']);
    expect(world.outbox.size).toBe(0);
  });

  it('makes its rows new records once a person says that they are', async () => {
    const world = filledWorld();
    await settle(world);
    world.decisions.set('brake:lead:first', 'approve');
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Bolt', 'Cup', 'Acme', 'Bolt']);
    expect(world.sheet.lead).toHaveLength(5);
    expect(world.decisions.size).toBe(0);
  });

  it('is left alone also where its rule keeps all records of the CRM out', async () => {
    const world = filledWorld();
    setRule(world, { status: 'lost' });
    await settle(world);
    restart(world);
    expect(scopes(await settle(world))).toEqual(['brake:lead:first']);
    world.decisions.set('brake:lead:first', 'approve');
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Bolt', 'Cup', 'Acme', 'Bolt']);
  });

  it('is kept the same once every row has the ID of its record', async () => {
    const world = filledWorld();
    await settle(world);
    world.sheet.lead.forEach((row, index) => {
      row.id = numberCell(index + 1);
    });
    expect(scopes(await settle(world))).toEqual(['brake:lead:rebase']);
    world.decisions.set('brake:lead:rebase', 'approve');
    const plan = await settle(world);
    expect([plan.brakes, titles(world), world.sheet.lead.length]).toEqual([[], ['Acme', 'Bolt', 'Cup'], 3]);
  });
});

describe('rows without IDs are new records', () => {
  it('where the CRM has none at all', async () => {
    const world = createWorld();
    await pull(world);
    addRow(world, 'lead', { title: textCell('Acme') });
    await settle(world);
    expect(titles(world)).toEqual(['Acme']);
  });

  it('where the rule of the tab keeps all records of the CRM out', async () => {
    const world = createWorld();
    addRecord(world, 'lead', { title: 'Acme' });
    setRule(world, { status: 'lost' });
    await settle(world);
    restart(world);
    addRow(world, 'lead', { title: textCell('Bolt') });
    expect(scopes(await settle(world))).toEqual([]);
    expect(titles(world)).toEqual(['Acme', 'Bolt']);
  });

  it('also while the only record is one that was just made from a row, and of which the CRM has told nothing yet', async () => {
    const world = await worldWithLeads(['Acme']);
    const add = (stage: string) =>
      addRow(world, 'opportunity', { lead_id: textCell('Acme'), stage_id: textCell(stage) });
    add('Won');
    const slip = add('Wno');
    for (const _cycle of [1, 2, 3]) await cycle(world);
    const [name, item] = [...world.outbox].at(-1) ?? [];
    if (!name || !item) throw new Error('No row was claimed.');
    world.outbox.set(name, { ...item, state: 'sending', sentAt: world.clock.now });
    addRecord(world, 'opportunity', item.fields);
    await pull(world);
    expect(scopes(await cycle(world))).toEqual([]);
    const made = [...world.records.values()].at(-1)?.key;
    if (!made) throw new Error('Nothing was made.');
    world.outbox.set(name, { ...item, state: 'done', recordId: made.id });
    world.agreements.set(recordKeyText(made), emptyAgreement(made, world.clock.now));
    expect(scopes(await cycle(world))).toEqual([]);
    slip.cells['stage_id'] = textCell('Won');
    await settle(world);
    expect([...world.crm.keys()].filter((text) => text.startsWith('opportunity'))).toHaveLength(2);
  });

  it('where records have rows already', async () => {
    const world = await worldWithLeads(['Acme']);
    addRow(world, 'lead', { title: textCell('Bolt') });
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Bolt']);
  });
});
