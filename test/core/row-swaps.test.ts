import { describe, expect, it } from 'vitest';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRecord,
  changeRecord,
  copyRow,
  createWorld,
  journalOf,
  leadKey,
  recordOf,
  removeRecord,
  removeRow,
  rowOf,
  type SheetRow,
  type World,
} from '../support/world.ts';
import { pull, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

const [acme, beta, gamma] = [leadKey(1), leadKey(2), leadKey(3)];
const ids = (world: World) => world.sheet.lead.map(({ id }) => describeCell(id));

describe('rows whose IDs changed places', () => {
  /** Gives every row the ID of the next. */
  function rotateIds(...rows: readonly SheetRow[]) {
    const given = rows.map(({ id }) => id);
    for (const [index, row] of rows.entries()) row.id = given[(index + 1) % given.length] ?? emptyCell;
  }
  const rowsOf = (world: World, ...keys: readonly (typeof acme)[]) => keys.map((key) => rowOf(world, key));

  it('S2: are held, and neither record takes the values of the other', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    rotateIds(...rowsOf(world, acme, beta));
    const plan = await settle(world);
    expect(plan.holds.map(({ id, reason, decision }) => [id, reason, decision])).toEqual([
      ['2', expect.stringContaining('the values of record 1'), 'swap:lead-2'],
      ['1', expect.stringContaining('the values of record 2'), 'swap:lead-1'],
    ]);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  /** Records that the CRM made one after the other. */
  async function worldWithDates(...made: readonly string[]): Promise<World> {
    const world = createWorld();
    for (const title of made) {
      addRecord(world, 'lead', { title });
      await pull(world);
    }
    await settle(world);
    return world;
  }

  it('S2: fault 35: get them back where their values tell it, those too that nobody types', async () => {
    const world = await worldWithDates('Acme', 'Beta', 'Gamma');
    rotateIds(...rowsOf(world, acme, beta));
    expect((await settle(world)).holds).toEqual([]);
    expect([ids(world), titles(world)]).toEqual([
      ['1', '2', '3'],
      ['Acme', 'Beta', 'Gamma'],
    ]);
    expect(
      journalOf(world)
        .filter(({ kind }) => kind === 'repair')
        .map(({ key }) => key),
    ).toEqual([acme, beta]);
  });

  it('S2: are held also while nobody knows which row is the one of the other record', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    rotateIds(...rowsOf(world, acme, beta));
    for (const [index, row] of [rowOf(world, beta), copyRow(world, beta)].entries())
      row.cells['title'] = textCell(`Acme ${index}`);
    expect((await settle(world)).holds).toHaveLength(3);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: are held also where nothing but a no tells them apart', async () => {
    const world = await worldWithLeads(['Twin', 'Twin']);
    changeRecord(world, acme, { 'custom.is_vip': false });
    await settle(world);
    rotateIds(...rowsOf(world, acme, beta));
    await settle(world);
    expect([acme, beta].map((key) => recordOf(world, key).fields['custom.is_vip'])).toEqual([false, null]);
  });

  it('S2: are held where a third record has the same values', async () => {
    const world = await worldWithDates('Acme', 'Beta', 'Gamma');
    changeRecord(world, gamma, { ...recordOf(world, beta).fields });
    await settle(world);
    rotateIds(...rowsOf(world, acme, beta));
    expect((await settle(world)).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Beta']);
  });

  it.each([
    ['held', () => worldWithLeads(['Acme', 'Beta', 'Gamma']), ['Acme', 'Beta', 'Gamma']],
    ['put back', () => worldWithDates('Acme', 'Beta', 'Gamma'), ['Beta', 'Gamma']],
  ])('S2: are %s also where one of the records is deleted meanwhile', async (_are, open, shown) => {
    const world = await open();
    rotateIds(...rowsOf(world, acme, beta));
    removeRecord(world, acme);
    await settle(world);
    expect(titles(world)).toEqual(['Beta', 'Gamma']);
    expect(world.sheet.lead.map(({ cells }) => describeCell(cells['title'] ?? emptyCell))).toEqual(shown);
  });

  it('S2: are held also where one of the rows was deleted, its record with it, and came back', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
    const row = rowOf(world, beta);
    removeRow(world, beta);
    await settle(world);
    world.sheet.lead.push(row);
    rotateIds(rowOf(world, acme), row);
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Gamma']);
  });

  it('S2: are held with an edit on top of one of them as well', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    const [one, two] = rowsOf(world, acme, beta);
    rotateIds(one!, two!);
    two!.cells['title'] = textCell('Beta GmbH');
    expect((await settle(world)).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: are held with edits on top of both, as long as two values tell whose they are', async () => {
    const world = createWorld();
    for (const title of ['Acme', 'Beta', 'Gamma']) {
      addRecord(world, 'lead', { title, 'about.url': `https://${title}.example` });
      await pull(world);
    }
    await settle(world);
    const [one, two] = rowsOf(world, acme, beta);
    rotateIds(one!, two!);
    one!.cells['title'] = textCell('Acme GmbH');
    two!.cells['about.description'] = textCell('Typed');
    expect((await settle(world)).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: are held with all else typed over, as long as each shows what only the other record had', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    const rows = rowsOf(world, acme, beta);
    rotateIds(...rows);
    for (const [index, { cells }] of rows.entries()) cells['about.description'] = textCell(`Typed ${index}`);
    expect((await settle(world)).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: are held also where a cell of a column that is new there is still empty', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    for (const key of [acme, beta, gamma])
      changeRecord(world, key, { 'about.url': `https://crm.example/${key.id}` });
    await settle(world);
    const [one, two] = rowsOf(world, acme, beta);
    rotateIds(one!, two!);
    two!.cells['about.url'] = emptyCell;
    const agreement = world.agreements.get('lead-1')!;
    const { 'about.url': _forgotten, ...fields } = agreement.fields;
    world.agreements.set('lead-1', { ...agreement, fields });
    expect((await settle(world)).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: are held where they went round among several rows, with edits on top and one row deleted', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    const [one, three] = rowsOf(world, acme, gamma);
    removeRow(world, beta);
    three!.cells['about.description'] = textCell('Typed');
    [one!.id, three!.id] = [three!.id, textCell('2')];
    expect((await settle(world)).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: in a circle of three trip the brake', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    rotateIds(...rowsOf(world, acme, beta, gamma));
    expect((await settle(world)).brakes).toMatchObject([{ scope: 'brake:lead:torn' }]);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: are held when only what the CRM shows tells them apart', async () => {
    const world = createWorld();
    for (const title of ['Twin', 'Twin', 'Twin']) {
      addRecord(world, 'lead', { title });
      await pull(world);
    }
    await settle(world);
    const created = (key: typeof acme) => recordOf(world, key).fields['created_at'];
    expect(created(acme)).not.toBe(created(beta));
    rotateIds(...rowsOf(world, acme, beta, gamma));
    expect((await settle(world)).holds).toHaveLength(3);
  });

  it('S2: are held where one got beside the values of a third record, and its own values have no ID', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    const first = rowOf(world, acme);
    const wrong = copyRow(world, gamma);
    [wrong.id, first.id] = [first.id, emptyCell];
    const plan = await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
    expect(plan.holds.map(({ id, reason }) => [id, reason])).toEqual([
      ['1', expect.stringContaining('All values of this record stand in a row without its ID')],
      ['', expect.stringContaining('looks like record 1')],
    ]);
    removeRow(world, acme);
    first.id = wrong.id;
    expect((await settle(world)).holds).toEqual([]);
  });

  it('S2: are held where one stayed behind alone, and all else of its row was moved and edited', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    changeRecord(world, acme, { 'about.url': 'https://acme.example', 'about.description': 'Steel' });
    await settle(world);
    const row = rowOf(world, acme);
    const moved = copyRow(world, acme);
    moved.id = emptyCell;
    for (const name of Object.keys(row.cells)) row.cells[name] = emptyCell;
    moved.cells['about.description'] = textCell('Steel and more');
    expect((await settle(world)).holds.map(({ id }) => id)).toEqual(['1', '']);
    expect(recordOf(world, acme).fields).toMatchObject({ title: 'Acme', 'about.description': 'Steel' });
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it('S2: are held where the record whose values they show is gone, and the row of the other one too', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, beta);
    removeRow(world, acme);
    row.id = textCell('1');
    removeRecord(world, beta);
    await pull(world);
    await pull(world);
    const plan = await settle(world);
    expect(titles(world)).toEqual(['Acme']);
    expect(plan.holds).toMatchObject([
      { id: '1', reason: expect.stringContaining('the values of record 2') },
    ]);
  });

  it.each(['Acme', 'Acme GmbH'])(
    'S4: lose no record to the ID of one that is gone, beside %s',
    async (title) => {
      const world = await worldWithLeads(['Acme', 'Beta'], { policy: { vanishedRows: 'trash' } });
      const row = rowOf(world, acme);
      row.cells['about.url'] = textCell('https://acme.example');
      row.cells['about.description'] = textCell('Steel');
      await settle(world);
      removeRecord(world, beta);
      for (let sweeps = 0; sweeps < 3; sweeps += 1) await pull(world);
      await settle(world);
      row.id = textCell('2');
      row.cells['title'] = textCell(title);
      await settle(world);
      expect(titles(world)).toEqual(['Acme']);
      expect([...world.outbox.values()].filter(({ kind }) => kind === 'delete')).toEqual([]);
      expect(ids(world)).toEqual([title === 'Acme' ? '1' : '2']);
    },
  );

  it('are well again when they are put back', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    rotateIds(...rowsOf(world, acme, beta));
    await settle(world);
    rotateIds(...rowsOf(world, beta, acme));
    expect((await settle(world)).holds).toEqual([]);
  });

  it('are taken as they are once a person says that this was meant', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    rotateIds(...rowsOf(world, acme, beta));
    for (const { decision } of (await settle(world)).holds) world.decisions.set(decision ?? '', 'approve');
    await settle(world);
    expect([titles(world), [...world.decisions]]).toEqual([['Beta', 'Acme'], []]);
  });
});

describe('two rows whose values were torn apart', () => {
  it('S2: in several columns are held', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    for (const key of [acme, beta, gamma])
      changeRecord(world, key, { status_name: key === acme ? 'in_talks' : null });
    await settle(world);
    const [one, two] = [rowOf(world, acme), rowOf(world, beta)];
    for (const name of ['title', 'status_name']) {
      const [left, right] = [one.cells[name] ?? emptyCell, two.cells[name] ?? emptyCell];
      [one.cells[name], two.cells[name]] = [right, left];
    }
    one.cells['about.description'] = textCell('Typed');
    expect((await settle(world)).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: says of the row that was copied from only what is true of it', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    for (const key of [acme, beta, gamma])
      changeRecord(world, key, { status_name: key === beta ? 'in_talks' : null });
    await settle(world);
    for (const name of ['title', 'status_name'])
      rowOf(world, acme).cells[name] = rowOf(world, beta).cells[name] ?? emptyCell;
    rowOf(world, beta).cells['about.description'] = textCell('Typed');
    await settle(world);
    expect(syncOf(rowOf(world, acme))).toMatch(/^Held: This row shows the values of record 2 instead/);
    expect(syncOf(rowOf(world, beta))).toMatch(/^Held: The row of record 1 shows values of this one\./);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('are edits where two records only share common values', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma', 'Delta']);
    for (const key of [acme, beta])
      changeRecord(world, key, { status_name: 'in_talks', 'about.description': 'Calls' });
    await settle(world);
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    rowOf(world, gamma).cells['status_name'] = textCell('In talks');
    rowOf(world, gamma).cells['about.description'] = textCell('Calls');
    expect((await settle(world)).holds).toEqual([]);
    expect(recordOf(world, gamma).fields).toMatchObject({
      status_name: 'in_talks',
      'about.description': 'Calls',
    });
  });

  it('are edits where somebody joins two rows and deletes one', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    changeRecord(world, beta, { 'about.url': 'https://beta.example', 'about.description': 'Calls' });
    await settle(world);
    for (const name of ['about.url', 'about.description'])
      rowOf(world, acme).cells[name] = rowOf(world, beta).cells[name] ?? emptyCell;
    removeRow(world, beta);
    await settle(world);
    expect(recordOf(world, acme).fields).toMatchObject({ 'about.url': 'https://beta.example' });
  });
});
