import { describe, expect, it } from 'vitest';
import { Standing } from '../../src/sheet/index/standing.ts';
import { decideAgain } from '../../src/sheet/plans/decide-again.ts';
import type { DecideInput } from '../../src/sheet/plans/plan.ts';
import { type Cell, describeCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  bolt,
  boltTitle,
  cycles,
  gone,
  hit,
  hitNew,
  hitNewWorld,
  hitWorld,
  over,
  scope,
  scopesOf,
  shown,
  suspect,
  writesTo,
} from '../support/damages.ts';
import { addRecord, addRow, copyRow, leadKey, recordOf, removeRow, rowOf } from '../support/world.ts';
import { claim, creates, leaveToPerson } from '../support/world-creates.ts';
import {
  cycle,
  decideWorld,
  inputOf,
  pull,
  push,
  rebase,
  settle,
  worldWithLeads,
} from '../support/world-daemon.ts';
import { sheetIds, syncOf, titles } from '../support/world-view.ts';

const acme = leadKey(1);

/** Three leads, of which the row of Bolt has another ID now; a row that is gone takes its record along. */
async function lostIdWorld(id: Cell) {
  const world = await worldWithLeads(['Acme', 'Bolt', 'Corp'], { policy: { vanishedRows: 'trash' } });
  const row = rowOf(world, bolt);
  row.id = id;
  return { world, row };
}

describe('a row that a write damaged and that is not put right yet', () => {
  it('is not taken from, and its Sync cell says what happens', async () => {
    const { world, row } = await hitWorld({ state: 'pending' });
    const plan = await cycles(world);
    expect(scopesOf(plan)).toEqual([]);
    expect([boltTitle(world), shown(row), world.outbox.size]).toEqual(['Bolt', textCell('Acme'), 0]);
    expect(syncOf(row)).toContain('taken back');
    expect(plan.holds).toMatchObject([{ id: '2', position: 2 }]);
  });

  it('becomes no record where it has no ID and shows all that was written there, and stays as it is', async () => {
    for (const state of ['pending', 'escalated'] as const) {
      const { world, row } = await hitNewWorld({ state });
      const plan = await cycles(world);
      expect(creates(world)).toEqual([]);
      expect([row.id, shown(row), row.sync]).toEqual([emptyCell, textCell('Acme'), textCell('Synced')]);
      expect(plan.holds).toMatchObject([{ position: 4 }]);
    }
  });

  it('is another one, and becomes a record, where it has no ID and shows only some of what was written', async () => {
    const { world, row } = await hitNewWorld({ state: 'pending' });
    row.cells['about.url'] = textCell('https://other.example');
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Bolt', 'Corp', 'Acme']);
  });

  it('is another one, and becomes a record, where it has no ID and its Sync cell is not the one that was written', async () => {
    const { world, row } = await hitNewWorld({ state: 'pending' });
    row.sync = emptyCell;
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Bolt', 'Corp', 'Acme']);
  });

  it('is not known by what was emptied alone', async () => {
    const world = await worldWithLeads(['Acme']);
    addRow(world, 'lead', { title: textCell('Dune') });
    suspect(world, { ...hitNew, cells: { 'about.url': over(emptyCell, textCell('https://dune.example')) } });
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Dune']);
  });

  it('S3: makes no create of the claim token that it got', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    row.id = textCell('new-5');
    row.sync = textCell('Pending: to be created in the CRM');
    const cells = { ID: over(row.id), Sync: over(row.sync) };
    suspect(world, { ...hitNew, cells }, { state: 'pending' });
    const plan = await cycles(world);
    expect([creates(world), row.id]).toEqual([[], textCell('new-5')]);
    expect(plan.holds).toMatchObject([{ position: 2 }]);
  });

  it('S3: is not claimed where the write took its ID, and gets it back', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
    const row = rowOf(world, bolt);
    const cells = { ID: over(emptyCell, numberCell(2)), Sync: over(emptyCell, row.sync) };
    row.id = emptyCell;
    row.sync = emptyCell;
    suspect(world, { ...hit, cells }, { state: 'pending' });
    await cycles(world);
    expect([row.id, creates(world)]).toEqual([numberCell(2), []]);
  });

  it('S3: is not claimed where the write took its ID and a user typed there since', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
    const row = rowOf(world, bolt);
    row.id = emptyCell;
    row.cells['about.url'] = textCell('https://bolt.example');
    suspect(world, { ...hit, cells: { ID: over(emptyCell, numberCell(2)) } }, { state: 'pending' });
    const plan = await cycles(world);
    expect(row.id).toEqual(emptyCell);
    expect(plan.holds).toMatchObject([
      { position: 2, reason: expect.stringContaining('looks like record 2') },
    ]);
  });

  it('S3: is not claimed where the write took its ID and a copy of it has that still, and gets it back', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
    const row = rowOf(world, bolt);
    copyRow(world, bolt);
    row.id = emptyCell;
    suspect(world, { ...hit, cells: { ID: over(emptyCell, numberCell(2)) } });
    const plan = await cycles(world);
    expect([creates(world), row.id, scopesOf(plan)]).toEqual([[], emptyCell, [scope]]);
    world.decisions.set(scope, 'restore');
    await cycle(world);
    expect([creates(world), row.id]).toEqual([[], numberCell(2)]);
  });

  it('keeps what users decided about its record', async () => {
    const { world } = await hitWorld();
    world.decisions.set('conflict:lead-2:title', 'table');
    expect((await decideWorld(world)).settledDecisions).toEqual([]);
  });

  it('has its record, although no row shows its ID: none is added, and its delete is taken back', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt', 'Corp'], { policy: { vanishedRows: 'trash' } });
    removeRow(world, bolt);
    await cycles(world, 2);
    expect([...world.outbox.values()]).toMatchObject([{ kind: 'delete' }]);
    suspect(world, gone);
    const plan = await cycles(world);
    expect([sheetIds(world), [...world.outbox]]).toEqual([['1', '3'], []]);
    expect(scopesOf(plan)).toEqual([scope]);
  });

  it('keeps its create, although no row shows the token', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    const item = await claim(world, row);
    world.sheet.lead.pop();
    suspect(world, { ...gone, id: row.id, cells: { title: over(emptyCell, textCell('Dune')) } });
    await cycles(world);
    expect(creates(world)).toEqual([item]);
  });

  it('has the record that its create made, which gets no other row', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    await claim(world, row);
    await push(world);
    await pull(world);
    row.cells['title'] = textCell('Acme');
    suspect(world, { ...hit, id: row.id }, { state: 'pending' });
    await cycles(world);
    expect(world.sheet.lead).toHaveLength(2);
  });

  it('has the record that its create made, also where it was deleted by mistake', async () => {
    const world = await worldWithLeads(['Acme'], { policy: { vanishedRows: 'trash' } });
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    await claim(world, row);
    await push(world);
    await pull(world);
    world.sheet.lead.pop();
    suspect(world, { ...gone, id: row.id, cells: { title: over(emptyCell, textCell('Dune')) } });
    const plan = await cycles(world);
    expect([sheetIds(world), scopesOf(plan)]).toEqual([['1'], [`damage:lead-${describeCell(row.id)}:w1.0`]]);
    expect([...world.outbox.values()]).toMatchObject([{ kind: 'create' }]);
  });

  it('keeps a newcomer that its create may have made from getting another row', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    leaveToPerson(world, await claim(world, row));
    row.cells['title'] = textCell('Acme');
    suspect(world, { ...hit, id: row.id }, { state: 'pending' });
    addRecord(world, 'lead', { title: 'Dune' });
    await pull(world);
    await cycles(world);
    expect(world.sheet.lead).toEqual([expect.anything(), row]);
  });

  it('stays paused where a user paused it, and is asked about all the same', async () => {
    const { world, row } = await hitWorld();
    row.isPaused = true;
    const plan = await cycles(world);
    expect(syncOf(row)).toContain('paused');
    expect(scopesOf(plan)).toEqual([scope]);
    expect([shown(row), boltTitle(world)]).toEqual([textCell('Acme'), 'Bolt']);
  });

  it('keeps the record whose ID was written there from vanishing, and from getting another row', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt', 'Corp'], { policy: { vanishedRows: 'trash' } });
    const row = rowOf(world, bolt);
    removeRow(world, acme);
    row.id = numberCell(1);
    suspect(world, { ...hit, cells: { ID: over(numberCell(1), numberCell(2)) } });
    const plan = await cycles(world);
    expect([sheetIds(world), [...world.outbox], plan.restlessRows]).toEqual([['1', '3'], [], 0]);
    expect(scopesOf(plan)).toEqual([scope]);
  });

  it.each([
    ['has no ID', emptyCell],
    ['has one that is none', textCell('see below')],
    ['has the one of another record', numberCell(3)],
  ])('S4: keeps the record whose row it may be from vanishing, where it %s', async (_, id) => {
    const { world, row } = await lostIdWorld(id);
    row.cells['title'] = textCell('Acme');
    suspect(world, { ...hit, id });
    const plan = await cycles(world);
    expect([[...world.outbox], sheetIds(world).length, scopesOf(plan).length]).toEqual([[], 3, 1]);
  });

  it.each([
    ['had no ID', emptyCell],
    ['had one that is none', textCell('see below')],
  ])(
    'S4: keeps the record whose row it may be from vanishing, where it was deleted and %s',
    async (_, id) => {
      const { world, row } = await lostIdWorld(id);
      world.sheet.lead.splice(world.sheet.lead.indexOf(row), 1);
      suspect(world, { ...gone, id });
      const plan = await cycles(world);
      expect([[...world.outbox], sheetIds(world), scopesOf(plan).length]).toEqual([[], ['1', '3'], 1]);
    },
  );

  it('is not written to while a brake holds, and is asked about all the same', async () => {
    const { world, row } = await hitWorld(
      {},
      { ...hit, cells: { ...hit.cells, 'about.url': over(textCell('x')) } },
    );
    for (const lead of world.sheet.lead) if (lead !== row) lead.cells['title'] = emptyCell;
    rebase(world, 'The sheet is another one.');
    const plan = await cycles(world);
    expect(plan.brakes).toHaveLength(1);
    expect([plan.table, scopesOf(plan)]).toEqual([[], [scopesOf(plan)[0], scope]]);
    world.decisions.set(scope, 'restore');
    expect([(await cycles(world)).table, shown(row)]).toEqual([[], textCell('Acme')]);
    expect(world.decisions.get(scope)).toBe('restore');
  });

  it('is written at most once in a plan, however many writes damaged it', async () => {
    const { world, row } = await hitWorld();
    suspect(world, { ...hit, cells: { 'about.url': over(emptyCell, textCell('x')) } }, { id: 'w2.0' });
    const plan = await decideWorld(world);
    expect(writesTo(plan, row, world)).toHaveLength(1);
    expect(scopesOf(plan).toSorted()).toEqual([scope, 'damage:lead-2:w2.0']);
    for (const each of scopesOf(plan)) world.decisions.set(each, 'restore');
    expect(writesTo(await decideWorld(world), row, world)).toHaveLength(1);
    await cycles(world);
    expect([shown(row), row.cells['about.url']]).toEqual([textCell('Bolt'), textCell('x')]);
    expect([...world.suspects]).toEqual([]);
  });

  it('is put right from the last write on, and a write that another one covers is not over meanwhile', async () => {
    for (const isAnsweredLate of [false, true]) {
      const { world, row } = await hitWorld(
        {},
        { ...hit, cells: { title: over(textCell('Corp'), textCell('Bolt')) } },
      );
      suspect(world, { ...hit, cells: { title: over(textCell('Acme'), textCell('Corp')) } }, { id: 'w2.0' });
      if (isAnsweredLate) await cycles(world);
      for (const each of [scope, 'damage:lead-2:w2.0']) world.decisions.set(each, 'restore');
      await cycle(world);
      expect(shown(row)).toEqual(textCell('Corp'));
      await cycle(world);
      expect([shown(row), boltTitle(world), world.suspects.size]).toEqual([textCell('Bolt'), 'Bolt', 0]);
    }
  });
});

describe('what is known of damage', () => {
  it('stays as it is while its tab cannot be read, and so does its answer', async () => {
    const { world } = await hitWorld({ clearReads: 1 });
    world.heldTabs.set('lead', 'It is gone.');
    world.decisions.set(scope, 'restore');
    const plan = await decideWorld(world);
    expect([plan.suspects, plan.settledDecisions]).toEqual([{ save: [], drop: [] }, []]);
  });

  it('is dropped at once where it is in the tab of questions', async () => {
    const world = await worldWithLeads(['Acme']);
    suspect(world, { ...hit, entity: 'question', id: textCell('vanished:lead-1') });
    const plan = await decideWorld(world);
    expect([plan.suspects.drop, scopesOf(plan)]).toEqual([['w1.0'], []]);
  });

  it('makes every cycle decide anew', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt']);
    await settle(world);
    const input = await inputOf(world);
    const isReused = (more: Partial<DecideInput['known']>) => {
      const known = { ...input.known, ...more };
      const standing = new Standing();
      const first = decideAgain({ ...input, known }, standing, undefined);
      return decideAgain({ ...input, known }, standing, first).plan.table === first.plan.table;
    };
    expect(isReused({})).toBe(true);
    const pending = suspect(world, gone, { state: 'pending' });
    expect(isReused({ suspects: [pending] })).toBe(false);
    world.suspects.clear();
    expect(isReused({ claims: { open: new Set(['new-5']), void: new Set() } })).toBe(false);
    expect(isReused({ claims: { open: new Set(), void: new Set(['new-5']) } })).toBe(true);
  });
});

it('a row of another record is not damaged', async () => {
  const { world } = await hitWorld();
  rowOf(world, acme).cells['title'] = textCell('Acme Ltd');
  await settle(world);
  expect(recordOf(world, acme).fields['title']).toBe('Acme Ltd');
});
