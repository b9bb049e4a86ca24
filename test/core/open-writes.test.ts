import { describe, expect, it } from 'vitest';
import { booleanCell, type Cell, describeCell, emptyCell, textCell } from '../../src/core/cell.ts';
import { copyReason } from '../../src/core/decide/copies.ts';
import { addHits, closeMended, judgeWrite } from '../../src/core/decide/open-writes.ts';
import { freeRow, type OpenWrite, type SentDelete, type SentSet } from '../../src/core/open-write.ts';
import type { KeptRow, OtherCell } from '../../src/core/table.ts';
import { copyRow, leadKey, removeRow, rowOf, type World } from '../support/world.ts';
import { cycle, worldWithLeads } from '../support/world-daemon.ts';

const place = {
  row: 5,
  headers: ['ID', 'Title', 'Status'],
  columns: { title: 1, status_name: 2 },
  cells: [],
};
const titled = (text: string) => ({ title: textCell(text) });
const keptRow = (id: Cell, cells: KeptRow['cells']): KeptRow => ({ id, sync: emptyCell, cells, place });

const openWrite = (steps: Partial<Pick<OpenWrite, 'sets' | 'deletes' | 'outcome'>>): OpenWrite => ({
  id: 'w1',
  at: 0,
  outcome: 'unknown',
  settlesAt: 1,
  keeping: { run: 'w1', from: 0 },
  height: 6,
  places: {},
  sets: [],
  deletes: [],
  appends: [],
  ...steps,
});

const setTo = (idSeen: Cell, rest: Partial<SentSet> = {}): SentSet => ({
  entity: 'lead',
  position: 1,
  slot: 0,
  idSeen,
  cells: titled('Written'),
  was: titled('Read'),
  ...rest,
});

const deleteOf = (idSeen: Cell): SentDelete => ({
  kind: 'delete',
  entity: 'lead',
  position: 1,
  slot: 0,
  idSeen,
  was: titled('Read'),
});

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

  it('has left in its row what did not stray, by which that is known among its copies', () => {
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

describe('S2: what a write did to other rows is mended', () => {
  /** A world in which these writes went wrong, and what the row of a lead shows after the next cycle. */
  function mend(world: World, ...sets: readonly SentSet[]) {
    for (const [index, sent] of sets.entries()) {
      const id = `w${index}!`;
      world.openWrites.set(id, { ...openWrite({ outcome: 'answered', sets: [sent] }), id });
    }
    return cycle(world);
  }

  it('where somebody exchanged the IDs since', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const [acme, beta] = [rowOf(world, leadKey(1)), rowOf(world, leadKey(2))];
    const kept = keptRow(acme.id, { ...acme.cells });
    acme.cells['status_name'] = textCell('By mistake');
    [acme.id, beta.id] = [beta.id, acme.id];
    mend(world, setTo(kept.id, { cells: { status_name: textCell('By mistake') }, kept }));
    expect(acme.cells['status_name']).toEqual(emptyCell);
  });

  it('in every copy that people made of a row with a wrong ID', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const kept = keptRow(acme.id, { ...acme.cells });
    const copy = copyRow(world, leadKey(1));
    acme.id = textCell('2');
    copy.id = acme.id;
    mend(world, setTo(textCell('2'), { id: textCell('2'), cells: {}, kept }));
    expect([acme.id, copy.id]).toEqual([kept.id, kept.id]);
  });

  it('in a new row that reached all of its columns but that of the ID', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const { row: _nowhere, ...columns } = place;
    const kept = { ...keptRow(acme.id, { ...acme.cells }), place: columns };
    acme.id = emptyCell;
    mend(world, setTo(emptyCell, { id: emptyCell, cells: { ...acme.cells }, kept, position: -1 }));
    expect(acme.id).toEqual(kept.id);
    expect(world.sheet.lead).toHaveLength(2);
  });

  it('in a copy that somebody made while it was mended', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const kept = keptRow(acme.id, { ...acme.cells });
    acme.id = textCell('2');
    mend(world, setTo(textCell('2'), { id: textCell('2'), cells: {}, kept }));
    const copy = copyRow(world, leadKey(1));
    copy.id = textCell('2');
    cycle(world);
    expect([acme.id, copy.id]).toEqual([kept.id, kept.id]);
    cycle(world);
    expect(world.openWrites.size).toBe(0);
  });

  it('but for the word that a row is a copy, where somebody made another row of it since', () => {
    for (const isRetyped of [false, true]) {
      const world = worldWithLeads(['Acme', 'Beta']);
      const acme = rowOf(world, leadKey(1));
      const kept = { ...keptRow(acme.id, { ...acme.cells }), sync: acme.sync };
      acme.sync = textCell(`Held: ${copyReason}`);
      const typed = Object.keys(acme.cells).map((field) => [field, textCell(`Other ${field}`)]);
      if (isRetyped) Object.assign(acme.cells, Object.fromEntries(typed));
      mend(world, setTo(acme.id, { cells: {}, sync: acme.sync, kept }));
      cycle(world);
      expect(describeCell(acme.sync)).toMatch(isRetyped ? /^Held: This row is a copy/ : /^Synced/);
      expect(world.outbox.size).toBe(0);
    }
  });

  it('but not in a row with the same ID that is no more like the one that was hit, and farther away', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const copy = copyRow(world, leadKey(1));
    const synced = acme.sync;
    const kept = { ...keptRow(acme.id, titled('Typed')), sync: textCell(`Held: ${copyReason}`) };
    copy.cells['title'] = textCell('Typed again');
    copy.sync = synced;
    mend(world, setTo(textCell('2'), { cells: {}, sync: synced, kept, position: 3 }));
    expect([acme.sync, copy.sync]).toEqual([synced, kept.sync]);
  });

  it('but not in the row of the record that shows by right what another row with its ID was hit with', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const [acme, beta] = [rowOf(world, leadKey(1)), rowOf(world, leadKey(2))];
    const written = { 'about.url': textCell('acme.example') };
    Object.assign(acme.cells, written);
    beta.id = acme.id;
    const kept = keptRow(beta.id, { ...beta.cells, 'about.url': textCell('beta.example') });
    const columns = { ...place.columns, 'about.url': 3 };
    const set = setTo(acme.id, {
      cells: written,
      kept: { ...kept, place: { ...place, columns } },
      position: 2,
    });
    mend(world, set);
    expect(acme.cells).toMatchObject(written);
  });

  it('but not in a copy, where the row shows in a field what it hit in a copy of the column', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    acme.cells['about.description'] = emptyCell;
    const kept = keptRow(acme.id, { ...acme.cells });
    copyRow(world, leadKey(1));
    const written = textCell('acme.example');
    acme.cells['about.description'] = written;
    const { table } = mend(world, setTo(emptyCell, { cells: {}, others: [{ column: 8, written }], kept }));
    const mended = table.filter(({ mends }) => mends).map(({ write }) => write);
    expect(mended).toMatchObject([{ position: 1, others: [{ column: 8, written }] }]);
  });

  it('but not in the row that was meant, where the one that was hit is gone', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const [acme, beta] = [rowOf(world, leadKey(1)), rowOf(world, leadKey(2))];
    const { status_name: status = emptyCell } = acme.cells;
    const beforehand = { title: textCell('Beta'), status_name: status, 'about.url': textCell('Of Beta') };
    const kept = keptRow(beta.id, beforehand);
    removeRow(world, leadKey(2));
    mend(world, setTo(acme.id, { cells: titled('Acme'), kept, position: 2 }));
    expect(acme.cells['title']).toEqual(textCell('Acme'));
  });

  it('but not in another record’s row that is only as empty, where the one that was hit is gone', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const emptied = { 'about.url': emptyCell, 'about.description': emptyCell };
    Object.assign(acme.cells, { ...emptied, status_name: emptyCell });
    const filled = { 'about.url': textCell('Of Beta'), 'about.description': textCell('Of Beta') };
    const beforehand = { ...acme.cells, ...titled('Beta'), status_name: textCell('In talks'), ...filled };
    removeRow(world, leadKey(2));
    const columns = { ...place.columns, 'about.url': 3, 'about.description': 4 };
    const kept = { ...keptRow(textCell('2'), beforehand), place: { ...place, columns } };
    mend(world, setTo(textCell('2'), { cells: emptied, kept }));
    expect(acme.cells).toMatchObject(emptied);
  });

  it('where somebody typed over it and took that back', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const kept = keptRow(acme.id, { ...acme.cells });
    const sent = setTo(acme.id, { cells: titled('By mistake'), kept });
    acme.cells['title'] = textCell('Typed over');
    world.openWrites.set('w1!', {
      ...openWrite({ outcome: 'answered', sets: [sent] }),
      id: 'w1!',
      settlesAt: world.now + 5_000,
    });
    cycle(world);
    acme.cells['title'] = textCell('By mistake');
    cycle(world);
    expect(acme.cells['title']).toEqual(textCell('Acme'));
    for (let cycles = 0; cycles < 4; cycles += 1) cycle(world);
    expect(world.openWrites.size).toBe(0);
  });

  it('and watched on in the fields in which somebody typed while it was mended, for they may take that back', () => {
    const hit = setTo(textCell('1'), { cells: { ...titled('Written'), status_name: textCell('Lost') } });
    const write = openWrite({ outcome: 'answered', sets: [hit] });
    const later = { ...openWrite({ outcome: 'answered', sets: [{ ...hit, slot: 3 }] }), id: 'w2' };
    const [left] = closeMended([write, later], [{ write: 'w1', slot: 0, typed: ['title'] }]);
    expect(left?.sets).toMatchObject([{ slot: 0, cells: titled('Written') }]);
    expect(Object.keys(left?.sets[0]?.cells ?? {})).toEqual(['title']);
  });

  it('the last first, and what it covered in the rows as they stand then', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const before = keptRow(acme.id, { ...acme.cells });
    const titleGone = keptRow(acme.id, { ...before.cells, title: textCell('Wrong') });
    Object.assign(acme, { id: textCell('wrong'), cells: { ...titleGone.cells } });
    const first = setTo(before.id, { cells: titled('Wrong'), kept: before });
    const last = setTo(before.id, { id: textCell('wrong'), cells: {}, kept: titleGone });
    mend(world, first, last);
    expect([acme.id, acme.cells['title']]).toEqual([before.id, textCell('Wrong')]);
    cycle(world);
    expect([acme.id, acme.cells['title']]).toEqual([before.id, textCell('Acme')]);
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
