import { describe, expect, it } from 'vitest';
import { emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { watchMs } from '../../src/sheet/port/damage.ts';
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
import { addRow, changeRecord, copyRow, removeRecord, removeRow, rowOf } from '../support/world.ts';
import { creates } from '../support/world-creates.ts';
import { cycle, decideWorld, pull, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

describe('a write that could not be undone', () => {
  it('is asked about by record and header, with what was written and what was there', async () => {
    const { world } = await hitWorld(
      {},
      {
        ...hit,
        cells: { ...hit.cells, 'about.url': over(emptyCell, textCell('x')) },
        own: { Note: over(textCell('call'), textCell('do not call')) },
      },
    );
    const [question, ...others] = (await decideWorld(world)).questions;
    expect(others).toEqual([]);
    expect(question).toMatchObject({ scope, cells: { record: numberCell(2), title: textCell('Bolt') } });
    const what = JSON.stringify(question?.cells['what']);
    expect(what).toContain(
      'Title: “Acme” over “Bolt”; Website: nothing over “x”; Note: “call” over “do not call”',
    );
    expect(what).toContain('Choose Restore or Keep.');
  });

  it('is asked about once, although several rows may be the one', async () => {
    const { world } = await hitWorld();
    copyRow(world, bolt);
    const plan = await decideWorld(world);
    expect([scopesOf(plan), plan.holds.map(({ position }) => position)]).toEqual([[scope], [2, 4]]);
  });

  it('is asked about by its tab where it hit a row without an ID', async () => {
    const { world } = await hitNewWorld();
    expect(scopesOf(await decideWorld(world))).toEqual(['damage:lead:w1.0']);
  });

  it('is asked about also where no row of it is left', async () => {
    const { world } = await hitWorld({}, gone);
    removeRow(world, bolt);
    const plan = await decideWorld(world);
    expect(plan.holds).toMatchObject([{ id: '2', decision: scope }]);
    expect(plan.holds[0]?.reason).toContain('deleted by mistake, with Title: “Bolt”');
  });

  it('is over after two reads in a row that show nothing of it', async () => {
    const { world, row } = await hitWorld();
    row.cells['title'] = textCell('Bolt');
    const first = await cycle(world);
    expect([scopesOf(first), world.suspects.get('w1.0')?.clearReads]).toEqual([[scope], 1]);
    row.cells['title'] = textCell('Acme');
    await cycle(world);
    expect(world.suspects.get('w1.0')?.clearReads).toBe(0);
    row.cells['title'] = textCell('Bolt');
    await cycle(world);
    expect(scopesOf(await cycle(world))).toEqual([]);
    expect(world.suspects.size).toBe(0);
    await settle(world);
    expect(syncOf(row)).toContain('Synced');
  });

  it('is not over where its column, or what it did to a column of users, is not read', async () => {
    for (const own of [{}, { Note: over(textCell('call')) }]) {
      const { world, row } = await hitWorld({}, { ...hit, own });
      if ('Note' in own) row.cells['title'] = textCell('Bolt');
      else world.hiddenFields.add('title');
      expect(scopesOf(await cycles(world))).toEqual([scope]);
    }
  });

  it('is not over while its row is gone: a user may have cut it, to paste it elsewhere', async () => {
    const { world, row } = await hitWorld();
    removeRow(world, bolt);
    expect(scopesOf(await cycles(world))).toEqual([scope]);
    world.sheet.lead.push(row);
    expect([scopesOf(await cycles(world)), boltTitle(world)]).toEqual([[scope], 'Bolt']);
  });

  it('is over after two reads without its row where the Sync cell alone was damaged', async () => {
    const { world } = await hitWorld(
      {},
      { ...hit, cells: { Sync: over(textCell('Pending'), textCell('Synced')) } },
    );
    removeRow(world, bolt);
    expect(scopesOf(await cycles(world))).not.toContain(scope);
    expect([...world.suspects]).toEqual([]);
  });

  it('is over after two reads that show the deleted row again', async () => {
    const { world } = await hitWorld({}, gone);
    expect(scopesOf(await cycle(world))).toEqual([scope]);
    expect(scopesOf(await cycle(world))).toEqual([]);
  });

  it('is over after two reads without the row that was added', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt']);
    suspect(world, misplaced);
    expect(scopesOf(await cycle(world))).toEqual(['damage:lead:w1.0']);
    expect(scopesOf(await cycle(world))).toEqual([]);
  });

  it('S2: stays while a row that was added still shows something under a wrong column, whatever a user put right', async () => {
    const { world, row } = await mendedWorld();
    expect(scopesOf(await cycles(world))).toEqual(['damage:lead:w1.0']);
    expect(world.outbox.size).toBe(0);
    row.cells['about.url'] = textCell('https://bolt.example');
    expect(scopesOf(await cycles(world))).toEqual([]);
    expect([world.outbox.size, world.suspects.size]).toEqual([0, 0]);
  });
});

describe('a write that was undone', () => {
  it('is asked about where its value comes back as if a user had typed it, and until that is answered', async () => {
    const { world, row } = await hitWorld({ state: 'undone' });
    expect(scopesOf(await cycles(world))).toEqual([scope]);
    world.clock.now += watchMs;
    expect(scopesOf(await cycles(world))).toEqual([scope]);
    expect(boltTitle(world)).toBe('Bolt');
    world.decisions.set(scope, 'restore');
    await settle(world);
    expect([shown(row), boltTitle(world)]).toEqual([textCell('Bolt'), 'Bolt']);
  });

  it('is not asked about where its value is there by right', async () => {
    const { world } = await hitWorld({ state: 'undone' });
    changeRecord(world, bolt, { title: 'Acme' });
    await pull(world);
    expect(scopesOf(await cycles(world))).toEqual([]);
    expect(world.suspects.get('w1.0')?.state).toBe('undone');
  });

  it('is not asked about where the row shows something else', async () => {
    const { world, row } = await hitWorld({ state: 'undone' });
    row.cells['title'] = textCell('Bolt Ltd');
    await settle(world);
    expect(boltTitle(world)).toBe('Bolt Ltd');
  });

  it('is not asked about where a new row of a user shows the same as it did', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt']);
    addRow(world, 'lead', { title: textCell('Acme') });
    suspect(world, hit, { state: 'undone' });
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Bolt', 'Acme']);
  });

  it('is asked about where a row without an ID shows all of it again', async () => {
    const { world } = await hitNewWorld({ state: 'undone' });
    expect(scopesOf(await cycles(world))).toEqual(['damage:lead:w1.0']);
    expect(creates(world)).toEqual([]);
  });

  it('S3: makes no record of the row whose ID it took back while a copy has that, however long both stand there', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
    copyRow(world, bolt);
    const row = rowOf(world, bolt);
    row.id = emptyCell;
    suspect(world, { ...hit, id: emptyCell, cells: { ID: over(numberCell(2)) } }, { state: 'undone' });
    const isHeld = async () => {
      await settle(world);
      expect(syncOf(row)).toMatch(/^Held: This looks like record 2, and may be its row/);
    };
    await isHeld();
    for (let turn = 0; turn < 3; turn += 1) {
      world.clock.now += watchMs;
      await isHeld();
    }
    expect(titles(world)).toEqual(['Acme', 'Bolt', 'Corp']);
    row.cells['title'] = textCell('Dune');
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Bolt', 'Corp', 'Dune']);
  });

  it('lets the row whose ID it took back become a record once the one that it looks like is gone', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
    const row = rowOf(world, bolt);
    row.id = emptyCell;
    row.cells['about.url'] = textCell('https://bolt.example');
    suspect(world, { ...hit, id: emptyCell, cells: { ID: over(numberCell(2)) } }, { state: 'undone' });
    await settle(world);
    expect(syncOf(row)).toMatch(/^Held: This looks like record 2, and may be its row/);
    removeRecord(world, bolt);
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Corp', 'Bolt']);
  });

  it('is forgotten once it was watched for long enough, and then a read shows nothing', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt']);
    const { at } = suspect(world, hit, { state: 'undone' });
    world.clock.now = at + watchMs - 1;
    expect((await decideWorld(world)).suspects.drop).toEqual([]);
    world.clock.now += 1;
    world.heldTabs.set('lead', 'It is gone.');
    expect((await decideWorld(world)).suspects.drop).toEqual([]);
    world.heldTabs.delete('lead');
    expect((await decideWorld(world)).suspects.drop).toEqual(['w1.0']);
  });
});
