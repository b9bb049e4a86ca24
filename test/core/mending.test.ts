import { describe, expect, it } from 'vitest';
import { type Cell, describeCell, emptyCell, numberCell, textCell } from '../../src/core/cell.ts';
import { findRepairs } from '../../src/core/decide/astray.ts';
import { copyReason } from '../../src/core/decide/copies.ts';
import { createDraft } from '../../src/core/decide/draft.ts';
import { findHitRows } from '../../src/core/decide/hit-rows.ts';
import { closeMended } from '../../src/core/decide/open-writes.ts';
import type { OpenWrite, SentSet } from '../../src/core/open-write.ts';
import { deleteOf, keptRow, openWrite, place, setTo, titled } from '../support/open-writes.ts';
import {
  addRow,
  copyRow,
  inputOf,
  leadKey,
  readSheet,
  removeRow,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, worldWithLeads } from '../support/world-daemon.ts';

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

  it('by emptying a new row that came under columns that had moved, where its record has got a row meanwhile', () => {
    const world = worldWithLeads(['Acme']);
    const acme = rowOf(world, leadKey(1));
    const { row: _nowhere, ...columns } = place;
    const kept = { ...keptRow(acme.id, { ...acme.cells }), place: columns };
    const strayed = { id: textCell('Synced'), cells: { title: textCell('New') } };
    const row = addRow(world, 'lead', strayed.cells);
    row.id = strayed.id;
    mend(world, setTo(emptyCell, { ...strayed, kept, position: -1 }));
    expect([row.id, row.cells['title']]).toEqual([emptyCell, emptyCell]);
    expect(rowOf(world, leadKey(1))).toBe(acme);
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

  it('but not in the row that was meant, where only what was written tells it from the one that was hit', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const [acme, beta] = [rowOf(world, leadKey(1)), rowOf(world, leadKey(2))];
    const was = { ...acme.cells };
    const written = { title: textCell('Acme Inc') };
    const kept = keptRow(beta.id, { ...beta.cells });
    Object.assign(acme.cells, written);
    mend(world, setTo(acme.id, { cells: written, was, kept, position: 2 }));
    expect(acme.cells).toMatchObject(written);
    expect(beta.cells['title']).toEqual(textCell('Beta'));
  });

  it('but not in another record’s row that has a common value as well, where the one that was hit is gone', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const [acme, beta] = [rowOf(world, leadKey(1)), rowOf(world, leadKey(2))];
    const common = { status_name: textCell('New') };
    const word = { title: textCell('Pending: being sent to the CRM') };
    for (const row of [acme, beta]) Object.assign(row.cells, common);
    const kept = keptRow(acme.id, { ...titled('Acme'), ...common, 'about.url': textCell('acme.example') });
    removeRow(world, leadKey(1));
    Object.assign(beta.cells, word, { 'about.url': textCell('beta.example') });
    mend(world, setTo(emptyCell, { cells: word, kept }));
    expect(beta.cells).toMatchObject(word);
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

  it.each([
    ['is mended', false],
    ['is gone', true],
  ])(
    'but not in a row that shows by right what was written, and has much in common with the one that was hit, which %s',
    (_, isGone) => {
      const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
      const [acme, gamma] = [rowOf(world, leadKey(1)), rowOf(world, leadKey(3))];
      const written = { 'about.url': textCell('agency.example') };
      const blank = { status_name: emptyCell, 'about.description': emptyCell, 'about.url': emptyCell };
      const columns = { ...place.columns, 'about.url': 3, 'about.description': 4 };
      const kept = { ...keptRow(acme.id, { ...acme.cells, ...blank }), place: { ...place, columns } };
      for (const row of [acme, gamma]) Object.assign(row.cells, written);
      if (isGone) removeRow(world, leadKey(1));
      mend(world, setTo(textCell('2'), { cells: written, was: {}, kept }));
      cycle(world);
      if (!isGone) expect(acme.cells['about.url']).toEqual(emptyCell);
      expect(gamma.cells).toMatchObject(written);
    },
  );

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

  it('and not watched on in a row that only looks like the one that was hit', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const url = { 'about.url': textCell('acme.example') };
    const kept = keptRow(acme.id, { ...acme.cells, ...titled('Before'), ...url });
    Object.assign(acme, { id: emptyCell, cells: { ...acme.cells, title: emptyCell, ...url } });
    const sent = setTo(kept.id, { cells: titled('Acme'), kept });
    const write = openWrite({ outcome: 'answered', sets: [sent] });
    world.openWrites.set('w1', { ...write, settlesAt: world.now + 60_000 });
    cycle(world);
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

  it('and not looked for again where a row is given back, which shows the same by right', () => {
    const hit = setTo(emptyCell, { id: textCell('1'), position: -1 });
    const write = openWrite({ outcome: 'answered', sets: [hit] });
    const taken = { ...openWrite({ outcome: 'answered', deletes: [deleteOf(textCell('1'))] }), id: 'w0' };
    const mended = [{ write: 'w1', slot: 0, typed: [] }];
    expect(closeMended([taken, write], mended)).toMatchObject([{ id: 'w1', sets: [] }]);
    expect(closeMended([write], mended)).toMatchObject([{ id: 'w1', sets: [{ slot: 0 }] }]);
  });

  it.each<[string, Cell, Cell]>([
    [
      'a number that a format shows otherwise',
      { kind: 'number', number: 46_000, shown: '2025-12-09' },
      numberCell(46_000),
    ],
    ['a formula', { kind: 'formula', formula: '=A3' }, { kind: 'formula', formula: '=A90' }],
  ])(
    'S3: but no row without an ID once more that was given back and is there, with %s',
    (_what, shown, kept) => {
      const world = worldWithLeads(['Acme']);
      const row = addRow(world, 'lead', { ...titled('New'), 'custom.team': shown });
      const taken = keptRow(emptyCell, { ...row.cells, 'custom.team': kept });
      const sent = { ...deleteOf(textCell('9')), kept: taken, sentBackBeside: 0 };
      world.openWrites.set('w1', openWrite({ outcome: 'answered', deletes: [sent] }));
      expect(cycle(world).table.filter(({ write }) => write.kind === 'append')).toEqual([]);
    },
  );

  it('in each of the rows of a long tab, all of which a write reached because somebody sorted it', () => {
    const titles = Array.from({ length: 60_000 }, (_, index) => titled(`Task ${index}`));
    const rows = titles.map((_, index) => {
      const [id, position] = [textCell(String(index)), index + 1];
      return { position, id, sync: emptyCell, cells: titled('Written') };
    });
    const tab = { state: 'read', rows, fields: new Set(['title']), hasSync: true } as const;
    const sets = titles.map((cells, slot) => {
      const kept = keptRow(textCell(String(slot)), cells);
      return { ...setTo(textCell(String(slot + 1)), { slot, position: slot + 1 }), kept };
    });
    const found = sets.flatMap((sent) => findHitRows(tab, sent, sent.kept));
    expect(found).toEqual(rows);
    const mendedRows = rows.map((row, index) => ({ ...row, cells: titles[index] ?? {} }));
    const foundAgain = sets.flatMap((sent) => findHitRows({ ...tab, rows: mendedRows }, sent, sent.kept));
    expect(foundAgain).toEqual(mendedRows);
    const other = { ...openWrite({ outcome: 'answered', sets }), id: 'w0' };
    const mended = sets.map(({ slot }) => ({ write: 'w1', slot, typed: [] }));
    const [left] = closeMended([other, openWrite({ outcome: 'answered', sets })], mended);
    expect(left?.sets).toEqual([]);
  });

  it('after two writes that reached all rows of a long tab', () => {
    const world = worldWithLeads(['Acme']);
    const input = inputOf(world, readSheet(world));
    const writeOf = (word: string): OpenWrite => {
      const sets = Array.from({ length: 30_000 }, (_, slot) => ({
        ...setTo(textCell(`${slot}`), { slot, cells: titled(`${word} ${slot}`) }),
        kept: keptRow(textCell(`gone ${slot}`), titled(`Kept ${slot}`)),
      }));
      return { ...openWrite({ outcome: 'answered', sets }), id: word };
    };
    const openWrites = [writeOf('First'), writeOf('Second')];
    const tab = input.table.tabs.lead;
    if (tab.state === 'held') throw new Error(tab.reason);
    const draft = createDraft();
    const known = { ...input.known, openWrites };
    expect(findRepairs({ draft, entity: 'lead', input: { ...input, known }, tab })).toEqual([]);
  });

  it.each([
    ['new-00000000abcd-000000000001', 'new-00000000abcd-000000000002'],
    ['Synced 2026-12-31 09:00', '7'],
  ])('the last first, also where the reply to an earlier one came later: %s under %s', (...ids) => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, leadKey(1));
    const { cells, id } = copy;
    const [first, last] = ids.map(textCell);
    const claim = (token: Cell | undefined, found: Cell = emptyCell): SentSet => ({
      ...setTo(emptyCell, { cells: {}, kept: keptRow(found, { ...cells }), position: 3 }),
      ...(token && { id: token }),
    });
    copy.id = last ?? emptyCell;
    mend(world, claim(last, first), claim(first, id));
    cycle(world);
    expect(copy.id).toEqual(id);
  });

  it('but not in the row that has the ID by right and stands in the place now, where the one that was hit has its own again', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const [acme, beta] = [rowOf(world, leadKey(1)), rowOf(world, leadKey(2))];
    const kept = keptRow(acme.id, { ...acme.cells });
    world.sheet.lead.reverse();
    mend(world, setTo(textCell('typed over'), { id: beta.id, cells: {}, kept }));
    expect([acme.id, beta.id].map(describeCell)).toEqual(['1', '2']);
  });

  it('S3: also under the token of a claim that has just landed there and of which nothing is known yet', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, leadKey(1));
    const [first, late] = ['new-00000000abcd-000000000001', 'new-00000000abcd-000000000002'].map(textCell);
    const claim = (id: Cell | undefined): SentSet => ({
      ...setTo(emptyCell, { cells: {}, position: 3 }),
      ...(id && { id }),
    });
    const lateWrite = { ...openWrite({ sets: [claim(late)] }), id: 'late', settlesAt: world.now + 60_000 };
    world.openWrites.set('late', lateWrite);
    copy.id = late ?? emptyCell;
    mend(world, { ...claim(first), kept: keptRow(textCell('1'), { ...copy.cells }) });
    cycle(world);
    expect([copy.id, world.outbox.size]).toEqual([late, 0]);
    const kept = keptRow(first ?? emptyCell, { ...copy.cells });
    world.openWrites.set('late', { ...lateWrite, outcome: 'answered', sets: [{ ...claim(late), kept }] });
    cycle(world);
    cycle(world);
    expect([copy.id, world.outbox.size]).toEqual([textCell('1'), 0]);
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
