import { describe, expect, it, test } from 'vitest';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import {
  booleanCell,
  type Cell,
  describeCell,
  emptyCell,
  numberCell,
  textCell,
} from '../../src/sheet/port/cell.ts';
import {
  addRecord,
  addRow,
  changeRecord,
  createWorld,
  journalOf,
  leadKey,
  recordOf,
  removeRecord,
  removeRow,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, pull, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

const [acme, beta, gamma] = [leadKey(1), leadKey(2), leadKey(3)];
const ids = (world: World) => world.sheet.lead.map(({ id }) => describeCell(id));

describe('an ID that somebody changed', () => {
  it.each<[to: string, cell: Cell]>([
    ['nothing', emptyCell],
    ['a number that nobody has', numberCell(999)],
    ['some words', textCell('lost')],
    ['the ID of another row', numberCell(2)],
  ])(
    'fault 34: to %s is put back where the row shows what it had, and the journal says so',
    async (_to, cell) => {
      const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
      rowOf(world, acme).id = cell;
      await settle(world);
      expect(ids(world)).toEqual(['1', '2', '3']);
      expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
      expect(journalOf(world).at(-1)).toMatchObject({
        key: acme,
        kind: 'repair',
        side: 'table',
        cause: 'its ID was lost, and found again by what the row shows',
      });
      expect(isQuiet(await settle(world))).toBe(true);
    },
  );

  it.each([1, 2])(
    'is put back where a table has put a checkbox into each row, ticked for lead %s',
    async (ticked) => {
      const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
      changeRecord(world, leadKey(ticked), { 'custom.is_vip': true });
      await settle(world);
      world.boxedFields.add('custom.is_vip');
      for (const { cells } of world.sheet.lead) cells['custom.is_vip'] ??= booleanCell(false);
      rowOf(world, beta).id = emptyCell;
      await settle(world);
      expect(ids(world)).toEqual(['1', '2', '3']);
    },
  );

  it('in every row at once is put back everywhere, and no brake stops it', async () => {
    const world = await worldWithLeads(Array.from({ length: 20 }, (_, index) => `Lead ${index + 1}`));
    for (const row of world.sheet.lead) row.id = emptyCell;
    expect((await settle(world)).brakes).toEqual([]);
    expect(new Set(ids(world)).size).toBe(20);
    expect(world.crm.size).toBe(20);
  });

  it('waits for a person where two records show the same', async () => {
    const world = await worldWithLeads(['Twin', 'Twin', 'Gamma']);
    const row = rowOf(world, beta);
    row.id = emptyCell;
    await settle(world);
    expect([syncOf(row), row.id]).toEqual([
      'Held: This looks like record 2, and may be its row. Put 2 into the ID cell, or change the row to make it a new record.',
      emptyCell,
    ]);
    rowOf(world, acme).id = textCell('lost');
    await settle(world);
    expect(syncOf(row)).toMatch(
      /^Held: This looks like the records 1, 2, and may be the row of one of them\. Put the right one/,
    );
    expect([ids(world), titles(world)]).toEqual([
      ['lost', '(empty)', '3'],
      ['Twin', 'Twin', 'Gamma'],
    ]);
  });

  it('waits for a person where two rows show what the record had', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    row.id = emptyCell;
    world.sheet.lead.push(structuredClone(row));
    await settle(world);
    expect(world.sheet.lead.map(syncOf)).toEqual([
      expect.stringMatching(/^Held: This looks like record 1/),
      expect.stringMatching(/^Synced /),
      expect.stringMatching(/^Held: This looks like record 1/),
    ]);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it('to nothing in a row that was edited as well is held, because it looks like the record', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    const row = rowOf(world, acme);
    row.id = emptyCell;
    row.cells['about.url'] = textCell('https://acme.example');
    await settle(world);
    expect(syncOf(row)).toMatch(
      /^Held: This looks like record 1, and may be its row\. Put 1 into the ID cell/,
    );
    row.id = numberCell(1);
    await settle(world);
    expect(recordOf(world, acme).fields['about.url']).toBe('https://acme.example');
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S3: to nothing in a row that shows what only the CRM has yet is held, because a write may have brought that', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    changeRecord(world, acme, { title: 'Acme & Sons' });
    await pull(world);
    const row = rowOf(world, acme);
    Object.assign(row, { id: emptyCell, cells: { ...row.cells, title: textCell('Acme & Sons') } });
    await settle(world);
    expect(syncOf(row)).toMatch(/^Held: This looks like record 1, and may be its row/);
    expect(titles(world)).toEqual(['Acme & Sons', 'Beta', 'Gamma']);
  });

  it('S3: to nothing in a row whose title was edited as well is held, because two other values tell the record', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
    changeRecord(world, acme, { status_name: 'in_talks', 'about.url': 'https://acme.example' });
    await settle(world);
    const row = rowOf(world, acme);
    row.id = emptyCell;
    row.cells['title'] = textCell('Acme GmbH');
    await settle(world);
    expect(syncOf(row)).toMatch(/^Held: This looks like record 1, and may be its row/);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('is not what a new row lacks that shows one value of a lost record, and the unticked box that a table puts into every row', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    await settle(world);
    world.boxedFields.add('custom.is_vip');
    for (const { cells } of world.sheet.lead) cells['custom.is_vip'] = booleanCell(false);
    removeRow(world, acme);
    addRow(world, 'lead', {
      title: textCell('Nova'),
      'about.url': textCell('https://acme.example'),
      'custom.is_vip': booleanCell(false),
    });
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Nova']);
  });

  it('S15: to nothing is told first, also where the row holds what can not be sent', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    row.id = emptyCell;
    row.cells['status_name'] = textCell('nonsense');
    await settle(world);
    expect(syncOf(row)).toMatch(/^Held: This looks like record 1, and may be its row/);
    row.id = numberCell(1);
    await settle(world);
    expect(syncOf(row)).toMatch(/^Error: “nonsense” is not known/);
  });

  it('S3: to nothing is no sign of another record that was only made in the same minute', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    removeRow(world, beta);
    removeRecord(world, acme);
    row.cells['title'] = textCell('Acme GmbH');
    await settle(world);
    row.id = emptyCell;
    await settle(world);
    expect(titles(world)).toEqual(['Beta', 'Acme GmbH']);
  });

  it.each([
    [
      'one that nobody knows',
      numberCell(999),
      /^Held: No record of the CRM has the ID “999”, and this looks like record 1/,
    ],
    [
      'that of another row',
      numberCell(2),
      /^Held: This row is a copy: .+, and it looks like record 1, and may be its row\. Put 1/,
    ],
  ] as const)(
    'to %s in a row that was edited as well is held, and its record has not vanished',
    async (_to, id, sync) => {
      const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
      const row = rowOf(world, acme);
      row.id = id;
      row.cells['about.url'] = textCell('https://acme.example');
      await settle(world);
      expect(syncOf(row)).toMatch(sync);
      expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
      expect(recordOf(world, beta).fields['about.url']).toBeNull();
    },
  );

  it('to one that nobody knows, in a row that looks like nothing, is held', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
    const row = addRow(world, 'lead', { title: textCell('New') });
    row.id = numberCell(999);
    await settle(world);
    expect(syncOf(row)).toBe(
      'Held: No record of the CRM has the ID “999”. Clear the ID to make this a new record, or undo the change.',
    );
  });

  it.each<[ids: readonly Cell[], was: string]>([
    [[numberCell(2), numberCell(3), numberCell(3)], 'those of the rows below'],
    [[numberCell(2), emptyCell, numberCell(3)], 'that of a row that lost its own'],
  ])('to %j, %s, is put back in every row that shows what its record had', async (given) => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
    for (const [index, row] of world.sheet.lead.entries()) row.id = given[index] ?? emptyCell;
    await settle(world);
    expect([ids(world), titles(world)]).toEqual([
      ['1', '2', '3'],
      ['Acme', 'Beta', 'Gamma'],
    ]);
  });

  it('S4: to that of a record without a row is held where the row shows exactly another one, and nothing is deleted', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
    removeRow(world, gamma);
    rowOf(world, acme).id = numberCell(3);
    await settle(world);
    expect(syncOf(rowOf(world, gamma))).toMatch(
      /^Held: This row shows the values of record 1 instead of its own\./,
    );
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('is no reason for anything before the CRM was read once', async () => {
    const world = createWorld();
    addRow(world, 'lead', { title: textCell('Acme') }).id = numberCell(1);
    await cycle(world);
    expect(isQuiet(await cycle(world))).toBe(true);
  });

  it('to text that is the same number is the same ID', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    rowOf(world, acme).id = textCell('1');
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    await settle(world);
    expect(titles(world)).toEqual(['Acme GmbH', 'Beta']);
  });

  it('S3: beside what the last update replaced makes no new record: somebody took the edit back', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    row.cells['title'] = textCell('Acme GmbH');
    await settle(world);
    row.id = emptyCell;
    row.cells['title'] = textCell('Acme');
    await settle(world);
    expect(syncOf(row)).toMatch(/^Held: This looks like record 1, and may be its row/);
    expect(titles(world)).toEqual(['Acme GmbH', 'Beta']);
  });
});

describe('an ID that stands in the row of another record', () => {
  it.each([
    ['every column', []],
    ['a tab without titles', ['title']],
  ])(
    'is held where the record has no row, and the row shows exactly another one, in %s',
    async (_tab, hidden) => {
      const world = createWorld({ policy: { vanishedRows: 'trash' } });
      // Nothing but the titles is one record's alone.
      for (const [title, description, url] of [
        ['Acme', 'Anvils', 'https://one.example'],
        ['Beta', 'Balls', 'https://two.example'],
        ['Coda', 'Anvils', 'https://two.example'],
        ['Dodo', 'Balls', 'https://one.example'],
      ] as const)
        addRecord(world, 'lead', { title, 'about.description': description, 'about.url': url });
      await settle(world);
      for (const field of hidden) world.hiddenFields.add(field);
      await settle(world);
      removeRow(world, acme);
      const row = rowOf(world, beta);
      row.id = numberCell(1);
      await settle(world);
      expect(syncOf(row)).toMatch(/This row shows the values of record 2 instead of its own/);
      expect(titles(world)).toEqual(['Acme', 'Beta', 'Coda', 'Dodo']);
      expect(recordOf(world, acme).fields['about.url']).toBe('https://one.example');
    },
  );

  it.each([
    [
      'an ID that nobody has',
      numberCell(77),
      /^Held: No record of the CRM has the ID “77”, and this looks like/,
    ],
    ['nothing', emptyCell, /^Held: This looks like record 2/],
  ])('S2: is held, although that row was edited, while the own row has %s', async (_what, id, sync) => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
    const [one, two] = [rowOf(world, acme), rowOf(world, beta)];
    [one.id, two.id] = [two.id, id];
    one.cells['about.url'] = textCell('https://acme.example');
    await settle(world);
    expect([syncOf(one), syncOf(two)]).toEqual([
      expect.stringMatching(/^Held: This row shows the values of record 1 instead of its own/),
      expect.stringMatching(sync),
    ]);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });
});

test('S2: an ID that stands in the row of another record is held also when its own row was deleted', async () => {
  const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
  const row = rowOf(world, acme);
  removeRow(world, beta);
  row.id = numberCell(2);
  row.cells['about.url'] = textCell('https://acme.example');
  await settle(world);
  expect(syncOf(row)).toMatch(/^Held: This row shows the values of record 1 instead of its own/);
  expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
});

test('S2: a record that is deleted is remembered for as long as its values stand in the row of another one', async () => {
  const world = await worldWithLeads(['Acme', 'Beta', 'Gamma']);
  const [one, two] = [rowOf(world, acme), rowOf(world, beta)];
  [one.id, two.id] = [two.id, numberCell(77)];
  one.cells['about.url'] = textCell('https://acme.example');
  removeRecord(world, acme);
  await settle(world);
  await settle(world);
  expect(syncOf(one)).toMatch(/^Held: This row shows the values of record 1 instead of its own/);
  expect(titles(world)).toEqual(['Beta', 'Gamma']);
});
