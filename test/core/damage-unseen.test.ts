import { describe, expect, it } from 'vitest';
import { booleanCell, chipCell, spilledCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  bolt,
  boltTitle,
  cycles,
  hitUnseen,
  hitWorld,
  over,
  scope,
  scopesOf,
  shown,
  suspect,
} from '../support/damages.ts';
import { addRow, rowOf } from '../support/world.ts';
import { claim } from '../support/world-creates.ts';
import { decideWorld, settle, worldWithLeads } from '../support/world-daemon.ts';

/** The row of Bolt as a write hit it that also has by right what was written. */
async function rightWorld() {
  const cells = { title: over(textCell('Bolt')) };
  const { world, row } = await hitWorld({}, { ...hitUnseen, cells });
  row.cells['title'] = textCell('Bolt');
  return { world, row };
}

describe('a row that a write damaged while a filter hid it', () => {
  it('is asked about with what was written alone, and not taken from', async () => {
    const { world, row } = await hitWorld({}, hitUnseen);
    const plan = await cycles(world);
    expect(scopesOf(plan)).toEqual([scope]);
    expect(plan.holds[0]?.reason).toContain('“Acme”. Restore shows what the CRM has');
    expect([boltTitle(world), shown(row), world.outbox.size]).toEqual(['Bolt', textCell('Acme'), 0]);
  });

  it('is none where a side has by right what was written', async () => {
    const { world } = await rightWorld();
    const plan = await cycles(world);
    expect([world.suspects.size, plan.holds]).toEqual([0, []]);
  });

  it('S1: is none either where a new row of a user shows the same, and that becomes a record', async () => {
    const { world } = await rightWorld();
    const fresh = addRow(world, 'lead', { title: textCell('Bolt'), 'about.description': textCell('Mine') });
    await settle(world);
    expect([world.suspects.size, fresh.id.kind]).toEqual([0, 'number']);
  });

  it('is none where its box is not ticked, and nothing or a no is known', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt']);
    world.boxedFields.add('custom.is_vip');
    const row = rowOf(world, bolt);
    row.cells['custom.is_vip'] = booleanCell(false);
    await settle(world);
    suspect(world, { ...hitUnseen, cells: { 'custom.is_vip': over(booleanCell(false)) } });
    await cycles(world);
    expect(world.suspects.size).toBe(0);
  });

  it.each([chipCell, spilledCell])(
    'is none where something stands that replaced what was written: %o',
    async (cell) => {
      const cells = { 'about.description': over(textCell('Of Acme')) };
      const { world, row } = await hitWorld({}, { ...hitUnseen, cells });
      row.cells['title'] = textCell('Bolt');
      row.cells['about.description'] = cell;
      await cycles(world);
      expect([world.suspects.size, row.cells['about.description']]).toEqual([0, cell]);
    },
  );
});

describe('the answer Restore to it', () => {
  it('shows what the record has', async () => {
    const { world, row } = await hitWorld({}, hitUnseen);
    world.decisions.set(scope, 'restore');
    await settle(world);
    expect([shown(row), boltTitle(world)]).toEqual([textCell('Bolt'), 'Bolt']);
    expect([[...world.suspects], [...world.decisions]]).toEqual([[], []]);
  });

  it('S1: leaves a new row of a user that shows the same', async () => {
    const { world } = await hitWorld({}, hitUnseen);
    const fresh = addRow(world, 'lead', { title: textCell('Acme'), 'about.description': textCell('Mine') });
    world.decisions.set(scope, 'restore');
    await settle(world);
    expect([shown(fresh), fresh.cells['about.description']]).toEqual([textCell('Acme'), textCell('Mine')]);
  });

  it('S1: shows what is to be created from a row whose record is not there yet', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    await claim(world, row);
    row.cells['title'] = textCell('Acme');
    suspect(world, { ...hitUnseen, id: row.id });
    const { holds } = await decideWorld(world);
    world.decisions.set(holds[0]?.decision ?? '', 'restore');
    await settle(world);
    expect([shown(row), row.id.kind, world.suspects.size]).toEqual([textCell('Dune'), 'number', 0]);
  });
});
