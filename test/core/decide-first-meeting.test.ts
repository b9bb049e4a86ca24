import { describe, expect, it } from 'vitest';
import { recordKeyText } from '../../src/core/record.ts';
import { emptyAgreement } from '../../src/core/state.ts';
import { numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { addRecord, addRow, createWorld, type World } from '../support/world.ts';
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
  it('S5: is left alone on both sides, with the way on in the reason', () => {
    const world = filledWorld();
    const plan = settle(world);
    expect(scopes(plan)).toEqual(['brake:lead:first']);
    expect(plan.brakes[0]?.reason).toMatch(/^2 rows without an ID stand in “Leads”.*init --match-by/);
    expect([plan.table, world.outbox.size, world.sheet.lead.length]).toEqual([[], 0, 2]);
    expect(titles(world)).toEqual(['Acme', 'Bolt', 'Cup']);
  });

  it('is left alone also before the CRM was read', () => {
    const world = filledWorld();
    cycle(world);
    cycle(world);
    expect(scopes(cycle(world))).toEqual(['brake:lead:first']);
    expect(world.outbox.size).toBe(0);
  });

  it('makes its rows new records once a person says that they are', () => {
    const world = filledWorld();
    settle(world);
    world.decisions.set('brake:lead:first', 'approve');
    settle(world);
    expect(titles(world)).toEqual(['Acme', 'Bolt', 'Cup', 'Acme', 'Bolt']);
    expect(world.sheet.lead).toHaveLength(5);
    expect(world.decisions.size).toBe(0);
  });

  it('is kept the same once every row has the ID of its record', () => {
    const world = filledWorld();
    settle(world);
    world.sheet.lead.forEach((row, index) => {
      row.id = numberCell(index + 1);
    });
    const plan = settle(world);
    expect([plan.brakes, titles(world), world.sheet.lead.length]).toEqual([[], ['Acme', 'Bolt', 'Cup'], 3]);
  });
});

describe('rows without IDs are new records', () => {
  it('where the CRM has none at all', () => {
    const world = createWorld();
    pull(world);
    addRow(world, 'lead', { title: textCell('Acme') });
    settle(world);
    expect(titles(world)).toEqual(['Acme']);
  });

  it('also while the only record is one that was just made from a row, and of which the CRM has told nothing yet', () => {
    const world = worldWithLeads(['Acme']);
    const add = (stage: string) =>
      addRow(world, 'opportunity', { lead_id: textCell('Acme'), stage_id: textCell(stage) });
    add('Won');
    const slip = add('Wno');
    for (const _cycle of [1, 2, 3]) cycle(world);
    const [name, item] = [...world.outbox].at(-1) ?? [];
    if (!name || !item) throw new Error('No row was claimed.');
    world.outbox.set(name, { ...item, state: 'sending', sentAt: world.now });
    addRecord(world, 'opportunity', item.fields);
    pull(world);
    expect(scopes(cycle(world))).toEqual([]);
    const made = [...world.records.values()].at(-1)?.key;
    if (!made) throw new Error('Nothing was made.');
    world.outbox.set(name, { ...item, state: 'done', recordId: made.id });
    world.agreements.set(recordKeyText(made), emptyAgreement(made, world.now));
    expect(scopes(cycle(world))).toEqual([]);
    slip.cells['stage_id'] = textCell('Won');
    settle(world);
    expect([...world.crm.keys()].filter((text) => text.startsWith('opportunity'))).toHaveLength(2);
  });

  it('where records have rows already', () => {
    const world = worldWithLeads(['Acme']);
    addRow(world, 'lead', { title: textCell('Bolt') });
    settle(world);
    expect(titles(world)).toEqual(['Acme', 'Bolt']);
  });
});
