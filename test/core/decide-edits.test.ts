import { describe, expect, it } from 'vitest';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRecord,
  cellFor,
  changeRecord,
  createWorld,
  journalOf,
  leadKey,
  recordOf,
  removeRow,
  rowOf,
} from '../support/world.ts';
import { acme, rest, shownSync, shownTitle, titleOf, typeTitle } from '../support/world-acme.ts';
import { cycle, decideWorld, pull, refuse, settle, worldWithLeads } from '../support/world-daemon.ts';

describe('an update whose answer got lost', () => {
  it('S1: is left to itself where it has landed, because what it replaced is not in the history yet', async () => {
    const world = await worldWithLeads(['Acme']);
    typeTitle(world, 'Acme GmbH');
    await rest(world);
    const [name, item] = [...world.outbox][0] ?? [];
    if (name === undefined || !item) throw new Error('Nothing waits.');
    world.outbox.set(name, { ...item, sentAt: world.clock.now });
    changeRecord(world, acme, { title: 'Acme GmbH' });
    await pull(world);
    await rest(world);
    expect(world.outbox.get(name)).toMatchObject({ base: { title: 'Acme' } });
  });
});

describe('the first fill', () => {
  it('gives every record a row, oldest first, with names instead of ids', async () => {
    const world = createWorld();
    addRecord(world, 'lead', { title: 'Acme', status_name: 'in_talks' });
    addRecord(world, 'lead', { title: '=Beta' });
    addRecord(world, 'opportunity', { lead_id: 1, stage_id: 11, value: 1250.5, confidence: 50 });
    await settle(world);
    expect(world.sheet.lead.map(({ id, cells }) => [id, cells['title'], cells['status_name']])).toEqual([
      [numberCell(1), textCell('Acme'), textCell('In talks')],
      [numberCell(2), textCell('=Beta'), undefined],
    ]);
    expect(world.sheet.opportunity[0]?.cells).toMatchObject({
      lead_id: textCell('Acme (#1)'),
      stage_id: textCell('Sales / New'),
      value: numberCell(1250.5),
    });
    expect(shownSync(world)).toMatch(/^Synced 2026-11-21 /);
  });

  it('is written in parts when it is large', async () => {
    const world = createWorld({ policy: { appendsMax: 2 } });
    for (const title of ['a', 'b', 'c']) addRecord(world, 'lead', { title });
    await pull(world);
    expect((await cycle(world)).table).toHaveLength(2);
    expect((await cycle(world)).table).toHaveLength(1);
    expect(world.sheet.lead).toHaveLength(3);
  });

  it('adopts rows that are equal already without writing their values', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    world.agreements.delete('lead-1');
    const plan = await decideWorld(world);
    expect(plan.table.flatMap(({ write }) => Object.keys('cells' in write ? write.cells : {}))).toEqual([]);
    expect(plan.journal).toMatchObject([{ kind: 'adopt', side: 'both' }]);
  });
});

describe('an edit', () => {
  it('in the CRM is shown in the row', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    changeRecord(world, acme, { title: 'Acme GmbH' });
    await pull(world);
    const plan = await cycle(world);
    expect(plan.table).toHaveLength(1);
    expect(plan.table[0]).toMatchObject({
      key: acme,
      offers: { title: 'Acme GmbH' },
      write: { kind: 'set', cells: { title: textCell('Acme GmbH') } },
      journal: { before: { title: 'Acme' }, after: { title: 'Acme GmbH' }, cause: 'changed in the CRM' },
    });
    expect(plan.outbox.save).toEqual([]);
  });

  it('in the row waits until it rests, then goes to the CRM alone', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    typeTitle(world, 'Acme GmbH');
    const first = await cycle(world);
    expect([isQuiet(first), first.restlessRows]).toEqual([true, 1]);
    const plan = await cycle(world);
    expect(plan.outbox.save).toMatchObject([
      {
        key: acme,
        kind: 'update',
        state: 'waiting',
        fields: { title: 'Acme GmbH' },
        base: { title: 'Acme' },
      },
    ]);
    expect(shownSync(world)).toBe('Pending: waiting to be sent to the CRM');
    await settle(world);
    expect(titleOf(world)).toBe('Acme GmbH');
    expect(shownSync(world)).toMatch(/^Synced /);
  });

  it('of different fields on both sides keeps both', async () => {
    const world = await worldWithLeads(['Acme']);
    typeTitle(world, 'Acme GmbH');
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    await settle(world);
    expect(recordOf(world, acme).fields).toMatchObject({
      title: 'Acme GmbH',
      'about.url': 'https://acme.example',
    });
    expect(rowOf(world, acme).cells['about.url']).toEqual(textCell('https://acme.example'));
  });

  it('that was taken back before it was sent is forgotten', async () => {
    const world = await worldWithLeads(['Acme']);
    typeTitle(world, 'Acme GmbH');
    await rest(world);
    typeTitle(world, 'Acme');
    expect((await cycle(world)).outbox.drop).toEqual([acme]);
  });

  it('that follows another replaces the one that waits', async () => {
    const world = await worldWithLeads(['Acme']);
    typeTitle(world, 'Acme GmbH');
    await rest(world);
    typeTitle(world, 'Acme AG');
    expect((await rest(world)).outbox.save).toMatchObject([
      { fields: { title: 'Acme AG' }, base: { title: 'Acme' } },
    ]);
  });

  it('of a record that is being sent waits for the outcome', async () => {
    const world = await worldWithLeads(['Acme']);
    typeTitle(world, 'Acme GmbH');
    await rest(world);
    for (const [text, item] of world.outbox) world.outbox.set(text, { ...item, state: 'sending' });
    typeTitle(world, 'Acme AG');
    expect((await rest(world)).outbox).toEqual({ save: [], drop: [] });
    expect(shownSync(world)).toBe('Pending: being sent to the CRM');
  });

  it('that the CRM refused stays refused until the row changes', async () => {
    const world = await worldWithLeads(['Acme']);
    typeTitle(world, 'Acme GmbH');
    await rest(world);
    refuse(world);
    expect((await rest(world)).outbox.save).toEqual([]);
    expect(shownSync(world)).toBe('Error: The title is taken.');
    typeTitle(world, 'Acme AG');
    expect((await rest(world)).outbox.save).toMatchObject([
      { state: 'waiting', fields: { title: 'Acme AG' } },
    ]);
  });
});

describe('a cell that can not be sent', () => {
  it.each([
    ['a formula', { kind: 'formula', formula: '=A1' } as const, /^Error: Title holds a formula/],
    ['an error', { kind: 'error', message: '#REF!' } as const, /^Error: Title shows #REF!/],
    ['an emptied title', emptyCell, /^Error: Title can not be empty/],
    ['a title that is too long', textCell('x'.repeat(201)), /^Error: Title is 201 characters long/],
  ])('%s stays as it is, and the Sync cell says why', async (_name, cell, reason) => {
    const world = await worldWithLeads(['Acme']);
    rowOf(world, acme).cells['title'] = cell;
    const plan = await settle(world);
    expect(plan.refusals).toMatchObject([{ entity: 'lead', id: '1', position: 1 }]);
    expect(rowOf(world, acme).cells['title']).toEqual(cell);
    expect(shownSync(world)).toMatch(reason);
    expect(titleOf(world)).toBe('Acme');
  });

  it('does not keep the other cells of its row from the CRM', async () => {
    const world = await worldWithLeads(['Acme']);
    rowOf(world, acme).cells['title'] = emptyCell;
    rowOf(world, acme).cells['about.url'] = textCell('https://acme.example');
    await settle(world);
    expect(recordOf(world, acme).fields).toMatchObject({
      title: 'Acme',
      'about.url': 'https://acme.example',
    });
    expect(shownSync(world)).toMatch(/^Error: Title can not be empty/);
  });

  it('S1: keeps the CRM’s other values where somebody wiped the row but for its ID, and takes what they typed elsewhere in it', async () => {
    const world = await worldWithLeads(['Acme']);
    const had = { 'about.url': 'https://acme.example', 'about.description': 'Met in Rome' };
    changeRecord(world, acme, had);
    await settle(world);
    const { cells } = rowOf(world, acme);
    for (const name of Object.keys(cells)) cells[name] = emptyCell;
    await settle(world);
    expect(recordOf(world, acme).fields).toMatchObject({ title: 'Acme', ...had });
    expect(shownSync(world)).toBe(
      'Error: Title can not be empty. Put “Acme” back, or type another value. ' +
        'What else was emptied stays in the CRM until then. To be rid of the record, delete the row.',
    );
    cells['about.url'] = textCell('https://acme.test');
    await settle(world);
    expect(recordOf(world, acme).fields).toMatchObject({ ...had, 'about.url': 'https://acme.test' });
    typeTitle(world, 'Acme');
    await settle(world);
    expect(recordOf(world, acme).fields).toMatchObject({ title: 'Acme', 'about.description': null });
  });

  it('a formula is kept even where the CRM changes the field', async () => {
    const world = await worldWithLeads(['Acme']);
    rowOf(world, acme).cells['title'] = { kind: 'formula', formula: '=A1' };
    changeRecord(world, acme, { title: 'Acme GmbH' });
    await settle(world);
    expect(rowOf(world, acme).cells['title']).toEqual({ kind: 'formula', formula: '=A1' });
    expect(titleOf(world)).toBe('Acme GmbH');
  });
});

describe('how a value is written', () => {
  it('in other words is put into its usual form, and nothing is sent', async () => {
    const world = await worldWithLeads(['Acme']);
    changeRecord(world, acme, { status_name: 'in_talks' });
    await settle(world);
    rowOf(world, acme).cells['status_name'] = textCell(' IN talks');
    await settle(world);
    expect(rowOf(world, acme).cells['status_name']).toEqual(textCell('In talks'));
    expect(journalOf(world).filter(({ side }) => side === 'crm')).toEqual([]);
  });

  it('a lead that is renamed is renamed in the rows that name it', async () => {
    const world = await worldWithLeads(['Acme']);
    addRecord(world, 'opportunity', { lead_id: 1, stage_id: 11, value: 0, confidence: 0 });
    await settle(world);
    changeRecord(world, acme, { title: 'Acme GmbH' });
    await settle(world);
    expect(world.sheet.opportunity[0]?.cells['lead_id']).toEqual(textCell('Acme GmbH (#1)'));
    expect(journalOf(world).filter(({ side }) => side === 'crm')).toEqual([]);
  });

  it('what only shows is put back when somebody types over it', async () => {
    const world = await worldWithLeads(['Acme']);
    const created = String(recordOf(world, acme).fields['created_at']);
    rowOf(world, acme).cells['created_at'] = textCell('long ago');
    await settle(world);
    expect(rowOf(world, acme).cells['created_at']).toEqual(cellFor(world, 'lead', 'created_at', created));
  });

  it.each([
    [textCell('long ago'), 'long ago'],
    [numberCell(45_000.5), '2023-03-15 12:00'],
    [{ kind: 'boolean', boolean: true } as const, 'TRUE'],
  ])(
    'S1: what stood where the CRM’s value is shown goes into the history, although nobody can read it: %j',
    async (cell, stood) => {
      const world = await worldWithLeads(['Acme']);
      rowOf(world, acme).cells['created_at'] = cell;
      await settle(world);
      const lines = journalOf(world).filter(({ side }) => side === 'table');
      expect(lines.at(-1)).toMatchObject({ cause: 'changed in the CRM', lost: { created_at: stood } });
    },
  );
});

describe('a column that somebody deleted', () => {
  it('is not taken for emptied cells, and comes back with the CRM’s values', async () => {
    const world = await worldWithLeads(['Acme']);
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    await settle(world);
    world.hiddenFields.add('about.url');
    expect(isQuiet(await settle(world))).toBe(true);
    expect(recordOf(world, acme).fields['about.url']).toBe('https://acme.example');
    world.hiddenFields.delete('about.url');
    changeRecord(world, acme, { 'about.url': 'https://acme.test' });
    await settle(world);
    expect(rowOf(world, acme).cells['about.url']).toEqual(textCell('https://acme.test'));
  });
});

describe('a tab that can not be read', () => {
  it('is held with its reason, and nothing is concluded from it', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    world.heldTabs.set('lead', 'The column ID is missing.');
    changeRecord(world, acme, { title: 'Acme GmbH' });
    const plan = await settle(world);
    expect(plan.holds).toEqual([{ entity: 'lead', reason: 'The column ID is missing.' }]);
    expect([...world.agreements.keys()]).toEqual(['lead-1', 'lead-2', 'lead-3']);
    world.heldTabs.clear();
    await settle(world);
    expect(shownTitle(world)).toBe('Acme GmbH');
  });

  it('S4: keeps no delete in the outbox: nobody can see whether its row is still gone, nor was it decided by the rules of now', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
    removeRow(world, acme);
    await rest(world);
    expect(world.outbox.get('lead-1')).toMatchObject({ kind: 'delete', state: 'waiting' });
    world.heldTabs.set('lead', 'Two columns are called Title.');
    await settle(world);
    expect(world.crm.has('lead-1')).toBe(true);
    world.heldTabs.clear();
    await settle(world);
    expect(world.crm.has('lead-1')).toBe(false);
  });

  it('keeps what people decided about it', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    removeRow(world, acme);
    world.decisions.set('vanished:lead-1', 'trash');
    world.heldTabs.set('lead', 'The tab is missing.');
    await settle(world);
    expect([...world.decisions.keys()]).toEqual(['vanished:lead-1']);
  });
});

describe('a row that is sorted elsewhere', () => {
  it('stays the row of its record', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    world.sheet.lead.reverse();
    expect(isQuiet(await cycle(world))).toBe(true);
    removeRow(world, leadKey(2));
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    await settle(world);
    expect([...world.crm.values()].map(({ fields }) => fields['title'])).toEqual([
      'Acme GmbH',
      'Beta',
      'Gamma',
    ]);
  });
});
