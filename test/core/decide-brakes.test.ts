import { describe, expect, it } from 'vitest';
import type { Value } from '../../src/core/value.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRecord,
  addRow,
  changeRecord,
  copyRow,
  createWorld,
  journalOf,
  leadKey,
  recordOf,
  removeRecord,
  removeRow,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, rebase, settle, worldWithLeads } from '../support/world-daemon.ts';

const many = Array.from({ length: 60 }, (_, index) => `Lead ${index + 1}`);

/** A world at rest of leads that all have a description. */
async function describedLeads(): Promise<World> {
  const world = createWorld();
  for (const title of many) addRecord(world, 'lead', { title, 'about.description': `About ${title}` });
  await settle(world);
  return world;
}

const first = (count: number) => Array.from({ length: count }, (_, index) => leadKey(index + 1));

interface Accident {
  readonly scope: string;
  happen(world: World): void;
  undo(world: World): void | Promise<void>;
  /** The changes that wait, and the first of them. */
  readonly count: number;
  readonly shown: object;
}

/** Writes into the first rows, and puts back what they had. */
const edits = (count: number, field: string, value: (index: number) => string) => {
  const write = (world: World, cellOf: (index: number) => string) =>
    first(count).forEach((key, index) => {
      const text = cellOf(index);
      rowOf(world, key).cells[field] = text === '' ? emptyCell : textCell(text);
    });
  return {
    happen: (world: World) => write(world, value),
    undo: (world: World) =>
      write(world, (index) => {
        const title = `Lead ${index + 1}`;
        return field === 'title' ? title : field === 'about.description' ? `About ${title}` : '';
      }),
  };
};

/** The CRM shows this of a field of its first records. */
const changeInCrm = (world: World, count: number, field: string, valueOfLead: (title: string) => Value) => {
  for (const [index, key] of first(count).entries())
    changeRecord(world, key, { [field]: valueOfLead(`Lead ${index + 1}`) });
};

const accidents: readonly (readonly [string, Accident])[] = [
  [
    'a third of a column is filled',
    {
      ...edits(25, 'about.url', () => 'https://example.com'),
      scope: 'brake:lead:column',
      count: 25,
      shown: { id: '1', what: 'edited', field: 'about.url', before: null, after: 'https://example.com' },
    },
  ],
  [
    'a column is emptied',
    {
      ...edits(10, 'about.description', () => ''),
      scope: 'brake:lead:blanked',
      count: 10,
      shown: { id: '1', what: 'edited', field: 'about.description', before: 'About Lead 1', after: null },
    },
  ],
  [
    'the CRM shows a column empty',
    {
      happen: (world) => changeInCrm(world, 7, 'about.description', () => null),
      undo: (world) => changeInCrm(world, 7, 'about.description', (title) => `About ${title}`),
      scope: 'brake:lead:cleared',
      count: 7,
      shown: { id: '1', what: 'emptied', field: 'about.description', before: 'About Lead 1', after: null },
    },
  ],
  [
    'all rows change',
    {
      ...edits(60, 'title', (index) => `New ${index}`),
      scope: 'brake:lead:changed',
      count: 60,
      shown: { id: '1', what: 'edited', field: 'title', before: 'Lead 1', after: 'New 0' },
    },
  ],
  [
    'rows are deleted',
    {
      happen: (world) => {
        for (const key of first(7)) removeRow(world, key);
      },
      undo: async (world) => {
        const rows = (await describedLeads()).sheet.lead.slice(0, 7);
        world.sheet.lead.unshift(...rows);
      },
      scope: 'brake:lead:vanished',
      count: 7,
      shown: { id: '1', what: 'row gone' },
    },
  ],
];

describe.each(accidents)('when %s', (_name, { happen, undo, scope, count, shown }) => {
  const expectNothing = ({ table, outbox }: Plan) => expect([table, outbox.save]).toEqual([[], []]);

  it('S5: nothing is written, and what waits is shown by record and field', async () => {
    const world = await describedLeads();
    happen(world);
    const plan = await settle(world);
    expectNothing(plan);
    expect(plan.brakes).toMatchObject([{ scope, changes: { count, shown: { 0: shown } } }]);
    expect(plan.brakes[0]?.changes.shown).toHaveLength(count);
    expect(many.map((_title, index) => recordOf(world, leadKey(index + 1)).fields['title'])).toEqual(many);
  });

  it('fault 43: it goes on by itself once that is undone, and nothing is written for it', async () => {
    const world = await describedLeads();
    happen(world);
    await settle(world);
    const lines = journalOf(world).length;
    await undo(world);
    const plan = await settle(world);
    expect([plan.brakes, plan.withheld, journalOf(world).length]).toEqual([[], [], lines]);
  });
});

it('S5: records that are gone from the CRM are shown behind their brake, and it ends when they are back', async () => {
  const world = await describedLeads();
  const gone = first(7).map((key) => recordOf(world, key));
  for (const { key } of gone) removeRecord(world, key);
  expect((await settle(world)).brakes).toMatchObject([
    { scope: 'brake:lead:gone', changes: { count: 7, shown: { 6: { id: '7', what: 'record gone' } } } },
  ]);
  for (const { key, fields } of gone) world.crm.set(`lead-${key.id}`, { key, fields });
  expect((await settle(world)).brakes).toEqual([]);
  expect(world.sheet.lead).toHaveLength(many.length);
});

it('rows that come with IDs of records that went long ago are held one by one, and no record is said to be gone', async () => {
  const world = await describedLeads();
  for (const key of first(10)) {
    removeRecord(world, key);
    await settle(world);
  }
  for (const { id } of first(10))
    addRow(world, 'lead', { title: textCell(`Import ${id}`) }).id = textCell(id);
  const { brakes, holds } = await settle(world);
  expect([brakes, holds.length]).toEqual([[], 10]);
  expect(holds[0]?.reason).toMatch(/clear the ID to create it anew/);
});

it('S5: a tab of few rows does not lose all of them without a question because the CRM has none of their records any more', async () => {
  const world = await worldWithLeads(['One', 'Two']);
  for (const index of [1, 2]) removeRecord(world, leadKey(index));
  expect((await settle(world)).brakes).toMatchObject([
    { scope: 'brake:lead:gone', reason: 'All 2 records are gone from the CRM.', changes: { count: 2 } },
  ]);
  expect(world.sheet.lead).toHaveLength(2);
});

it('S5: a deleted row counts among those that are gone also where a copy of it is left', async () => {
  const world = await describedLeads();
  const copy = copyRow(world, leadKey(7));
  await settle(world);
  for (const field of Object.keys(copy.cells)) copy.cells[field] = textCell(`Other ${field}`);
  for (const key of first(7)) removeRow(world, key);
  const plan = await settle(world);
  expect(plan.brakes).toMatchObject([{ scope: 'brake:lead:vanished', changes: { count: 7 } }]);
  expect(plan.outbox.save).toEqual([]);
});

it('values that the CRM emptied go from the sheet once that is approved, and are asked about once', async () => {
  const world = await describedLeads();
  changeInCrm(world, 60, 'about.description', () => null);
  await settle(world);
  world.decisions.set('brake:lead:cleared', 'approve');
  expect((await settle(world)).brakes).toEqual([]);
  const shown = new Set(world.sheet.lead.map(({ cells }) => cells['about.description']?.kind));
  expect([[...shown], [...world.decisions]]).toEqual([['empty'], []]);
});

it('whatever else the CRM changes at once is followed', async () => {
  const world = await describedLeads();
  changeInCrm(world, 60, 'about.description', (title) => `All about ${title}`);
  expect((await settle(world)).brakes).toEqual([]);
  expect(rowOf(world, leadKey(60)).cells['about.description']).toEqual(textCell('All about Lead 60'));
});

it('the reason of a brake names the column as people see it', async () => {
  const world = await describedLeads();
  for (const key of first(10)) rowOf(world, key).cells['about.description'] = emptyCell;
  expect((await settle(world)).brakes.map(({ reason }) => reason)).toEqual([
    'More than 6 values of “About” were emptied at once.',
  ]);
});

it('S5: a new mirror writes nothing to a synced tab either where the CRM lists nothing, and says so', async () => {
  const world = await worldWithLeads(['One', 'Two']);
  rowOf(world, leadKey(2)).id = emptyCell;
  rebase(world, 'The mirror is new.');
  for (const known of [world.agreements, world.records, world.crm]) known.clear();
  const plan = await settle(world);
  const reason = expect.stringContaining('1 rows have an ID that no record of the CRM has');
  expect(plan.brakes).toMatchObject([{ scope: 'brake:lead:rebase', reason }]);
  expect([plan.table, plan.outbox.save]).toEqual([[], []]);
});

it('a new mirror tells which rows would wait for a person and which would be filled in without asking', async () => {
  const world = await worldWithLeads(['One', 'Two', 'Three']);
  rowOf(world, leadKey(1)).cells['title'] = textCell('Uno');
  rowOf(world, leadKey(2)).cells['about.url'] = textCell('https://example.com');
  rebase(world, 'The mirror is new.');
  world.agreements.clear();
  const counts =
    '1 rows are equal on both sides, 2 differ, 1 of them would wait for a person, ' +
    '1 of them would be filled in without asking, where one side is empty or only shows, 0 records would get a row.';
  expect((await settle(world)).brakes).toMatchObject([{ reason: `The mirror is new. ${counts}` }]);
});

it('a long list behind a brake is cut, and its length is told', async () => {
  const titles = Array.from({ length: 300 }, (_, index) => `Lead ${index + 1}`);
  const world = await worldWithLeads(titles);
  for (const row of world.sheet.lead) row.cells['about.url'] = textCell('https://example.com');
  await cycle(world);
  const [brake] = (await cycle(world)).brakes;
  expect([brake?.changes.count, brake?.changes.shown.length]).toEqual([300, 200]);
});
