import { describe, expect, it } from 'vitest';
import { emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  bolt,
  boltTitle,
  cycles,
  gone,
  hit,
  hitNewWorld,
  hitWorld,
  mendedWorld,
  misplaced,
  over,
  scope,
  scopesOf,
  shown,
  suspect,
} from '../support/damages.ts';
import { addRow, recordOf, removeRow, rowOf } from '../support/world.ts';
import { cycle, decideWorld, settle, worldWithLeads } from '../support/world-daemon.ts';

describe('the answer Restore', () => {
  it('puts back what was there in the cells that still show what was written, and closes the question', async () => {
    const note = over(textCell('call'), textCell('do not call'));
    const cells = {
      ...hit.cells,
      'about.description': over(textCell('Of Acme'), textCell('Of Bolt')),
      Sync: over(textCell('Synced'), textCell('Held')),
    };
    const { world, row } = await hitWorld({}, { ...hit, cells, own: { Note: note } });
    row.cells['about.description'] = textCell('Typed since');
    row.sync = textCell('Synced');
    world.decisions.set(scope, 'restore');
    const plan = await decideWorld(world);
    expect(plan.table).toMatchObject([
      {
        write: { kind: 'set', position: 2, own: { Note: note } },
        closes: 'w1.0',
        journal: { kind: 'repair' },
      },
    ]);
    expect(plan.table[0]?.write).toMatchObject({
      cells: { title: textCell('Bolt') },
      sync: textCell('Held'),
    });
    expect(plan.table[0]?.write).not.toMatchObject({ cells: { 'about.description': expect.anything() } });
    expect([plan.suspects.drop, plan.settledDecisions]).toEqual([[], []]);
    await settle(world);
    expect([shown(row), [...world.suspects], [...world.decisions]]).toEqual([textCell('Bolt'), [], []]);
    expect(recordOf(world, bolt).fields).toMatchObject({ title: 'Bolt', 'about.description': 'Typed since' });
  });

  it('gives the row its ID back', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
    const row = rowOf(world, bolt);
    row.id = numberCell(7);
    row.cells['title'] = textCell('Acme');
    const cells = { ...hit.cells, ID: over(row.id, numberCell(2)) };
    suspect(world, { ...hit, cells });
    world.decisions.set(scope, 'restore');
    expect((await decideWorld(world)).table).toMatchObject([
      {
        write: { kind: 'set', idSeen: numberCell(7), id: numberCell(2), cells: { title: textCell('Bolt') } },
      },
    ]);
  });

  it('writes to none of several rows with the ID that was written, because one may have it by right', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
    rowOf(world, bolt).id = numberCell(1);
    suspect(world, { ...hit, cells: { ID: over(numberCell(1), numberCell(2)) } });
    world.decisions.set(scope, 'restore');
    const plan = await decideWorld(world);
    expect([plan.table.filter(({ closes }) => closes), plan.suspects.drop]).toEqual([[], ['w1.0']]);
  });

  it('writes to no row without an ID that is only like the one that was overwritten', async () => {
    const { world, row } = await hitWorld();
    row.id = emptyCell;
    world.decisions.set(scope, 'restore');
    const plan = await decideWorld(world);
    expect([plan.table.filter(({ closes }) => closes), plan.suspects.drop]).toEqual([[], ['w1.0']]);
  });

  it('puts it back in a row without an ID', async () => {
    const { world, row } = await hitNewWorld();
    await cycles(world);
    world.decisions.set('damage:lead:w1.0', 'restore');
    await cycle(world);
    expect([row.cells['title'], row.cells['about.url']]).toEqual([
      textCell('Dune'),
      textCell('https://dune.example'),
    ]);
  });

  it('puts it back in a paused row', async () => {
    const { world, row } = await hitWorld();
    row.isPaused = true;
    world.decisions.set(scope, 'restore');
    await cycle(world);
    expect(shown(row)).toEqual(textCell('Bolt'));
  });

  it('brings a deleted row back, with the cells of users', async () => {
    const own = { Note: over(emptyCell, textCell('do not call')) };
    const { world } = await hitWorld({}, { ...gone, own });
    removeRow(world, bolt);
    world.decisions.set(scope, 'restore');
    expect((await decideWorld(world)).table).toMatchObject([
      {
        write: { kind: 'append', id: numberCell(2), cells: { title: textCell('Bolt') }, own },
        closes: 'w1.0',
      },
    ]);
  });

  it('deletes a row that was added under the wrong columns', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt']);
    addRow(world, 'lead', {
      title: textCell('https://acme.example'),
      'about.url': textCell('Acme'),
    });
    suspect(world, misplaced);
    world.decisions.set('damage:lead:w1.0', 'restore');
    expect((await decideWorld(world)).table).toMatchObject([
      { write: { kind: 'delete', position: 3, idSeen: emptyCell }, closes: 'w1.0' },
    ]);
  });

  it('shows what its record has in a row that was added under the wrong columns and in which a user worked', async () => {
    const { world, row } = await mendedWorld();
    world.decisions.set('damage:lead:w1.0', 'restore');
    await settle(world);
    expect([shown(row), row.cells['about.url']]).toEqual([
      textCell('Bolt'),
      textCell('https://bolt.example'),
    ]);
    expect([boltTitle(world), world.suspects.size, world.outbox.size]).toEqual(['Bolt', 0, 0]);
  });

  it('waits while the column in which it would put something back is not read', async () => {
    const { world, row } = await hitWorld();
    world.hiddenFields.add('title');
    world.decisions.set(scope, 'restore');
    await cycles(world);
    expect([...world.suspects.keys()]).toEqual(['w1.0']);
    world.hiddenFields.delete('title');
    await settle(world);
    expect([shown(row), world.suspects.size]).toEqual([textCell('Bolt'), 0]);
  });

  it('ends the question at once where there is nothing left to put back', async () => {
    for (const damage of [hit, gone]) {
      const { world, row } = await hitWorld({}, damage);
      if (damage === hit) row.cells['title'] = textCell('Bolt');
      world.decisions.set(scope, 'restore');
      const plan = await decideWorld(world);
      expect([plan.suspects.drop, scopesOf(plan)]).toEqual([['w1.0'], []]);
    }
  });
});

describe('the answer Keep', () => {
  it('ends the question, and the row is decided as any other at once', async () => {
    const { world } = await hitWorld();
    await cycles(world);
    world.decisions.set(scope, 'keep');
    const plan = await decideWorld(world);
    expect([plan.suspects.drop, scopesOf(plan)]).toEqual([['w1.0'], []]);
    expect(plan.outbox.save).toMatchObject([{ key: bolt, fields: { title: 'Acme' } }]);
    await settle(world);
    expect([boltTitle(world), [...world.decisions]]).toEqual(['Acme', []]);
  });
});
