import { expect, test } from 'vitest';
import { finishAtOnce } from '../../src/core/slices.ts';
import { settleRows } from '../../src/sheet/decide/in-step.ts';
import { Standing } from '../../src/sheet/index/standing.ts';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import { decideAgain } from '../../src/sheet/plans/decide-again.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { newLead, titlesIn, worldOfNewLeads } from '../support/ruled-tab.ts';
import {
  addRecord,
  changeRecord,
  copyRow,
  createWorld,
  leadKey,
  nameStage,
  removeRow,
  rowOf,
  type World,
  withCatalog,
} from '../support/world.ts';
import { cycle, decideWorld, inputOf, look, pull, settle, worldWithLeads } from '../support/world-daemon.ts';

const ids = [1, 2, 3, 4, 5];
const dayMs = 24 * 60 * 60 * 1_000;

/** A world in which the CRM changed more leads than one write may have. */
async function worldBehind(updatesMax: number): Promise<World> {
  const world = await worldWithLeads(
    ids.map((id) => `Lead ${id}`),
    { policy: { updatesMax } },
  );
  for (const id of ids) changeRecord(world, leadKey(id), { title: `New ${id}` });
  await pull(world);
  return world;
}

/** A world in which two rows are behind until tomorrow: users put there what `Sync` says then. One write may have one row. */
async function worldOfOldNotices(): Promise<World> {
  const world = await worldWithLeads(
    ids.map((id) => `Lead ${id}`),
    { policy: { updatesMax: 1 } },
  );
  for (const id of [3, 4]) {
    rowOf(world, leadKey(id)).cells['title'] = textCell(`Typed ${id}`);
    changeRecord(world, leadKey(id), { title: `CRM ${id}` });
  }
  await settle(world);
  for (const id of [3, 4])
    rowOf(world, leadKey(id)).sync = textCell(
      `Synced 2026-11-21 00:00. Changed by the CRM: Title was “Typed ${id}”`,
    );
  return world;
}

const writtenIn = ({ table }: Plan) => table.map(({ key }) => key?.id);

test('of rows that are only behind each write takes as many as it may, from top to bottom', async () => {
  const world = await worldBehind(2);
  expect(writtenIn(await cycle(world))).toEqual(['1', '2']);
  expect(writtenIn(await cycle(world))).toEqual(['3', '4']);
  expect(writtenIn(await cycle(world))).toEqual(['5']);
  expect((await settle(world)).table).toEqual([]);
  expect(titlesIn(world)).toEqual(ids.map((id) => `New ${id}`));
});

test('what a user does to a row that waits for its turn is seen at once', async () => {
  const world = await worldBehind(1);
  await cycle(world);
  rowOf(world, leadKey(5)).cells['title'] = textCell('Typed');
  expect((await cycle(world)).restlessRows).toBe(1);
  const { table } = await cycle(world);
  expect(table.map(({ journal }) => journal)).toContainEqual(
    expect.objectContaining({ key: leadKey(5), lost: { title: 'Typed' } }),
  );
});

test('a row that waits is written as the CRM has it when its turn comes', async () => {
  const world = await worldBehind(2);
  await cycle(world);
  changeRecord(world, leadKey(4), { title: 'Newer' });
  changeRecord(world, leadKey(5), { title: 'Lead 5' });
  await pull(world);
  await cycle(world);
  expect((await cycle(world)).table).toEqual([]);
  expect(titlesIn(world)).toEqual(['New 1', 'New 2', 'New 3', 'Newer', 'Lead 5']);
});

test('rows that wait come next where users deleted those whose turn it was', async () => {
  const world = await worldBehind(2);
  expect(writtenIn(await decideWorld(world))).toEqual(['1', '2']);
  await look(world);
  for (const id of [1, 2]) removeRow(world, leadKey(id));
  expect(writtenIn(await cycle(world))).toEqual(['3', '4']);
});

test('rows that wait come next where time alone put the others in step', async () => {
  const world = await worldOfOldNotices();
  for (const id of [1, 5]) changeRecord(world, leadKey(id), { title: `New ${id}` });
  await pull(world);
  await look(world);
  world.clock.now += dayMs;
  expect([writtenIn(await cycle(world)), writtenIn(await cycle(world))]).toEqual([['1'], ['5']]);
});

test('rows that wait come next where time alone put those in step whose turn it is', async () => {
  const world = await worldOfOldNotices();
  changeRecord(world, leadKey(5), { title: 'New 5' });
  await pull(world);
  await look(world);
  world.clock.now += dayMs;
  expect(writtenIn(await cycle(world))).toEqual(['5']);
});

test('rows that wait for their turn leave when their time is up', async () => {
  const owned = (title: string) => ({ ...newLead(title), 'custom.owner': '7' });
  const start = await worldOfNewLeads(
    ids.map((id) => owned(`Lead ${id}`)),
    { policy: { updatesMax: 1 } },
  );
  const before = withCatalog(start, { ...start.catalog, users: [{ id: '7', name: 'Ann' }] });
  await settle(before);
  for (const id of ids) changeRecord(before, leadKey(id), { status_name: 'lost' });
  await settle(before);
  // The configuration gives a user another name: all rows are behind, and one write may have one of them.
  const world = withCatalog(before, { ...before.catalog, users: [{ id: '7', name: 'Anna' }] });
  await cycle(world);
  world.clock.now += leaveAfterMs;
  await cycle(world);
  expect(titlesIn(world)).toEqual([]);
});

test('a row that lost its ID is not surely that of a record where one that waits for its turn has the same', async () => {
  const before = createWorld({ policy: { updatesMax: 1 } });
  for (const title of ['Acme', 'Bolt']) addRecord(before, 'lead', { title });
  // The first and the last are alike.
  const rows = [1, 2, 2, 2, 2, 2, 2, 1].map((lead) =>
    addRecord(before, 'opportunity', { lead_id: lead, stage_id: 11 }),
  );
  await settle(before);
  const world = nameStage(before, 11, 'Start');
  // The first row is written, the others wait.
  await cycle(world);
  rowOf(world, { entity: 'opportunity', id: rows[0] ?? '' }).id = emptyCell;
  await cycle(world);
  await cycle(world);
  expect(world.sheet.opportunity.map(({ id }) => describeCell(id))).toEqual(['(empty)', ...rows.slice(1)]);
});

test('a copy whose original is gone is none of the rows that wait', async () => {
  const world = await worldWithLeads(
    ids.map((id) => `Lead ${id}`),
    { policy: { updatesMax: 1 } },
  );
  copyRow(world, leadKey(4));
  await cycle(world);
  await cycle(world);
  changeRecord(world, leadKey(1), { title: 'New 1' });
  await pull(world);
  removeRow(world, leadKey(4));
  rowOf(world, leadKey(4)).cells['created_at'] = textCell('long ago');
  const { holds } = await cycle(world);
  expect(holds.map(({ id }) => id)).toEqual(['4']);
});

test('a marked copy does not wait: its original, which lost its ID, is no new row', async () => {
  const before = createWorld({ policy: { updatesMax: 1 } });
  for (const title of ['Acme', 'Bolt']) addRecord(before, 'lead', { title });
  const [first = ''] = [1, 2, 2, 2, 1].map((lead) =>
    addRecord(before, 'opportunity', { lead_id: lead, stage_id: 11 }),
  );
  await settle(before);
  copyRow(before, { entity: 'opportunity', id: first });
  await cycle(before);
  const world = nameStage(before, 11, 'Start');
  rowOf(world, { entity: 'opportunity', id: first }).id = emptyCell;
  await cycle(world);
  await cycle(world);
  expect([...world.outbox]).toEqual([]);
});

test('rows that wait are not decided again until their turn', async () => {
  const world = await worldBehind(2);
  const input = await inputOf(world);
  const standing = new Standing();
  standing.update(input);
  finishAtOnce(settleRows(input, standing, 0));
  expect(standing.countLooseRows('lead')).toBe(2);
  const { plan, version } = decideAgain(input, standing, undefined);
  expect([writtenIn(plan), standing.countLooseRows('lead')]).toEqual([['1', '2'], 2]);
  // Nothing happened: it is the turn of the same rows.
  expect(decideAgain(input, standing, undefined)).toMatchObject({ version, plan: { table: plan.table } });
});
