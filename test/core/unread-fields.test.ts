import { describe, expect, it } from 'vitest';
import { type Catalog, emptyCatalog } from '../../src/core/fields/catalog.ts';
import { keepKnown, type ListedCatalog } from '../../src/core/fields/listed-catalog.ts';
import { absorb, takeIn } from '../../src/core/reading/observe.ts';
import { recordKeyText } from '../../src/core/record.ts';
import { hasMoved, type StoredRecord } from '../../src/core/state.ts';
import { describeCell, textCell } from '../../src/sheet/port/cell.ts';
import { changeRecord, leadKey, removeRow, rowOf, type World } from '../support/world.ts';
import { cycle, pull, settle, worldWithLeads } from '../support/world-daemon.ts';
import { expectNoWrites, sheetIds } from '../support/world-view.ts';

const acme = leadKey(1);
const fault = 'is not a text';
const said = /What the CRM has for About is not a text/;

/** The last read of a lead brought something for a field that cannot be understood. */
function makeOdd(world: World, name = 'about.description'): void {
  const text = recordKeyText(acme);
  const record = world.records.get(text)!;
  world.records.set(text, takeIn(record, { fields: {}, unread: { [name]: fault } }));
}

const syncOf = (world: World) => describeCell(rowOf(world, acme).sync);

async function worldWithOdd(): Promise<World> {
  const world = await worldWithLeads(['Acme', 'Beta'], { policy: { vanishedRows: 'trash' } });
  changeRecord(world, acme, { 'about.description': 'Met at the fair' });
  await pull(world);
  await settle(world);
  makeOdd(world);
  return world;
}

describe('a field that cannot be understood', () => {
  const reception = { now: 2_000, lagMs: 0 };
  const stored = {
    key: acme,
    fields: { title: 'Acme', note: 'A' },
    observedAt: 1,
    firstSeenAt: 1,
    lastSeenAt: 1,
    missedSweeps: 0,
    presence: 'present',
  } satisfies StoredRecord;
  const seen = (fields: object, unread?: object) =>
    ({ ...acme, at: 1_500, fields, ...(unread ? { unread } : {}) }) as Parameters<typeof absorb>[1];

  it('has no known value any longer, until it is understood again', () => {
    const odd = absorb(stored, seen({ title: 'Acme' }, { note: fault }), reception);
    expect([odd.fields, odd.unread]).toEqual([{ title: 'Acme' }, { note: fault }]);
    expect(hasMoved({ note: 'A' }, odd)).toBe(true);
    expect(hasMoved({ title: 'Acme' }, odd)).toBe(false);
    expect(absorb(odd, seen({ title: 'Acme' }), reception)).toMatchObject({ unread: { note: fault } });
    const mended = absorb(odd, seen({ note: 'A' }), reception);
    expect([mended.fields, mended.unread]).toEqual([stored.fields, undefined]);
  });

  it('is said at its row, which is left as it is', async () => {
    const world = await worldWithOdd();
    await cycle(world);
    expect(syncOf(world)).toMatch(said);
    expect(describeCell(rowOf(world, acme).cells['about.description']!)).toBe('Met at the fair');
    expectNoWrites(await cycle(world));
    await pull(world);
    await settle(world);
    expect(syncOf(world)).toMatch(/^Synced/);
  });

  it('keeps what is typed there from being sent, and nothing else of the row', async () => {
    const world = await worldWithOdd();
    Object.assign(rowOf(world, acme).cells, {
      'about.description': textCell('Typed'),
      title: textCell('Renamed'),
    });
    for (const _time of [1, 2, 3]) await cycle(world);
    expect([...world.outbox.values()]).toMatchObject([{ kind: 'update', fields: { title: 'Renamed' } }]);
    expect([...world.outbox.values()][0]?.fields).not.toHaveProperty('about.description');
    expect(syncOf(world)).toMatch(/What was typed is not sent/);
  });

  it('S4: brings a deleted row back, because it may have been edited in the CRM', async () => {
    const world = await worldWithOdd();
    await cycle(world);
    removeRow(world, acme);
    for (const _time of [1, 2, 3]) await cycle(world);
    expect([...world.outbox.values()]).toEqual([]);
    expect(sheetIds(world)).toContain('1');
    expect(syncOf(world)).toMatch(said);
    expectNoWrites(await cycle(world));
  });

  it('of which a value was on its way to the sheet is no edit of it', async () => {
    const world = await worldWithLeads(['Acme']);
    changeRecord(world, acme, { 'about.description': 'Met at the fair' });
    await pull(world);
    await cycle(world, 'unanswered');
    makeOdd(world);
    for (const _time of [1, 2]) await cycle(world);
    expect(syncOf(world)).toMatch(said);
    expect(syncOf(world)).not.toContain('typed');
  });
});

describe('what the CRM lists', () => {
  const field = (key: string) => ({ key, name: key, kind: 'text', options: [] }) as const;
  const stage = (id: number) => ({ id, name: `Stage ${id}`, order: id });
  const known: Catalog = {
    pipelines: [
      { id: 1, name: 'Sales', stages: [stage(11), stage(12)] },
      { id: 2, name: 'Partners', stages: [stage(21)] },
    ],
    leadStatuses: [
      { name: 'new', label: 'New' },
      { name: 'lost', label: 'Lost' },
    ],
    customFields: [field('city'), { ...field('source'), kind: 'select', options: ['Web', 'Fair'] }],
  };
  const list = (changes: Partial<ListedCatalog>) => keepKnown({ ...known, ...changes }, known);
  const words = 'somewhere';

  it.each<[string, Partial<ListedCatalog>]>([
    ['a pipeline', { pipelines: [known.pipelines[1]!], oddities: [{ list: 'pipelines', id: 1, words }] }],
    [
      'a pipeline without an id',
      { pipelines: [known.pipelines[0]!], oddities: [{ list: 'pipelines', words }] },
    ],
    [
      'a stage',
      {
        pipelines: [{ ...known.pipelines[0]!, stages: [stage(12)] }, known.pipelines[1]!],
        oddities: [{ list: 'stages', of: 1, id: 11, words }],
      },
    ],
    ['a status', { leadStatuses: [known.leadStatuses[0]!], oddities: [{ list: 'leadStatuses', words }] }],
    [
      'an option',
      {
        customFields: [field('city'), { ...known.customFields[1]!, options: ['Web'] }],
        oddities: [{ list: 'options', of: 'source', words }],
      },
    ],
  ])('lacks nothing that was known where %s cannot be understood', (_, changes) => {
    const now = list(changes);
    expect(now.odd).toMatchObject([{ words }]);
    expect(now.pipelines.map(({ id }) => id).toSorted()).toEqual([1, 2]);
    expect(now.pipelines.flatMap(({ stages }) => stages.map(({ id }) => id)).toSorted()).toEqual([
      11, 12, 21,
    ]);
    expect(now.leadStatuses).toEqual(known.leadStatuses);
    expect(now.customFields).toEqual(known.customFields);
  });

  it('lacks what is gone from it where all of it was understood', () => {
    const now = list({ pipelines: [known.pipelines[0]!], leadStatuses: [known.leadStatuses[0]!] });
    expect([now.pipelines, now.leadStatuses, now.odd]).toEqual([
      [known.pipelines[0]],
      [known.leadStatuses[0]],
      undefined,
    ]);
  });

  it('holds the fields that are gone or cannot be used, and forgets none', () => {
    const now = list({
      customFields: [field('city')],
      unusable: { source: 'it is switched off in the CRM' },
    });
    expect(now.customFields).toEqual([
      field('city'),
      { ...known.customFields[1], held: 'it is switched off in the CRM' },
    ]);
    expect(keepKnown({ ...known, customFields: [field('city')] }, now).customFields[1]).toMatchObject({
      held: 'the CRM no longer lists it',
    });
    expect(keepKnown(known, now).customFields).toEqual(known.customFields);
  });

  it('brings no column for a field that was never in use', () => {
    expect(
      keepKnown({ ...emptyCatalog, unusable: { old: 'it is switched off in the CRM' } }, emptyCatalog)
        .customFields,
    ).toEqual([]);
  });

  it('is a slip where the list of custom fields is empty, until it is so again', () => {
    const empty = { ...known, customFields: [] };
    expect(keepKnown(empty, known).customFields).toEqual(known.customFields);
    expect(keepKnown(empty, known, true).customFields.every(({ held }) => held !== undefined)).toBe(true);
  });
});
