import { describe, expect, it } from 'vitest';
import type { ConflictPolicy } from '../../src/core/merge.ts';
import type { VanishedRowPolicy } from '../../src/sheet/policy.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  changeRecord,
  journalOf,
  leadKey,
  recordOf,
  removeRecord,
  removeRow,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, pull, push, refuse, settle, worldWithLeads } from '../support/world-daemon.ts';

const acme = leadKey(1);
const edit = 'Acme GmbH';

const titles = (world: World) => [
  recordOf(world, acme).fields['title'],
  describeCell(rowOf(world, acme).cells['title'] ?? emptyCell),
];

/** A lead whose title was edited and not sent yet when its row was deleted. */
async function worldWithEdit(
  vanishedRows: VanishedRowPolicy,
  conflict: ConflictPolicy = 'crm',
): Promise<World> {
  const world = await worldWithLeads(['Acme', 'Beta'], { conflict, policy: { vanishedRows } });
  rowOf(world, acme).cells['title'] = textCell(edit);
  await cycle(world);
  await cycle(world);
  expect([...world.outbox.values()]).toMatchObject([{ kind: 'update', fields: { title: edit } }]);
  removeRow(world, acme);
  return world;
}

/** Until it is certain that the row is gone, and what follows from that is done. */
async function notice(world: World): Promise<void> {
  await cycle(world);
  await cycle(world);
}

describe('a row that comes back while an edit of it waits to be sent', () => {
  it.each(['the rule', 'a person'])(
    'S1: shows the edit where %s restores it, and it is sent',
    async (who) => {
      const world = await worldWithEdit(who === 'the rule' ? 'restore' : 'ask');
      if (who === 'a person') {
        await notice(world);
        world.decisions.set('vanished:lead-1', 'restore');
      }
      await notice(world);
      expect(titles(world)).toEqual(['Acme', edit]);
      expect(describeCell(rowOf(world, acme).sync)).toBe('Pending: waiting to be sent to the CRM');
      await cycle(world);
      expect([...world.outbox.values()]).toMatchObject([
        { fields: { title: edit }, base: { title: 'Acme' } },
      ]);
      await settle(world);
      expect([titles(world), world.outbox.size, world.decisions.size]).toEqual([[edit, edit], 0, 0]);
    },
  );

  it('S1: keeps the edit that is sent before the row is read again', async () => {
    const world = await worldWithEdit('restore');
    await notice(world);
    await push(world);
    await settle(world);
    expect(titles(world)).toEqual([edit, edit]);
    expect(journalOf(world).filter(({ side, kind }) => side === 'crm' && kind === 'update')).toMatchObject([
      { before: { title: 'Acme' }, after: { title: edit } },
    ]);
  });

  it.each([
    ['lost', 'answered'],
    ['answered', 'unanswered'],
  ] as const)('S1: keeps the edit where the row is %s and the update %s', async (row, update) => {
    const world = await worldWithEdit('restore');
    await cycle(world);
    await cycle(world, row);
    await push(world, update);
    await settle(world);
    expect(titles(world)).toEqual([edit, edit]);
  });

  it('S1: shows a cell that was emptied as empty', async () => {
    const world = await worldWithLeads(['Acme'], { policy: { vanishedRows: 'restore' } });
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    await settle(world);
    rowOf(world, acme).cells['about.url'] = emptyCell;
    await notice(world);
    removeRow(world, acme);
    await notice(world);
    await settle(world);
    expect(recordOf(world, acme).fields['about.url']).toBeNull();
  });

  it('S1: shows the edit that the CRM refused, which is asked about as before', async () => {
    const world = await worldWithEdit('restore');
    refuse(world);
    await notice(world);
    const plan = await settle(world);
    expect(titles(world)).toEqual(['Acme', edit]);
    expect(plan.refusals).toMatchObject([{ id: '1', position: 2, decision: 'refused:lead-1' }]);
    world.decisions.set('refused:lead-1', 'retry');
    await settle(world);
    expect(titles(world)).toEqual([edit, edit]);
  });

  it.each<[ConflictPolicy, string]>([
    ['crm', 'Acme AG'],
    ['table', edit],
  ])('S1: lets “%s” win where the CRM changed the field meanwhile', async (conflict, winner) => {
    const world = await worldWithEdit('restore', conflict);
    changeRecord(world, acme, { title: 'Acme AG' });
    await push(world);
    await settle(world);
    expect(titles(world)).toEqual([winner, winner]);
    expect(journalOf(world)).toContainEqual(
      expect.objectContaining({ lost: { title: winner === edit ? 'Acme AG' : edit } }),
    );
  });

  it('S1: sends the edit where the CRM took its own change back', async () => {
    const world = await worldWithEdit('ask');
    changeRecord(world, acme, { title: 'Acme AG' });
    await push(world);
    changeRecord(world, acme, { title: 'Acme' });
    await settle(world);
    world.decisions.set('vanished:lead-1', 'restore');
    await settle(world);
    expect(titles(world)).toEqual([edit, edit]);
  });
});

describe('a row that was deleted for good while an edit of it waits to be sent', () => {
  it('S1: has the edit sent first, and then its record trashed', async () => {
    const world = await worldWithEdit('ask');
    await notice(world);
    world.decisions.set('vanished:lead-1', 'trash');
    await notice(world);
    expect([...world.outbox.values()]).toMatchObject([{ kind: 'update', fields: { title: edit } }]);
    await push(world, 'unanswered');
    await settle(world);
    expect([world.crm.has('lead-1'), world.outbox.size, world.decisions.size]).toEqual([false, 0, 0]);
    expect(journalOf(world).map(({ kind, side, before }) => [kind, side, before['title']])).toEqual(
      expect.arrayContaining([
        ['update', 'crm', 'Acme'],
        ['delete', 'crm', edit],
      ]),
    );
  });

  it('S1: leaves in the journal the edit that the CRM refused', async () => {
    const world = await worldWithEdit('trash');
    refuse(world);
    await notice(world);
    expect([...world.outbox.values()]).toMatchObject([{ kind: 'delete' }]);
    await settle(world);
    expect(world.crm.has('lead-1')).toBe(false);
    expect(journalOf(world).filter(({ lost }) => lost['title'] === edit)).toMatchObject([
      { side: 'table', before: { title: edit }, cause: 'row deleted before the CRM took the edit' },
    ]);
  });

  it('S1: leaves the edit in the journal where its record is gone as well', async () => {
    const world = await worldWithEdit('ask');
    removeRecord(world, acme);
    await pull(world);
    await pull(world);
    await settle(world);
    expect(world.outbox.size).toBe(0);
    expect(journalOf(world)).toContainEqual(expect.objectContaining({ lost: { title: edit } }));
  });
});

it('a row that came back because of an edit whose column is gone can be deleted again', async () => {
  const world = await worldWithLeads(['Acme', 'Beta'], { policy: { vanishedRows: 'trash' } });
  world.hiddenFields.add('about.url');
  changeRecord(world, acme, { 'about.url': 'https://acme.example' });
  await pull(world);
  removeRow(world, acme);
  await settle(world);
  expect(recordOf(world, acme).fields['about.url']).toBe('https://acme.example');
  removeRow(world, acme);
  await settle(world);
  expect(world.crm.has('lead-1')).toBe(false);
});

it('S1: a row that came back while a column was gone empties nothing in the CRM once the column is back', async () => {
  const world = await worldWithLeads(['Acme', 'Beta'], { policy: { vanishedRows: 'restore' } });
  const website = 'https://acme.example';
  changeRecord(world, acme, { 'about.url': website });
  await settle(world);
  world.hiddenFields.add('about.url');
  removeRow(world, acme);
  await settle(world);
  world.hiddenFields.delete('about.url');
  await settle(world);
  expect(recordOf(world, acme).fields['about.url']).toBe(website);
  expect(rowOf(world, acme).cells['about.url']).toEqual(textCell(website));
});
