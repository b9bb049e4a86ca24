import { expect, it } from 'vitest';
import { booleanCell, type Cell, emptyCell, textCell } from '../../src/core/cell.ts';
import { blankCells } from '../../src/core/decide/hit-rows.ts';
import type { SentSet } from '../../src/core/open-write.ts';
import type { ObservedRow } from '../../src/core/table.ts';
import { keptRow, openWrite, place, setTo, titled } from '../support/open-writes.ts';
import {
  addRow,
  changeRecord,
  fieldsOf,
  leadKey,
  removeRow,
  rowOf,
  type SheetRow,
  type World,
} from '../support/world.ts';
import { cycle, pull, worldWithLeads } from '../support/world-daemon.ts';

const written = { 'about.url': textCell('agency.example') };

/** A write put these cells of another lead into the row of a lead, this link where none stood unless told otherwise. */
function hitRow(
  world: World,
  id: number,
  {
    name = 'w1',
    cells = written,
    sent = { idSeen: textCell('9'), was: {} },
  }: {
    readonly name?: string;
    readonly cells?: ObservedRow['cells'];
    readonly sent?: Pick<SentSet, 'idSeen' | 'was'>;
  } = {},
): SheetRow {
  const row = rowOf(world, leadKey(id));
  const names = fieldsOf(world, 'lead').map((field) => field.name);
  const columns = Object.fromEntries(names.map((field, index) => [field, index + 1]));
  const kept = {
    ...keptRow(row.id, { ...blankCells(names), ...row.cells }),
    place: { ...place, columns },
  };
  const set = setTo(sent.idSeen, { ...sent, cells, kept, position: id });
  world.openWrites.set(name, { ...openWrite({ outcome: 'answered', sets: [set] }), id: name });
  Object.assign(row.cells, cells);
  return row;
}

function cycles(world: World, count: number) {
  for (let done = 0; done < count; done += 1) cycle(world);
}

it.each([
  ['a no where nothing was said', null, booleanCell(false)],
  ['nothing where a no was said', false, emptyCell],
])('S2: puts back what stood there where a write put %s', (_what, isVip, cell) => {
  const world = worldWithLeads(['Acme', 'Beta']);
  changeRecord(world, leadKey(1), { 'custom.is_vip': isVip });
  pull(world);
  cycles(world, 2);
  const before = { ...rowOf(world, leadKey(1)).cells };
  const row = hitRow(world, 1, { cells: { 'custom.is_vip': cell } });
  cycles(world, 3);
  expect({ ...blankCells(Object.keys(row.cells)), ...before }).toEqual(row.cells);
  expect(world.outbox.size).toBe(0);
});

it('leaves an unticked box where a table puts one, also where a write put a no there', () => {
  const world = worldWithLeads(['Acme', 'Beta']);
  world.boxedFields.add('custom.is_vip');
  const row = hitRow(world, 1, { cells: { 'custom.is_vip': booleanCell(false) } });
  expect(cycle(world).table).toEqual([]);
  expect(row.cells['custom.is_vip']).toEqual(booleanCell(false));
});

it('takes no new row that says the same for the one that a write hit, while somebody is asked about that', () => {
  const world = worldWithLeads(['Acme', 'Beta']);
  hitRow(world, 1);
  removeRow(world, leadKey(1));
  cycle(world);
  const row = addRow(world, 'lead', { ...titled('Delta'), ...written });
  cycles(world, 2);
  expect(row.cells).toMatchObject(written);
});

it.each([
  ['a lead that never looked like it', 'Beta'],
  ['a lead that looked like it', 'Acme'],
])(
  'takes no row of %s, and says the same, for the one that a write hit, where somebody types over it and goes on there',
  (_what, title) => {
    const world = worldWithLeads(['Acme', title]);
    changeRecord(world, leadKey(2), { 'about.url': 'agency.example' });
    pull(world);
    cycles(world, 2);
    const [acme, beta] = [hitRow(world, 1), rowOf(world, leadKey(2))];
    const typed = { 'about.url': textCell('acme.example'), 'about.description': textCell('Sells anvils') };
    Object.assign(acme.cells, typed, { 'custom.team': textCell('North') });
    cycles(world, 2);
    expect(acme.cells).toMatchObject(typed);
    expect(beta.cells).toMatchObject(written);
  },
);

it('S3: takes no row that lost its ID for the one that a write hit, if it shows by right what the write was to put there', () => {
  const world = worldWithLeads(['Acme', 'Beta']);
  const [acme, beta] = [rowOf(world, leadKey(1)), rowOf(world, leadKey(2))];
  const was = { ...beta.cells };
  changeRecord(world, leadKey(2), { title: 'Gamma', 'about.url': 'agency.example' });
  pull(world);
  cycles(world, 2);
  const id = beta.id;
  beta.id = emptyCell;
  hitRow(world, 1, { cells: { ...titled('Gamma'), ...written }, sent: { idSeen: id, was } });
  cycles(world, 3);
  expect(acme.cells['title']).toEqual(textCell('Acme'));
  expect(beta).toMatchObject({ id, cells: { ...titled('Gamma'), ...written } });
  expect(world.outbox.size).toBe(0);
});

it('still mends a row that comes back where another write was mended meanwhile', () => {
  const world = worldWithLeads(['Acme', 'Beta']);
  const acme = hitRow(world, 1);
  removeRow(world, leadKey(1));
  cycle(world);
  hitRow(world, 2, { name: 'w2' });
  cycles(world, 3);
  expect([...world.openWrites.keys()]).toEqual(['w1']);
  world.sheet.lead.push(acme);
  cycles(world, 2);
  expect(acme.cells['about.url']).toEqual(emptyCell);
  expect(world.outbox.size).toBe(0);
});

it('leaves a row that comes back because somebody wants it as the CRM has it by now, also where a write had put the same there', () => {
  const world = worldWithLeads(['Acme', 'Beta']);
  hitRow(world, 1);
  removeRow(world, leadKey(1));
  cycles(world, 2);
  changeRecord(world, leadKey(1), { 'about.url': 'agency.example' });
  pull(world);
  world.decisions.set('vanished:lead-1', 'restore');
  cycles(world, 4);
  expect(rowOf(world, leadKey(1)).cells).toMatchObject(written);
  expect(world.outbox.size).toBe(0);
});

it('leaves what the CRM says of a row that is mended, while a claim is not answered yet that may have covered one of the same write', () => {
  const world = worldWithLeads(['Acme', 'Beta']);
  const acme = rowOf(world, leadKey(1));
  const [first, late] = ['new-00000000abcd-000000000001', 'new-00000000abcd-000000000002'].map(textCell);
  const claim = (id: Cell = emptyCell) => setTo(emptyCell, { id, cells: {}, position: 9 });
  const kept = keptRow(acme.id, { ...acme.cells });
  const sets = [
    { ...claim(first), kept: keptRow(emptyCell, titled('Delta')) },
    setTo(acme.id, { slot: 1, cells: titled('From the CRM'), kept }),
  ];
  const settlesAt = world.now + 60_000;
  world.openWrites.set('w1', openWrite({ outcome: 'answered', sets }));
  world.openWrites.set('w2', { ...openWrite({ sets: [claim(late)] }), id: 'w2', settlesAt });
  changeRecord(world, leadKey(1), { title: 'From the CRM' });
  pull(world);
  cycles(world, 4);
  expect(acme.cells).toMatchObject(titled('From the CRM'));
  expect([...world.openWrites.keys()]).toEqual(['w1', 'w2']);
});

it('leaves a row its ID that somebody filtered away while it got that, although all that stood there was written over', () => {
  const world = worldWithLeads(['Acme']);
  const acme = rowOf(world, leadKey(1));
  const { id } = acme;
  const kept = keptRow(emptyCell, blankCells(['title']));
  const claim = textCell('new-00000000abcd-000000000001');
  const set = setTo(claim, { id, cells: titled('Acme'), was: titled('acme'), kept });
  world.openWrites.set('w1', openWrite({ outcome: 'answered', sets: [set] }));
  cycle(world);
  expect(acme).toMatchObject({ id, cells: titled('Acme') });
});

it('leaves a row its ID that somebody filtered away while it got that, also where it stands elsewhere by now', () => {
  const world = worldWithLeads(['Acme']);
  const acme = rowOf(world, leadKey(1));
  const { id } = acme;
  const kept = keptRow(emptyCell, blankCells(['title']));
  const claim = textCell('new-00000000abcd-000000000001');
  const set = setTo(claim, { id, cells: titled('Acme'), was: titled('acme'), kept, position: 2 });
  world.openWrites.set('w1', openWrite({ outcome: 'answered', sets: [set] }));
  cycle(world);
  expect(acme).toMatchObject({ id, cells: titled('Acme') });
});

it.each([
  ['the right row stands where it was to go', 1],
  ['the right row stands elsewhere by now', 2],
  ['both rows stand elsewhere by now', 5],
])(
  'S3: clears the blank row that a late write hit, also where the right row got the same from another write and %s',
  (_where, position) => {
    const world = worldWithLeads(['Acme']);
    const { id } = rowOf(world, leadKey(1));
    const astray = addRow(world, 'lead', titled('Acme'));
    const kept = keptRow(emptyCell, blankCells(['title']));
    const set = setTo(id, { cells: titled('Acme'), was: titled('acme'), kept, position });
    world.openWrites.set('w1', openWrite({ outcome: 'answered', sets: [set] }));
    cycles(world, 3);
    expect(astray.cells['title']).toEqual(emptyCell);
    expect(world.outbox.size).toBe(0);
  },
);

it('S2: gives the row its ID back whose cells fit, where our word went over those of two and somebody deleted the other one', () => {
  const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
  const word = textCell('Pending: waiting to be sent to the CRM');
  const beta = rowOf(world, leadKey(2));
  const own = beta.id;
  const sets = [rowOf(world, leadKey(1)), beta].map(({ cells, id }, slot) =>
    setTo(emptyCell, { id: word, slot, position: slot + 1, cells: {}, kept: keptRow(id, { ...cells }) }),
  );
  world.openWrites.set('w1', openWrite({ outcome: 'answered', sets }));
  removeRow(world, leadKey(1));
  Object.assign(beta, { id: word });
  cycles(world, 2);
  expect(beta.id).toEqual(own);
});

it('S3: gives each of several rows that look the same its own ID back, where our word went over those of all', () => {
  const world = worldWithLeads(['Acme', 'Acme', 'Acme']);
  const word = textCell('Pending: waiting to be sent to the CRM');
  const rows = [1, 2, 3].map((id) => rowOf(world, leadKey(id)));
  const ids = rows.map(({ id }) => id);
  const sets = rows.map(({ cells, id }, slot) =>
    setTo(emptyCell, { id: word, slot, position: slot + 1, cells: {}, kept: keptRow(id, { ...cells }) }),
  );
  world.openWrites.set('w1', openWrite({ outcome: 'answered', sets }));
  for (const row of rows) row.id = word;
  cycles(world, 2);
  expect(rows.map(({ id }) => id)).toEqual(ids);
});

it('S13: mends the cells of people’s own of a row that has got another ID since, and of no other row that has the ID of then', () => {
  const world = worldWithLeads(['Acme', 'Beta']);
  const acme = rowOf(world, leadKey(1));
  const others = [{ column: 9, written: acme.id }];
  const kept = keptRow(rowOf(world, leadKey(2)).id, { ...acme.cells });
  const set = setTo(emptyCell, { cells: {}, others, kept });
  world.openWrites.set('w1', openWrite({ outcome: 'answered', sets: [set] }));
  expect(cycle(world).table.map(({ write }) => write)).toMatchObject([{ idSeen: acme.id, others }]);
});

it('S13: mends the cells of people’s own of a row in which somebody types meanwhile, also where another row looks as it did', () => {
  const world = worldWithLeads(['Acme', 'Acme']);
  const acme = rowOf(world, leadKey(1));
  const blank = blankCells(fieldsOf(world, 'lead').map(({ name }) => name));
  const kept = keptRow(acme.id, { ...blank, ...acme.cells });
  const others = [{ column: 9, written: textCell('Written') }];
  const set = setTo(emptyCell, { cells: {}, others, kept });
  world.openWrites.set('w1', openWrite({ outcome: 'answered', sets: [set] }));
  Object.assign(acme.cells, written);
  expect(cycle(world).table.map(({ write }) => write)).toMatchObject([{ idSeen: acme.id, others }]);
});
