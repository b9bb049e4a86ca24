import { describe, expect, it, test } from 'vitest';
import { type Cell, describeCell, emptyCell, numberCell, textCell } from '../../src/core/cell.ts';
import { isQuiet } from '../../src/core/decide/plan.ts';
import {
  addRecord,
  addRow,
  changeRecord,
  copyRow,
  createWorld,
  leadKey,
  recordOf,
  removeRecord,
  removeRow,
  rowOf,
  type SheetRow,
  type World,
} from '../support/world.ts';
import { cycle, pull, settle, worldWithLeads } from '../support/world-daemon.ts';

const [acme, beta, gamma] = [leadKey(1), leadKey(2), leadKey(3)];
const syncOf = (row: SheetRow) => describeCell(row.sync);
const titles = (world: World) => [...world.crm.values()].map(({ fields }) => fields['title']);
const ids = (world: World) => world.sheet.lead.map(({ id }) => describeCell(id));

describe('an ID that somebody changed', () => {
  it.each<[to: string, cell: Cell]>([
    ['nothing', emptyCell],
    ['a number that nobody has', numberCell(999)],
    ['some words', textCell('lost')],
    ['the ID of another row', numberCell(2)],
  ])('to %s is put back where the row shows what it had, and the journal says so', (_to, cell) => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
    rowOf(world, acme).id = cell;
    settle(world);
    expect(ids(world)).toEqual(['1', '2', '3']);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
    expect(world.journal.at(-1)).toMatchObject({
      key: acme,
      kind: 'repair',
      side: 'table',
      cause: 'its ID was lost, and found again by what the row shows',
    });
    expect(isQuiet(settle(world))).toBe(true);
  });

  it('in every row at once is put back everywhere, and no brake stops it', () => {
    const world = worldWithLeads(Array.from({ length: 20 }, (_, index) => `Lead ${index + 1}`));
    for (const row of world.sheet.lead) row.id = emptyCell;
    expect(settle(world).brakes).toEqual([]);
    expect(new Set(ids(world)).size).toBe(20);
    expect(world.crm.size).toBe(20);
  });

  it('waits for a person where two records show the same', () => {
    const world = worldWithLeads(['Twin', 'Twin', 'Gamma']);
    const row = rowOf(world, beta);
    row.id = emptyCell;
    settle(world);
    expect([syncOf(row), row.id]).toEqual([
      'Held: This looks like record 2, whose row is missing. Put 2 into the ID cell, or change the row to make it a new record.',
      emptyCell,
    ]);
    rowOf(world, acme).id = textCell('lost');
    settle(world);
    expect(syncOf(row)).toMatch(
      /^Held: This looks like the records 1, 2, whose rows are missing\. Put the right one/,
    );
    expect([ids(world), titles(world)]).toEqual([
      ['lost', '(empty)', '3'],
      ['Twin', 'Twin', 'Gamma'],
    ]);
  });

  it('waits for a person where two rows show what the record had', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    row.id = emptyCell;
    world.sheet.lead.push(structuredClone(row));
    settle(world);
    expect(world.sheet.lead.map(syncOf)).toEqual([
      expect.stringMatching(/^Held: This looks like record 1/),
      expect.stringMatching(/^Synced /),
      expect.stringMatching(/^Held: This looks like record 1/),
    ]);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it('to nothing in a row that was edited as well is held, because it looks like the record', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
    const row = rowOf(world, acme);
    row.id = emptyCell;
    row.cells['about.url'] = textCell('https://acme.example');
    settle(world);
    expect(syncOf(row)).toMatch(
      /^Held: This looks like record 1, whose row is missing\. Put 1 into the ID cell/,
    );
    row.id = numberCell(1);
    settle(world);
    expect(recordOf(world, acme).fields['about.url']).toBe('https://acme.example');
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S3: to nothing in a row whose title was edited as well is held, because two other values tell the record', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
    changeRecord(world, acme, { status_name: 'in_talks', 'about.url': 'https://acme.example' });
    settle(world);
    const row = rowOf(world, acme);
    row.id = emptyCell;
    row.cells['title'] = textCell('Acme GmbH');
    settle(world);
    expect(syncOf(row)).toMatch(/^Held: This looks like record 1, whose row is missing/);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S15: to nothing is told first, also where the row holds what can not be sent', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    row.id = emptyCell;
    row.cells['status_name'] = textCell('nonsense');
    settle(world);
    expect(syncOf(row)).toMatch(/^Held: This looks like record 1, whose row is missing/);
    row.id = numberCell(1);
    settle(world);
    expect(syncOf(row)).toMatch(/^Error: “nonsense” is not known/);
  });

  it('S3: to nothing is no sign of another record that was only made in the same minute', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    removeRow(world, beta);
    removeRecord(world, acme);
    row.cells['title'] = textCell('Acme GmbH');
    settle(world);
    row.id = emptyCell;
    settle(world);
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
      /^Held: This row is a copy: .+, and it looks like record 1, whose row is missing\. Put 1/,
    ],
  ] as const)(
    'to %s in a row that was edited as well is held, and its record has not vanished',
    (_to, id, sync) => {
      const world = worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
      const row = rowOf(world, acme);
      row.id = id;
      row.cells['about.url'] = textCell('https://acme.example');
      settle(world);
      expect(syncOf(row)).toMatch(sync);
      expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
      expect(recordOf(world, beta).fields['about.url']).toBeNull();
    },
  );

  it('to one that nobody knows, in a row that looks like nothing, is held', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
    const row = addRow(world, 'lead', { title: textCell('New') });
    row.id = numberCell(999);
    settle(world);
    expect(syncOf(row)).toBe(
      'Held: No record of the CRM has the ID “999”. Clear the ID to make this a new record, or undo the change.',
    );
  });

  it.each<[ids: readonly Cell[], was: string]>([
    [[numberCell(2), numberCell(3), numberCell(3)], 'those of the rows below'],
    [[numberCell(2), emptyCell, numberCell(3)], 'that of a row that lost its own'],
  ])('to %j, %s, is put back in every row that shows what its record had', (given) => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
    for (const [index, row] of world.sheet.lead.entries()) row.id = given[index] ?? emptyCell;
    settle(world);
    expect([ids(world), titles(world)]).toEqual([
      ['1', '2', '3'],
      ['Acme', 'Beta', 'Gamma'],
    ]);
  });

  it('S4: to that of a record without a row is held where the row shows exactly another one, and nothing is deleted', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
    removeRow(world, gamma);
    rowOf(world, acme).id = numberCell(3);
    settle(world);
    expect(syncOf(rowOf(world, gamma))).toMatch(
      /^Held: This row shows the values of record 1 instead of its own\./,
    );
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('is no reason for anything before the CRM was read once', () => {
    const world = createWorld();
    addRow(world, 'lead', { title: textCell('Acme') }).id = numberCell(1);
    cycle(world);
    expect(isQuiet(cycle(world))).toBe(true);
  });

  it('to text that is the same number is the same ID', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    rowOf(world, acme).id = textCell('1');
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    settle(world);
    expect(titles(world)).toEqual(['Acme GmbH', 'Beta']);
  });
});

describe('an ID that stands in the row of another record', () => {
  it.each([
    [
      'an ID that nobody has',
      numberCell(77),
      /^Held: No record of the CRM has the ID “77”, and this looks like/,
    ],
    ['nothing', emptyCell, /^Held: This looks like record 2/],
  ])('S2: is held, although that row was edited, while the own row has %s', (_what, id, sync) => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'trash' } });
    const [one, two] = [rowOf(world, acme), rowOf(world, beta)];
    [one.id, two.id] = [two.id, id];
    one.cells['about.url'] = textCell('https://acme.example');
    settle(world);
    expect([syncOf(one), syncOf(two)]).toEqual([
      expect.stringMatching(/^Held: This row shows the values of record 1 instead of its own/),
      expect.stringMatching(sync),
    ]);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });
});

test('S2: an ID that stands in the row of another record is held also when its own row was deleted', () => {
  const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
  const row = rowOf(world, acme);
  removeRow(world, beta);
  row.id = numberCell(2);
  row.cells['about.url'] = textCell('https://acme.example');
  settle(world);
  expect(syncOf(row)).toMatch(/^Held: This row shows the values of record 1 instead of its own/);
  expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
});

test('S2: a record that is deleted is remembered for as long as its values stand in the row of another one', () => {
  const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
  const [one, two] = [rowOf(world, acme), rowOf(world, beta)];
  [one.id, two.id] = [two.id, numberCell(77)];
  one.cells['about.url'] = textCell('https://acme.example');
  removeRecord(world, acme);
  settle(world);
  settle(world);
  expect(syncOf(one)).toMatch(/^Held: This row shows the values of record 1 instead of its own/);
  expect(titles(world)).toEqual(['Beta', 'Gamma']);
});

describe('rows whose IDs changed places', () => {
  /** Gives every row the ID of the next. */
  function rotateIds(...rows: readonly SheetRow[]) {
    const given = rows.map(({ id }) => id);
    for (const [index, row] of rows.entries()) row.id = given[(index + 1) % given.length] ?? emptyCell;
  }
  const rowsOf = (world: World, ...keys: readonly (typeof acme)[]) => keys.map((key) => rowOf(world, key));

  it('S2: are held, and neither record takes the values of the other', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    rotateIds(...rowsOf(world, acme, beta));
    const plan = settle(world);
    expect(plan.holds.map(({ id, reason, decision }) => [id, reason, decision])).toEqual([
      ['2', expect.stringContaining('the values of record 1'), 'swap:lead-2'],
      ['1', expect.stringContaining('the values of record 2'), 'swap:lead-1'],
    ]);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  /** Records that the CRM made one after the other. */
  function worldWithDates(...made: readonly string[]): World {
    const world = createWorld();
    for (const title of made) {
      addRecord(world, 'lead', { title });
      pull(world);
    }
    settle(world);
    return world;
  }

  it('S2: get them back where their values tell it, those too that nobody types', () => {
    const world = worldWithDates('Acme', 'Beta', 'Gamma');
    rotateIds(...rowsOf(world, acme, beta));
    expect(settle(world).holds).toEqual([]);
    expect([ids(world), titles(world)]).toEqual([
      ['1', '2', '3'],
      ['Acme', 'Beta', 'Gamma'],
    ]);
    expect(world.journal.filter(({ kind }) => kind === 'repair').map(({ key }) => key)).toEqual([acme, beta]);
  });

  it('S2: are held also while nobody knows which row is the one of the other record', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
    rotateIds(...rowsOf(world, acme, beta));
    for (const [index, row] of [rowOf(world, beta), copyRow(world, beta)].entries())
      row.cells['title'] = textCell(`Acme ${index}`);
    expect(settle(world).holds).toHaveLength(3);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: are held where a third record has the same values', () => {
    const world = worldWithDates('Acme', 'Beta', 'Gamma');
    changeRecord(world, gamma, { ...recordOf(world, beta).fields });
    settle(world);
    rotateIds(...rowsOf(world, acme, beta));
    expect(settle(world).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Beta']);
  });

  it.each([
    ['held', worldWithLeads(['Acme', 'Beta', 'Gamma']), ['Acme', 'Beta', 'Gamma']],
    ['put back', worldWithDates('Acme', 'Beta', 'Gamma'), ['Beta', 'Gamma']],
  ])('S2: are %s also where one of the records is deleted meanwhile', (_are, world, shown) => {
    rotateIds(...rowsOf(world, acme, beta));
    removeRecord(world, acme);
    settle(world);
    expect(titles(world)).toEqual(['Beta', 'Gamma']);
    expect(world.sheet.lead.map(({ cells }) => describeCell(cells['title'] ?? emptyCell))).toEqual(shown);
  });

  it('S2: are held with an edit on top of one of them as well', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
    const [one, two] = rowsOf(world, acme, beta);
    rotateIds(one!, two!);
    two!.cells['title'] = textCell('Beta GmbH');
    expect(settle(world).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: are held with edits on top of both, as long as two values tell whose they are', () => {
    const world = createWorld();
    for (const title of ['Acme', 'Beta', 'Gamma']) {
      addRecord(world, 'lead', { title, 'about.url': `https://${title}.example` });
      pull(world);
    }
    settle(world);
    const [one, two] = rowsOf(world, acme, beta);
    rotateIds(one!, two!);
    one!.cells['title'] = textCell('Acme GmbH');
    two!.cells['about.description'] = textCell('Typed');
    expect(settle(world).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: in a circle of three trip the brake', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
    rotateIds(...rowsOf(world, acme, beta, gamma));
    expect(settle(world).brakes).toMatchObject([{ scope: 'brake:lead:torn' }]);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: are held when only what the CRM shows tells them apart', () => {
    const world = createWorld();
    for (const title of ['Twin', 'Twin', 'Twin']) {
      addRecord(world, 'lead', { title });
      pull(world);
    }
    settle(world);
    const created = (key: typeof acme) => recordOf(world, key).fields['created_at'];
    expect(created(acme)).not.toBe(created(beta));
    rotateIds(...rowsOf(world, acme, beta, gamma));
    expect(settle(world).holds).toHaveLength(3);
  });

  it('are well again when they are put back', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    rotateIds(...rowsOf(world, acme, beta));
    settle(world);
    rotateIds(...rowsOf(world, beta, acme));
    expect(settle(world).holds).toEqual([]);
  });

  it('are taken as they are once a person says that this was meant', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    rotateIds(...rowsOf(world, acme, beta));
    for (const { decision } of settle(world).holds) world.decisions.set(decision ?? '', 'approve');
    settle(world);
    expect([titles(world), [...world.decisions]]).toEqual([['Beta', 'Acme'], []]);
  });
});

describe('two rows whose values were torn apart', () => {
  it('S2: in several columns are held', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
    for (const key of [acme, beta, gamma])
      changeRecord(world, key, { status_name: key === acme ? 'in_talks' : null });
    settle(world);
    const [one, two] = [rowOf(world, acme), rowOf(world, beta)];
    for (const name of ['title', 'status_name']) {
      const [left, right] = [one.cells[name] ?? emptyCell, two.cells[name] ?? emptyCell];
      [one.cells[name], two.cells[name]] = [right, left];
    }
    one.cells['about.description'] = textCell('Typed');
    expect(settle(world).holds).toHaveLength(2);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: says of the row that was copied from only what is true of it', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
    for (const key of [acme, beta, gamma])
      changeRecord(world, key, { status_name: key === beta ? 'in_talks' : null });
    settle(world);
    for (const name of ['title', 'status_name'])
      rowOf(world, acme).cells[name] = rowOf(world, beta).cells[name] ?? emptyCell;
    rowOf(world, beta).cells['about.description'] = textCell('Typed');
    settle(world);
    expect(syncOf(rowOf(world, acme))).toMatch(/^Held: This row shows the values of record 2 instead/);
    expect(syncOf(rowOf(world, beta))).toMatch(/^Held: The row of record 1 shows values of this one\./);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('are edits where two records only share common values', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma', 'Delta']);
    for (const key of [acme, beta])
      changeRecord(world, key, { status_name: 'in_talks', 'about.description': 'Calls' });
    settle(world);
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    rowOf(world, gamma).cells['status_name'] = textCell('In talks');
    rowOf(world, gamma).cells['about.description'] = textCell('Calls');
    expect(settle(world).holds).toEqual([]);
    expect(recordOf(world, gamma).fields).toMatchObject({
      status_name: 'in_talks',
      'about.description': 'Calls',
    });
  });

  it('are edits where somebody joins two rows and deletes one', () => {
    const world = worldWithLeads(['Acme', 'Beta', 'Gamma']);
    changeRecord(world, beta, { 'about.url': 'https://beta.example', 'about.description': 'Calls' });
    settle(world);
    for (const name of ['about.url', 'about.description'])
      rowOf(world, acme).cells[name] = rowOf(world, beta).cells[name] ?? emptyCell;
    removeRow(world, beta);
    settle(world);
    expect(recordOf(world, acme).fields).toMatchObject({ 'about.url': 'https://beta.example' });
  });
});
