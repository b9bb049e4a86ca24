import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/fields/catalog.ts';
import type { KnownRecord } from '../../src/core/state.ts';
import type { Value } from '../../src/core/value.ts';
import { lazyUserIds } from '../../src/sheet/cells/lead-names.ts';
import { describeCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { sampleCatalog } from '../support/fields.ts';
import {
  addRecord,
  addRow,
  changeRecord,
  clearJournal,
  createWorld,
  journalOf,
  layoutOf,
  leadKey,
  recordOf,
  removeRow,
  restart,
  rowOf,
  type SheetRow,
  type World,
  withCatalog,
} from '../support/world.ts';
import { cycle, push, settle } from '../support/world-daemon.ts';
import { syncOf } from '../support/world-view.ts';

const [owner, team] = ['custom.owner', 'custom.team'] as const;

const naming = (names: Readonly<Record<string, string>>): Catalog => ({
  ...sampleCatalog,
  users: Object.entries(names).map(([id, name]) => ({ id, name })),
});

const ewa = { 9001: 'Ewa Zielińska', 9003: 'Jan Kowalski' };

/** A world at rest with a lead of these users, in which users have these names. */
async function worldWith(names: Readonly<Record<string, string>>, users: Value, list: Value = null) {
  const world = withCatalog({ ...createWorld(), catalog: naming(names) }, naming(names));
  addRecord(world, 'lead', { title: 'Acme', [owner]: users, [team]: list });
  await settle(world);
  clearJournal(world);
  return world;
}

const shown = (world: World, field: string) =>
  describeCell(rowOf(world, leadKey(1)).cells[field] ?? emptyCell);
const inCrm = (world: World, field: string) => recordOf(world, leadKey(1)).fields[field];
const says = (world: World) => syncOf(rowOf(world, leadKey(1)));
const labelsOf = (world: World, name: string) =>
  layoutOf(world)
    .find(({ entity }) => entity === 'lead')
    ?.columns.find(({ field }) => field === name)?.labels;

async function type(world: World, field: string, text: string) {
  rowOf(world, leadKey(1)).cells[field] = textCell(text);
  await settle(world);
  return [inCrm(world, field), says(world)];
}

/** The row is that of the first lead, which goes on, although the CRM is not read meanwhile. */
async function expectKnown(world: World, row: SheetRow): Promise<void> {
  for (const _round of [1, 2, 3, 4]) {
    await cycle(world);
    await push(world);
  }
  expect(recordOf(world, leadKey(1)).fields['title']).toBe('Acme');
  expect(syncOf(row)).toContain('looks like record 1');
}

/** The names in the configuration are others from now on; the daemon begins anew and comes to rest. */
async function rename(before: World, names: Readonly<Record<string, string>>): Promise<World> {
  const world = withCatalog(before, naming(names));
  restart(world);
  const plan = await settle(world);
  expect([plan.brakes, plan.holds, plan.conflicts, plan.refusals]).toEqual([[], [], [], []]);
  expect(journalOf(world).filter(({ side }) => side === 'crm')).toEqual([]);
  return world;
}

describe('users that the configuration names', () => {
  it('are shown by name where they have one, alone and in a list, and offered in the dropdown', async () => {
    const world = await worldWith(ewa, '9001', ['9003', '9007']);
    expect([shown(world, owner), shown(world, team)]).toEqual(['Ewa Zielińska', 'Jan Kowalski, 9007']);
    expect(labelsOf(world, owner)).toEqual(['Ewa Zielińska', 'Jan Kowalski']);
    expect(labelsOf(world, team)).toBeUndefined();
    expect([inCrm(world, owner), inCrm(world, team)]).toEqual(['9001', ['9003', '9007']]);
  });

  it.each([
    ['  jan KOWALSKI ', '9003', 'Jan Kowalski'],
    ['Ewa Zielin\u0301ska', '9001', 'Ewa Zielińska'],
    ['9003', '9003', 'Jan Kowalski'],
    ['Jan Kowalski (9003)', '9003', 'Jan Kowalski'],
    ['9007', '9007', '9007'],
  ])('are understood by name and by id: %s', async (text, id, label) => {
    const world = await worldWith(ewa, null);
    expect(await type(world, owner, text)).toEqual([id, expect.stringMatching(/^Synced/)]);
    expect(shown(world, owner)).toBe(label);
  });

  it('are understood by id in a cell that holds a number', async () => {
    const world = await worldWith(ewa, null);
    rowOf(world, leadKey(1)).cells[owner] = numberCell(9003);
    await settle(world);
    expect([inCrm(world, owner), shown(world, owner)]).toEqual(['9003', 'Jan Kowalski']);
  });

  it.each([
    ['jan kowalski; 9001', ['9003', '9001'], 'Jan Kowalski, Ewa Zielińska'],
    ['9007\nEwa Zielińska', ['9007', '9001'], '9007, Ewa Zielińska'],
  ])('are understood in a list: %s', async (text, ids, label) => {
    const world = await worldWith(ewa, null);
    expect((await type(world, team, text))[0]).toEqual(ids);
    expect(shown(world, team)).toBe(label);
  });

  it('may have a comma in their name', async () => {
    const world = await worldWith({ 9001: 'Zielińska, Ewa', 9003: 'Jan' }, '9001', ['9001', '9003']);
    expect([shown(world, owner), shown(world, team)]).toEqual(['Zielińska, Ewa', 'Zielińska, Ewa, Jan']);
    expect((await type(world, team, 'Jan, 9007, Zielińska, Ewa'))[0]).toEqual(['9003', '9007', '9001']);
  });

  it('are told apart by their ids where two have one name, and then only meant with it', async () => {
    const world = await worldWith({ 9001: 'Ewa Zielińska', 9002: 'ewa zielińska' }, '9001');
    expect(shown(world, owner)).toBe('Ewa Zielińska (9001)');
    expect(labelsOf(world, owner)).toEqual(['Ewa Zielińska (9001)', 'ewa zielińska (9002)']);
    expect(await type(world, owner, 'Ewa Zielińska')).toEqual([
      '9001',
      'Error: “Ewa Zielińska” names several: Ewa Zielińska (9001), ewa zielińska (9002). Write which one.',
    ]);
    expect((await type(world, owner, 'Ewa Zielińska (9002)'))[0]).toBe('9002');
    expect((await type(world, team, 'Ewa Zielińska, 9007'))[1]).toMatch(/names several/);
  });

  it.each([
    ['Ewa Zielinska', 'Nobody is called “Ewa Zielinska”. Did you mean Ewa Zielińska (9001)?'],
    [
      'Kowalsky',
      'Nobody is called “Kowalsky”. Owner takes Ewa Zielińska, Jan Kowalski, or the id of a user.',
    ],
    ['u-77', 'Nobody is called “u-77”. Owner takes Ewa Zielińska, Jan Kowalski, or the id of a user.'],
  ])('are refused by any other text before it is sent: %s', async (text, words) => {
    const world = await worldWith(ewa, '9001');
    expect(await type(world, owner, text)).toEqual(['9001', `Error: ${words}`]);
    expect(world.outbox.size).toBe(0);
  });

  it('are refused in a list and in a new row as well', async () => {
    const world = await worldWith(ewa, null, ['9001']);
    expect(await type(world, team, '9003, Ewa Zielinsky')).toEqual([
      ['9001'],
      'Error: Nobody is called “Ewa Zielinsky”. Did you mean Ewa Zielińska (9001)?',
    ]);
    const row = addRow(world, 'lead', { title: textCell('Nova'), [owner]: textCell('Jan Kowalsky') });
    await settle(world);
    expect([row.id.kind, syncOf(row)]).toEqual([
      'empty',
      expect.stringContaining('Did you mean Jan Kowalski (9003)?'),
    ]);
  });

  it('may have ids that are no numbers, which the configuration or a record shows', async () => {
    const world = await worldWith({ 'u-1': 'Ewa' }, 'u-2');
    expect([shown(world, owner), (await type(world, owner, 'ewa'))[0]]).toEqual(['u-2', 'u-1']);
    expect((await type(world, owner, 'u-3'))[0]).toBe('u-3');
    expect((await type(world, owner, 'Ola'))[1]).toMatch(/^Error: Nobody is called “Ola”\./);
  });

  it('stay as the CRM has them where it has a name itself', async () => {
    const world = await worldWith(ewa, 'Somebody Else');
    expect([shown(world, owner), says(world)]).toEqual(['Somebody Else', expect.stringMatching(/^Synced/)]);
  });
});

describe('S2: names of users that change in the configuration', () => {
  it.each([
    ['a first name', {}, ewa, 'Ewa Zielińska', 'Ewa Zielińska, Jan Kowalski'],
    ['another name', ewa, { 9001: 'Ewa Nowak', 9003: 'Jan' }, 'Ewa Nowak', 'Ewa Nowak, Jan'],
    ['no name any more', ewa, {}, '9001', '9001, 9003'],
    [
      'the name of another one',
      ewa,
      { 9001: 'Jan Kowalski', 9003: 'Ewa Zielińska' },
      'Jan Kowalski (9001)',
      'Jan Kowalski (9001), Ewa Zielińska (9003)',
    ],
  ])('send nothing, and every row shows %s', async (_what, before, after, one, both) => {
    const world = await rename(await worldWith(before, '9001', ['9001', '9003']), after);
    expect([shown(world, owner), shown(world, team)]).toEqual([one, both]);
  });

  it('leave what was typed under the old name, and what the CRM changes meanwhile', async () => {
    const world = await worldWith(ewa, '9001', ['9001']);
    changeRecord(world, leadKey(1), { [owner]: '9003' });
    rowOf(world, leadKey(1)).cells[team] = textCell('Ewa Zielińska, Jan Kowalski');
    const after = withCatalog(world, naming({ 9001: 'Ewa Nowak', 9003: 'Jan' }));
    restart(after);
    await settle(after);
    expect([inCrm(after, owner), inCrm(after, team)]).toEqual(['9003', ['9001', '9003']]);
    expect([shown(after, owner), shown(after, team)]).toEqual(['Jan', 'Ewa Nowak, Jan']);
  });

  it('S4: leave a row known that lost its ID and shows an old name, whatever other rows show', async () => {
    const url = 'https://acme.example';
    const world = withCatalog(createWorld({ policy: { vanishedRows: 'trash' } }), naming(ewa));
    addRecord(world, 'lead', { title: 'Acme', [owner]: '9001', 'about.url': url });
    addRecord(world, 'lead', { title: 'Twin', 'about.url': url });
    addRecord(world, 'lead', { title: 'Beta' });
    await settle(world);
    const after = withCatalog(world, naming({ 9001: 'Ewa Nowak', 9003: 'Jan' }));
    removeRow(after, leadKey(1));
    addRow(after, 'lead', { title: textCell('Some') }).id = textCell('998');
    addRow(after, 'lead', { title: textCell('Other'), [owner]: textCell('Ewa Nowak') }).id = textCell('999');
    const own = { title: textCell('Third'), [owner]: textCell('Ewa Zielińska'), 'about.url': textCell(url) };
    const row = addRow(after, 'lead', own);
    await expectKnown(after, row);
  });

  it('S4: leave a row known that lost its ID and shows a number with a format for a name', async () => {
    const url = 'https://acme.example';
    const world = createWorld({ policy: { vanishedRows: 'trash' } });
    addRecord(world, 'lead', { title: 'Acme', 'custom.tier': 'Gold', 'about.url': url });
    addRecord(world, 'lead', { title: 'Twin', 'about.url': url });
    await settle(world);
    const known = world.agreements.get('lead-1');
    if (!known) throw new Error('Nothing is agreed of Acme.');
    world.agreements.set('lead-1', { ...known, shown: { 'custom.tier': [[0.5, 'Gold']] } });
    removeRow(world, leadKey(1));
    const half = { kind: 'number', number: 0.5, shown: '50%' } as const;
    const own = { title: textCell('Third'), 'custom.tier': half, 'about.url': textCell(url) };
    const row = addRow(world, 'lead', own);
    await expectKnown(world, row);
  });
});

it('the IDs of users that records name are known as they are now, without a look at a record that did not change', () => {
  let looks = 0;
  const lead = (number: number, user: string): KnownRecord => ({
    key: leadKey(number),
    fields: {
      get [owner]() {
        looks += 1;
        return user;
      },
    },
    firstSeenAt: 1,
    lastSeenAt: 2,
    missedSweeps: 0,
    presence: 'present',
  });
  const catalog = naming({ u2: 'Ann' });
  const idsOf = (records: readonly KnownRecord[]) => lazyUserIds({ catalog, records })();
  const leads = Array.from({ length: 50 }, (_, number) => lead(number, `u${(number % 3) + 1}`));
  expect(idsOf(leads)).toEqual(['u1', 'u2', 'u3']);
  looks = 0;
  expect(idsOf(leads.with(0, lead(0, 'u10')))).toEqual(['u1', 'u2', 'u3', 'u10']);
  expect(idsOf([...leads, lead(99, 'u4')])).toEqual(['u1', 'u2', 'u3', 'u4']);
  expect(looks).toBeLessThan(10);
  expect(idsOf(leads.slice(1).toReversed())).toEqual(['u1', 'u2', 'u3']);
  expect(idsOf(leads.slice(1, 2))).toEqual(['u2']);
  expect(idsOf([])).toEqual(['u2']);
});
