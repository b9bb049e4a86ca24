import { describe, expect, it } from 'vitest';
import { emptyCell, textCell } from '../../src/core/cell.ts';
import type { OpenWrite } from '../../src/core/open-write.ts';
import { deleteOf, keptRow, openWrite, place, setTo } from '../support/open-writes.ts';
import { addRow, leadKey, removeRow, rowOf, type SheetRow, type World } from '../support/world.ts';
import { cycle, worldWithLeads } from '../support/world-daemon.ts';

const columns = { headers: place.headers, columns: { title: 1, status_name: 2 } };
const filtered = { lead: { ...columns, hiddenRows: [2] } };
const titlesOf = (rows: readonly SheetRow[]) => rows.map(({ cells }) => cells['title']);

describe('S2: what a write whose reply was lost put into a row that a filter hides', () => {
  /** A write of a title for Acme in the second row, of which no reply came, and which found nothing to keep there. */
  function lose(world: World, rest: Partial<OpenWrite> = {}): void {
    const sent = setTo(rowOf(world, leadKey(1)).id, { position: 2, cells: { title: textCell('Acme & Co') } });
    const settlesAt = world.now + 180_000;
    world.openWrites.set('w1', { ...openWrite({ sets: [sent] }), places: filtered, settlesAt, ...rest });
  }

  const titlesSent = ({ outbox }: World) => [...outbox.values()].map(({ fields }) => fields['title']);

  it('is taken back to what both sides had', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    lose(world);
    const beta = rowOf(world, leadKey(2));
    beta.cells['title'] = textCell('Acme & Co');
    cycle(world);
    expect(beta.cells['title']).toEqual(textCell('Beta'));
    cycle(world);
    expect(world.outbox.size).toBe(0);
  });

  it('is taken back to what was typed into a new row and is on its way', () => {
    const world = worldWithLeads(['Acme']);
    const gamma = addRow(world, 'lead', { title: textCell('Gamma') });
    while (world.outbox.size === 0) cycle(world);
    lose(world);
    gamma.cells['title'] = textCell('Acme & Co');
    cycle(world);
    expect(gamma.cells['title']).toEqual(textCell('Gamma'));
    cycle(world);
    expect(titlesSent(world)).toEqual(['Gamma']);
  });

  it.each([
    [
      'its own row shows it too',
      (world: World) => {
        rowOf(world, leadKey(1)).cells['title'] = textCell('Acme & Co');
      },
    ],
    ['no row was hidden', (world: World) => lose(world, { places: { lead: columns } })],
  ])('is somebody’s own where %s', (_, change) => {
    const world = worldWithLeads(['Acme', 'Beta']);
    lose(world);
    change(world);
    rowOf(world, leadKey(2)).cells['title'] = textCell('Acme & Co');
    for (let count = 0; count < 3; count += 1) cycle(world);
    expect(titlesSent(world)).toContain('Acme & Co');
  });
});

describe('S2: what a write put into a row that somebody hid by a filter in that moment', () => {
  /** A row that somebody typed, and was read; then a write of a title for Acme reached it, and Acme's row got that title by another one. */
  function hit(text = 'Gamma'): { readonly world: World; readonly row: SheetRow } {
    const world = worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell(text), status_name: textCell('New') });
    cycle(world);
    const kept = keptRow(emptyCell, { title: emptyCell, status_name: emptyCell });
    const cells = { title: textCell('Acme & Co') };
    const sent = { ...setTo(rowOf(world, leadKey(1)).id, { position: 2, cells }), kept };
    world.openWrites.set('w1!0', {
      ...openWrite({ outcome: 'answered', sets: [sent] }),
      id: 'w1!0',
      places: { lead: columns },
    });
    for (const each of [row, rowOf(world, leadKey(1))]) each.cells['title'] = textCell('Acme & Co');
    return { world, row };
  }

  it('is taken back to what the read before showed, also in a row that nobody has a record of', () => {
    const { world, row } = hit();
    cycle(world);
    expect(row.cells['title']).toEqual(textCell('Gamma'));
    cycle(world);
    expect([...world.openWrites.keys()].filter((id) => id.startsWith('w1'))).toEqual([]);
  });

  it('is taken back where a claim reached the row as well', () => {
    const { world, row } = hit();
    row.id = textCell('new-1');
    while (world.outbox.size === 0) cycle(world);
    expect([...world.outbox.values()].map(({ fields }) => fields['title'])).toContain('Gamma');
  });

  /** A row with all that Acme's row shows, and this ID; then a claim reached it. */
  function claim(idOfCopy: (acme: SheetRow) => SheetRow['id']): {
    readonly world: World;
    readonly row: SheetRow;
  } {
    const world = worldWithLeads(['Acme']);
    const acme = rowOf(world, leadKey(1));
    const row = addRow(world, 'lead', { ...acme.cells });
    row.id = idOfCopy(acme);
    cycle(world);
    row.id = textCell('new-1');
    const kept = keptRow(emptyCell, { title: emptyCell, status_name: emptyCell });
    const sent = { ...setTo(emptyCell, { position: 2, id: row.id, cells: {} }), kept };
    const write = openWrite({ outcome: 'answered', sets: [sent] });
    world.openWrites.set('w1!0', { ...write, id: 'w1!0', places: { lead: columns } });
    for (let count = 0; count < 4; count += 1) cycle(world);
    return { world, row };
  }

  it('is taken back where it is a claim that took the place of the ID of a copy', () => {
    const { world, row } = claim(({ id }) => id);
    expect(row.id).toEqual(rowOf(world, leadKey(1)).id);
    expect(world.outbox.size).toBe(0);
  });

  it('stays where it is the claim of a new row that looks like another one', () => {
    const { world, row } = claim(() => emptyCell);
    expect(row.id).not.toEqual(rowOf(world, leadKey(1)).id);
  });

  it('is somebody’s own where the read before showed it already', () => {
    const { world, row } = hit('Acme & Co');
    for (let count = 0; count < 3; count += 1) cycle(world);
    expect(row.cells['title']).toEqual(textCell('Acme & Co'));
  });
});

describe('S4: a row that a delete took although it was another one, while a filter hid it', () => {
  /** Acme's row was to go, and another one did. */
  const takeAnother = (world: World) =>
    world.openWrites.set('w1~', {
      ...openWrite({ outcome: 'landed', deletes: [deleteOf(rowOf(world, leadKey(1)).id)] }),
      id: 'w1~',
      places: filtered,
    });
  const open = () => worldWithLeads(['Acme', 'Beta'], { policy: { vanishedRows: 'trash' } });
  const isOwn = ({ id }: SheetRow) => id.kind !== 'empty';

  it('comes back, and its record stays', () => {
    const world = open();
    takeAnother(world);
    removeRow(world, leadKey(2));
    cycle(world);
    expect(titlesOf(world.sheet.lead.filter(isOwn))).toEqual([textCell('Acme'), textCell('Beta')]);
    expect(world.openWrites.has('w1~')).toBe(false);
  });

  it('comes back as it was typed where its record is still to be created', () => {
    const world = open();
    const gamma = addRow(world, 'lead', { title: textCell('Gamma') });
    while (world.outbox.size === 0) cycle(world);
    takeAnother(world);
    world.sheet.lead.splice(world.sheet.lead.indexOf(gamma), 1);
    cycle(world);
    expect(titlesOf(world.sheet.lead)).toContainEqual(textCell('Gamma'));
    expect([...world.outbox.values()]).toMatchObject([{ kind: 'create', fields: { title: 'Gamma' } }]);
  });

  it('is somebody’s own doing where the row is gone that was to go', () => {
    const world = open();
    takeAnother(world);
    removeRow(world, leadKey(1));
    removeRow(world, leadKey(2));
    for (let count = 0; count < 4; count += 1) cycle(world);
    expect(titlesOf(world.sheet.lead.filter(isOwn))).toEqual([]);
  });
});
