import { beforeEach, describe, expect, test } from 'vitest';
import { columnMapOf, compareColumnMaps } from '../../src/sheet/column-map.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import type { ColumnPolicy } from '../../src/sheet/policy.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { leadKey, recordOf, rowOf, type World } from '../support/world.ts';
import { cycle, isRemapped, setTitle, settle, worldWithLeads } from '../support/world-daemon.ts';

const mapOf = (columns: Readonly<Record<string, ColumnPolicy>>) =>
  columnMapOf({ title: 'Leads', conflict: 'crm', columns });

describe('two column maps', () => {
  const renamed = mapOf({ title: { header: 'Name' } });

  test('are alike when only other rules of a column changed', () => {
    expect(compareColumnMaps(mapOf({ title: { conflict: 'ask' } }), mapOf({}))).toBeUndefined();
    expect(compareColumnMaps(renamed, mapOf({ title: { header: 'Name', blank: 'leave' } }))).toBeUndefined();
  });

  test.each([
    [
      'gets another header',
      mapOf({}),
      renamed,
      'title stood under its own header and is to stand under “Name”',
    ],
    [
      'gets its own header back',
      renamed,
      mapOf({}),
      'title stood under “Name” and is to stand under its own header',
    ],
    [
      'goes both ways from now on',
      mapOf({ title: { direction: 'toTable' } }),
      mapOf({}),
      'title only came from the CRM and is to go both ways',
    ],
    [
      'only comes from the CRM from now on',
      mapOf({}),
      mapOf({ title: { direction: 'toTable' } }),
      'title went both ways and is only to come from the CRM',
    ],
  ])('say that a column %s', (_, before, now, words) => {
    expect(compareColumnMaps(before, now)).toEqual({ moved: { title: words }, off: [] });
  });

  test('take a column that comes back for a new one, and say which are gone', () => {
    const off = mapOf({ title: { direction: 'off' } });
    expect(compareColumnMaps(mapOf({}), off)).toEqual({ moved: {}, off: ['title'] });
    expect(compareColumnMaps(off, renamed)).toEqual({ moved: {}, off: [] });
  });

  test('take nothing for moved where no map is known from before', () => {
    expect(
      compareColumnMaps(undefined, mapOf({ title: { header: 'Name' }, note: { direction: 'off' } })),
    ).toEqual({
      moved: {},
      off: ['note'],
    });
  });
});

describe('a column that the configuration puts elsewhere', () => {
  const scope = 'brake:lead:columns';
  const scopes = ({ brakes }: Plan) => brakes.map((brake) => brake.scope);
  let world: World;

  /** Acme has a text of somebody's own there, Bolt an empty cell, and Cup what it had. */
  beforeEach(async () => {
    world = await worldWithLeads(['Acme', 'Bolt', 'Cup']);
    await settle(world);
    rowOf(world, leadKey(1)).cells['title'] = textCell('Somebody else');
    rowOf(world, leadKey(2)).cells['title'] = emptyCell;
    setTitle(world, { header: 'Name' });
  });

  const titles = () => [1, 2, 3].map((id) => recordOf(world, leadKey(id)).fields['title']);
  const cells = () => world.sheet.lead.map(({ cells: { title } }) => title);

  test('S5: writes nothing before a person agrees, and shows by record and field what differs', async () => {
    const before = structuredClone(world.sheet.lead);
    const plan = await settle(world);
    expect(scopes(plan)).toEqual([scope]);
    expect(plan.brakes[0]?.reason).toMatch(/is to stand under “Name”\. 2 cells there do not show/);
    expect(plan.brakes[0]?.changes.shown).toEqual([
      { id: '1', what: 'differs', field: 'title', before: 'Acme', after: 'Somebody else' },
      { id: '2', what: 'differs', field: 'title', before: 'Bolt' },
    ]);
    expect([world.sheet.lead, world.outbox.size, titles()]).toEqual([before, 0, ['Acme', 'Bolt', 'Cup']]);
  });

  test('fills empty cells and asks about each difference once a person agrees', async () => {
    await settle(world);
    world.decisions.set(scope, 'approve');
    const plan = await settle(world);
    expect(plan.brakes).toEqual([]);
    expect(plan.conflicts).toMatchObject([{ key: leadKey(1), crm: 'Acme', table: 'Somebody else' }]);
    expect(cells()).toEqual([textCell('Somebody else'), textCell('Bolt'), textCell('Cup')]);
    expect([titles(), isRemapped(world), world.decisions.size]).toEqual([['Acme', 'Bolt', 'Cup'], false, 0]);
  });

  test('is let go by itself when the configuration is as it was', async () => {
    await settle(world);
    setTitle(world, {});
    rowOf(world, leadKey(1)).cells['title'] = textCell('Acme');
    rowOf(world, leadKey(2)).cells['title'] = textCell('Bolt');
    expect([scopes(await settle(world)), (await cycle(world)).table, titles()]).toEqual([
      [],
      [],
      ['Acme', 'Bolt', 'Cup'],
    ]);
  });

  test('needs nobody where its cells show what both sides had', async () => {
    rowOf(world, leadKey(1)).cells['title'] = textCell('Acme');
    rowOf(world, leadKey(2)).cells['title'] = textCell('Bolt');
    expect([scopes(await settle(world)), isRemapped(world)]).toEqual([[], false]);
  });

  test('is forgotten when it has no column any more, so that it is met anew when it comes back', async () => {
    setTitle(world, { direction: 'off' });
    await settle(world);
    setTitle(world, {});
    const plan = await settle(world);
    expect([scopes(plan), plan.conflicts.length, titles()]).toEqual([[], 1, ['Acme', 'Bolt', 'Cup']]);
  });
});
