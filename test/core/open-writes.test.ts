import { describe, expect, it, test } from 'vitest';
import { booleanCell, emptyCell, textCell } from '../../src/core/cell.ts';
import { decide } from '../../src/core/decide/decide.ts';
import { describeDamage } from '../../src/core/decide/lost-cells.ts';
import { addHits, judgeWrite } from '../../src/core/decide/open-writes.ts';
import { freeRow, type SentSet } from '../../src/core/open-write.ts';
import type { KeptRow, OtherCell } from '../../src/core/table.ts';
import { deleteOf, keptRow, openWrite, place, setTo, titled } from '../support/open-writes.ts';
import { changeRecord, inputOf, leadKey, readSheet, removeRow, rowOf } from '../support/world.ts';
import { cycle, pull, worldWithLeads } from '../support/world-daemon.ts';

describe('S2: what a write did is judged by the rows as they stood before it', () => {
  const judgeSet = (sent: SentSet, kept: KeptRow) =>
    judgeWrite(openWrite({ sets: [sent] }), new Map([[0, kept]]));

  it('has reached its row where that had the ID that was read', () => {
    const { done, left } = judgeSet(setTo(textCell('1')), keptRow(textCell('1'), titled('Read')));
    expect([...done]).toEqual([0]);
    expect(left).toEqual([]);
  });

  it('is to be mended where the row had another ID, or lost one', () => {
    for (const id of [textCell('2'), emptyCell]) {
      const kept = keptRow(id, titled('Other'));
      const { done, left } = judgeSet(setTo(textCell('1')), kept);
      expect(done.size).toBe(0);
      expect(left).toMatchObject([{ outcome: 'answered', sets: [{ kept, cells: titled('Written') }] }]);
    }
  });

  it('of a row without an ID has reached it only where all of its cells were as they were read', () => {
    const claim = setTo(emptyCell, { id: textCell('new-1'), cells: {} });
    expect(judgeSet(claim, keptRow(emptyCell, titled('Read'))).done.size).toBe(1);
    for (const kept of [
      keptRow(emptyCell, titled('Other')),
      keptRow(textCell('2'), titled('Read')),
      keptRow(emptyCell, {}),
    ])
      expect(judgeSet(claim, kept).left).toMatchObject([{ sets: [{ id: textCell('new-1'), kept }] }]);
  });

  it('has reached a row whose ID stands in others too only where all of its cells were as they were read', () => {
    const shared = setTo(textCell('1'), { isShared: true });
    expect(judgeSet(shared, keptRow(textCell('1'), titled('Read'))).done.size).toBe(1);
    expect(judgeSet(shared, keptRow(textCell('1'), titled('Other'))).done.size).toBe(0);
  });

  it('S1: has left in its row what did not stray, by which that is known among its copies, and what it replaced there is journaled', () => {
    const cells = { ...titled('Written'), status_name: textCell('Strayed') };
    const write = openWrite({ sets: [setTo(textCell('1'), { cells, was: {} })] });
    const before = { ...titled('Read'), status_name: textCell('New') };
    const rows = new Map([[0, keptRow(textCell('1'), before)]]);
    const others = [{ column: 8, written: cells.status_name }];
    const hits = new Map([[0, { cells: {}, others, strayed: ['status_name'], place }]]);
    const { left } = addHits(judgeWrite(write, rows), write, { rows, hits });
    expect(left.flatMap(({ sets }) => sets.map(({ kept }) => kept?.cells))).toEqual([
      { ...titled('Written'), status_name: textCell('New') },
    ]);
    const journal = left.flatMap((each) => describeDamage(each, { rows }, 0));
    expect(journal.map((line) => line.before)).toEqual([{ title: 'Read', status_name: 'New' }]);
  });

  it('may have hit its own row or a blank one where nothing was kept, because somebody hid its row by a filter', () => {
    const write = openWrite({ sets: [setTo(textCell('1'))] });
    const rows = new Map([[0, keptRow(emptyCell, titled(''))]]);
    const strayed = { cells: { status_name: textCell('Strayed') }, others: [], strayed: ['title'], place };
    const { left } = addHits(judgeWrite(write, rows), write, { rows, hits: new Map([[0, strayed]]) });
    expect(left.flatMap(({ sets }) => sets.map(({ kept }) => [kept?.id, kept?.cells]))).toEqual([
      [emptyCell, titled('')],
      [textCell('1'), titled('Read')],
    ]);
    const [, own] = left.flatMap(({ sets }) => sets.map(({ kept }) => kept));
    expect(own?.place.cells.slice(0, 2)).toEqual([emptyCell, textCell('Read')]);
    const emptied = { ...strayed, cells: { status_name: emptyCell } };
    const ofEmptied = addHits(judgeWrite(write, rows), write, { rows, hits: new Map([[0, emptied]]) }).left;
    expect(ofEmptied.flatMap(({ sets }) => sets.map(({ kept }) => kept?.id))).toEqual([emptyCell]);
  });

  it('leaves what no reply tells of where its row stands once the deletes of the batch are done', () => {
    const hidden = { ...setTo(textCell('2'), { position: 2 }), slot: 1 };
    const write = openWrite({ sets: [hidden], deletes: [deleteOf(textCell('1'))] });
    const { left } = judgeWrite(write, new Map([[0, keptRow(emptyCell, {})]]));
    expect(left.map(({ outcome, sets, deletes }) => [outcome, sets[0]?.position, deletes.length])).toEqual([
      ['unknown', 1, 0],
      ['landed', undefined, 1],
    ]);
  });

  it('is told in the journal by what was read of a row that a filter hid, of which no copy tells', () => {
    const write = openWrite({ sets: [setTo(textCell('1'))] });
    const { row: _nowhere, ...columns } = place;
    const rows = new Map([[0, { ...keptRow(textCell('2'), titled('Hidden')), place: columns }]]);
    const journal = judgeWrite(write, rows).left.flatMap((each) => describeDamage(each, { rows }, 0));
    expect(journal).toMatchObject([{ key: { entity: 'lead', id: '2' }, before: { title: 'Hidden' } }]);
  });

  it('has hit in another row also the columns of people which it gave back, where its own had moved as well', () => {
    const wide = { ...place, headers: [...place.headers, 'Mine'] };
    const others = [{ column: 3, written: emptyCell }];
    const write = openWrite({ sets: [setTo(textCell('1'), { others, place: wide })] });
    const rows = new Map([[0, { ...keptRow(textCell('2'), titled('Other')), place: wide }]]);
    const hit = { cells: { status_name: textCell('Strayed') }, strayed: ['title'], place: wide };
    const strayed = { column: 4, written: textCell('Strayed') };
    const left = (found: readonly OtherCell[]) =>
      addHits(judgeWrite(write, rows), write, { rows, hits: new Map([[0, { ...hit, others: found }]]) }).left;
    expect(left([])).toMatchObject([{ sets: [{ others }] }]);
    expect(left([strayed])).toMatchObject([{ sets: [{ others: [...others, strayed] }] }]);
  });

  it.each([
    ['no headers', ['', '']],
    ['one header', ['Mine', 'Mine']],
  ])('S13: has hit in another row the column of people which it gave back, of two with %s', (_what, own) => {
    const wide = { ...place, headers: [...place.headers, ...own] };
    const others = [{ column: 4, written: textCell('Given back') }];
    const kept = { ...keptRow(textCell('2'), titled('Other')), place: wide };
    const { left } = judgeSet(setTo(textCell('1'), { others, place: wide }), kept);
    expect(left).toMatchObject([{ sets: [{ others }] }]);
  });

  it('has given a row its ID back also where somebody typed in that moment, if no other row was like it', () => {
    const was = { ...titled('Acme'), status_name: textCell('New'), 'about.url': textCell('acme.example') };
    const cells = { ...was, status_name: textCell('Typed') };
    const given = setTo(emptyCell, { id: textCell('1'), cells: {}, was });
    const isDone = (sent: SentSet, kept: KeptRow) =>
      judgeWrite(openWrite({ sets: [sent] }), new Map([[0, kept]])).done.has(0);
    expect(isDone({ ...given, isAlone: true }, keptRow(emptyCell, cells))).toBe(true);
    expect(isDone({ ...given, isAlone: true }, keptRow(textCell('2'), cells))).toBe(false);
    const other = { ...cells, 'about.url': textCell('other.example') };
    expect(isDone({ ...given, isAlone: true }, keptRow(emptyCell, other))).toBe(false);
    expect(isDone(given, keptRow(emptyCell, cells))).toBe(false);
    // Our own word may have gone over the IDs of several rows at once.
    const word = textCell('Pending: waiting to be sent to the CRM');
    const overwritten = { ...given, idSeen: word, isShared: true as const };
    expect(isDone({ ...overwritten, isAlone: true }, keptRow(word, cells))).toBe(true);
    expect(isDone(overwritten, keptRow(word, cells))).toBe(false);
  });

  it('has not given a row its ID back that somebody put in its place, with the unticked boxes that a table puts into every row', () => {
    const boxes = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, booleanCell(false)]));
    const was = { ...titled('Acme'), status_name: textCell('New'), ...boxes };
    const given = setTo(emptyCell, { id: textCell('1'), cells: {}, was, isAlone: true });
    const met = keptRow(emptyCell, { ...titled('Nova'), status_name: emptyCell, ...boxes });
    expect(judgeWrite(openWrite({ sets: [given] }), new Map([[0, met]])).done.size).toBe(0);
  });

  it('has mended its row, whose ID somebody exchanged since, where that shows the damage', () => {
    const confirms = { offers: {}, notice: '', mends: { write: 'w0!', slot: 0 } };
    const exchanged = keptRow(textCell('2'), titled('Read'));
    expect(judgeSet(setTo(textCell('1'), { confirms }), exchanged).done.size).toBe(1);
    for (const other of [{}, { confirms, cells: {} }])
      expect(judgeSet(setTo(textCell('1'), other), exchanged).done.size).toBe(0);
  });

  it('has reached a row without an ID also where a column of it was deleted in that moment', () => {
    const claim = setTo(emptyCell, { cells: {}, was: { ...titled('Read'), city: textCell('Porto') } });
    expect(judgeSet(claim, keptRow(emptyCell, titled('Read'))).done.size).toBe(1);
    expect(judgeSet(claim, keptRow(emptyCell, titled('Other'))).done.size).toBe(0);
  });

  it('counts no checkbox that nobody ticked, no format and no place of a formula', () => {
    const was = {
      met: emptyCell,
      share: { kind: 'number', number: 0.5, shown: '50%' } as const,
      title: { kind: 'formula', formula: '=A1' } as const,
    };
    const kept = keptRow(emptyCell, {
      met: booleanCell(false),
      share: { kind: 'number', number: 0.5 },
      title: { kind: 'formula', formula: '=B9' },
    });
    const { done, overtyped } = judgeSet(setTo(emptyCell, { cells: was, was }), kept);
    expect(done.size).toBe(1);
    expect(overtyped.size).toBe(0);
  });
});

describe('S1: what somebody typed in the moment in which the row was written', () => {
  it('is told, and is to be put back', () => {
    const kept = keptRow(textCell('1'), titled('Typed'));
    const { done, left, overtyped } = judgeWrite(
      openWrite({ sets: [setTo(textCell('1'))] }),
      new Map([[0, kept]]),
    );
    expect([...done]).toEqual([0]);
    expect([...overtyped]).toEqual([[0, ['title']]]);
    expect(left).toMatchObject([{ sets: [{ kept, cells: titled('Written') }] }]);
  });

  it('is not what another write without a reply has put there', () => {
    const kept = keptRow(textCell('1'), titled('Sent before'));
    const other = openWrite({ sets: [setTo(textCell('1'), { cells: titled('Sent before') })] });
    const { left, overtyped } = judgeWrite(
      openWrite({ sets: [setTo(textCell('1'))] }),
      new Map([[0, kept]]),
      [other],
    );
    expect(overtyped.size).toBe(0);
    expect(left).toEqual([]);
  });

  it('brings a row back that was deleted in that moment', () => {
    const kept = keptRow(textCell('1'), titled('Typed'));
    const { done, left } = judgeWrite(
      openWrite({ deletes: [deleteOf(textCell('1'))] }),
      new Map([[0, kept]]),
    );
    expect(done.size).toBe(0);
    expect(left).toMatchObject([{ deletes: [{ kept }] }]);
  });

  it('comes back where it was replaced, and only there where nobody typed again since', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, leadKey(1));
    const written = { title: textCell('From the CRM'), status_name: textCell('New') };
    const kept = keptRow(row.id, { title: textCell('Typed'), status_name: textCell('Qualified') });
    const sent = setTo(row.id, { cells: written, kept });
    world.openWrites.set('w1', openWrite({ outcome: 'answered', sets: [sent] }));
    Object.assign(row.cells, { ...written, status_name: textCell('Typed again') });
    cycle(world);
    expect(row.cells).toMatchObject({ title: textCell('Typed'), status_name: textCell('Typed again') });
  });
});

describe('a write of whose reply nothing is known', () => {
  it('stays open for the steps that have not landed', () => {
    const sets = [setTo(textCell('1')), setTo(textCell('2'), { slot: 1 })];
    const { done, left } = judgeWrite(
      openWrite({ sets }),
      new Map([[1, keptRow(textCell('2'), titled('Read'))]]),
    );
    expect([...done]).toEqual([1]);
    expect(left).toMatchObject([{ id: 'w1', outcome: 'unknown', sets: [{ slot: 0 }] }]);
  });

  it('is forgotten when it can not land any more, and not before', () => {
    const world = worldWithLeads(['Acme']);
    world.openWrites.set('w1', {
      ...openWrite({ sets: [setTo(textCell('1'))] }),
      settlesAt: world.now + 1_500,
    });
    cycle(world);
    expect(world.openWrites.has('w1')).toBe(true);
    cycle(world);
    expect(world.openWrites.has('w1')).toBe(false);
  });

  it('keeps its place from later writes', () => {
    expect(freeRow([])).toBe(0);
    const later = { ...openWrite({}), keeping: { run: 'w2', from: 6 }, height: 8 };
    expect(freeRow([later, openWrite({})])).toBe(14);
  });
});

test('a row that is mended takes what the CRM says later, also the same, while somebody is asked about a row of that write that is gone', () => {
  const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
  const [acme, beta] = [rowOf(world, leadKey(1)), rowOf(world, leadKey(2))];
  const written = { 'about.url': textCell('agency.example') };
  const columns = { ...place.columns, 'about.url': 3 };
  const hit = ({ cells, id }: typeof acme, slot: number) => {
    const kept = keptRow(id, { ...cells, 'about.url': emptyCell });
    const rest = { slot, cells: written, was: {}, kept: { ...kept, place: { ...place, columns } } };
    return setTo(textCell('3'), { ...rest, position: slot + 1 });
  };
  const write = openWrite({ outcome: 'answered', sets: [hit(acme, 0), hit(beta, 1)] });
  world.openWrites.set('w1', write);
  Object.assign(beta.cells, written);
  removeRow(world, leadKey(1));
  for (let cycles = 0; cycles < 3; cycles += 1) cycle(world);
  expect(beta.cells['about.url']).toEqual(emptyCell);
  expect(world.openWrites.get('w1')?.sets).toMatchObject([{ slot: 0 }]);
  changeRecord(world, leadKey(2), { 'about.url': 'agency.example' });
  pull(world);
  for (let cycles = 0; cycles < 6; cycles += 1) cycle(world);
  expect(beta.cells).toMatchObject(written);
  expect(world.outbox.size).toBe(0);
});

test.each([
  ['is held', { state: 'held', reason: 'Its header is empty.' } as const],
  ['is not mended yet', undefined],
])('of a write that went wrong in two tabs only what it did to the one that %s is left', (_, lead) => {
  const world = worldWithLeads(['Acme']);
  const input = inputOf(world, readSheet(world));
  const kept = keptRow(textCell('9'), titled('Kept'));
  const sets = [setTo(textCell('8'), { kept }), setTo(textCell('8'), { entity: 'task', slot: 1, kept })];
  const deletes = [{ ...deleteOf(textCell('8')), slot: 2, kept }];
  const openWrites = [openWrite({ outcome: 'answered', sets, deletes })];
  const tabs = { ...input.table.tabs, ...(lead && { lead }) };
  const plan = decide({ ...input, known: { ...input.known, openWrites }, table: { ...input.table, tabs } });
  expect(plan.writesOver).toEqual([]);
  expect(plan.writesWatched).toMatchObject([{ sets: [{ entity: 'lead' }], deletes: [{ entity: 'lead' }] }]);
});
