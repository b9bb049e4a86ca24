import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createLeaseBoard } from '../../src/bullmq/lease-board.ts';
import type { LeaseBoard } from '../../src/sync/lease.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { realClock } from '../support/real-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { commandRedis, flushRedis, type RedisServer, startRedis, stopRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

let redis: RedisServer;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => stopRedis(redis));
beforeEach(() => flushRedis(redis));

const urlOf = (process: string) => `http://${process}.example`;

/** Time as a process sees it that may stand still: only what the test moves on, but calls to Redis end by the machine's clock. */
const clockOf = (manual: ManualClock) => ({ ...realClock, monotonicMs: () => manual.monotonicMs() });

function openBoard(process: string, clock = createManualClock()) {
  const links = new Map([
    ['north', 'id-of-north'],
    ['south', 'id-of-south'],
  ]);
  const log = createRecordingLog();
  const options = { redisUrl: redis.url, links, group: 'both', process, clock: clockOf(clock), log };
  const board = createLeaseBoard(options);
  onTestFinished(() => board.close().catch(() => undefined));
  return { board, clock, look: () => board.look(urlOf(process)) };
}

/** The lease runs out, as after thirty seconds without a renewal. */
const runOut = (link: string) => commandRedis(redis, 'DEL', `crm-sheet-sync:link:id-of-${link}:lease`);

const taken = async (board: LeaseBoard, link: string) => {
  const lease = await board.take(link);
  if (!lease) throw new Error(`${link} could not be taken.`);
  return lease;
};

test('a link is taken by one process, and everybody sees by whom', async () => {
  const [ann, ben] = [openBoard('ann'), openBoard('ben')];
  await ann.look();
  await ben.look();
  await ann.board.take('north');
  expect(await ben.board.take('north')).toBeUndefined();
  const { holders, processes } = await ben.look();
  expect(holders).toEqual(new Map([['north', { process: 'ann', url: urlOf('ann') }]]));
  expect(processes.toSorted()).toEqual(['ann', 'ben']);
});

test('of many who take a link at the same time one gets it', async () => {
  const boards = ['ann', 'ben', 'cem', 'dea'].map((process) => openBoard(process));
  for (const { look } of boards) await look();
  const leases = await Promise.all(boards.map(({ board }) => board.take('north')));
  expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
});

test('a lease is sure for less than it lasts, from before it was asked for, and again after each look', async () => {
  const { board, clock, look } = openBoard('ann');
  await look();
  const lease = await taken(board, 'north');
  expect(lease.sureMs()).toBe(29_000);
  await clock.advance(20_000);
  expect(lease.sureMs()).toBe(9_000);
  await look();
  expect(lease.sureMs()).toBe(29_000);
  await clock.advance(29_000);
  expect(lease.sureMs()).toBe(0);
});

test('a lease that ran out is taken up again where nobody had the link since', async () => {
  const { board, look } = openBoard('ann');
  await look();
  const lease = await taken(board, 'north');
  await runOut('north');
  expect((await look()).holders.get('north')?.process).toBe('ann');
  expect(lease.isLost).toBe(false);
});

test.each<[string, (board: LeaseBoard, lease: Awaited<ReturnType<typeof taken>>) => Promise<void>]>([
  ['has the link', async () => undefined],
  ['had it and gave it back', (board, lease) => board.release(lease)],
])('a process that stood still has lost its lease when another one %s', async (_, goOn) => {
  const [ann, ben] = [openBoard('ann'), openBoard('ben')];
  await ann.look();
  const first = await taken(ann.board, 'north');
  await runOut('north');
  await ben.look();
  const second = await taken(ben.board, 'north');
  await goOn(ben.board, second);
  await ann.look();
  expect(first.isLost).toBe(true);
  expect(first.sureMs()).toBeLessThanOrEqual(0);
  expect(second.token).toBeGreaterThan(first.token);
});

test('a Redis that has lost everything takes nothing from whoever had it, and its tokens go on rising', async () => {
  const { board, look } = openBoard('ann');
  await look();
  const lease = await taken(board, 'north');
  await flushRedis(redis);
  expect((await look()).holders.get('north')?.process).toBe('ann');
  expect(lease.isLost).toBe(false);
  await board.release(lease);
  await flushRedis(redis);
  // Nothing is left of it but the time, in ms.
  await until('the clock goes on', async () => Date.now() > lease.token);
  expect((await taken(board, 'north')).token).toBeGreaterThan(lease.token);
});

test('a lease says under which token a mirror was opened last, once one was', async () => {
  const { board, look } = openBoard('ann');
  await look();
  const first = await taken(board, 'north');
  await board.release(first);
  const second = await taken(board, 'north');
  await board.noteOpened(second);
  await board.release(second);
  const third = await taken(board, 'north');
  expect([first, second, third].map(({ openedUnder }) => openedUnder)).toEqual([
    undefined,
    undefined,
    second.token,
  ]);
});

test('a link that is given back is free at once, and a process that leaves is not among the living', async () => {
  const [ann, ben] = [openBoard('ann'), openBoard('ben')];
  await ann.look();
  const lease = await taken(ann.board, 'north');
  await ann.board.release(lease);
  await ann.board.close();
  const { holders, processes } = await ben.look();
  expect([...holders.keys(), ...processes]).toEqual(['ben']);
});

test('one who gives back a lease that another has taken meanwhile takes nothing from them', async () => {
  const [ann, ben] = [openBoard('ann'), openBoard('ben')];
  await ann.look();
  await ben.look();
  const lease = await taken(ann.board, 'north');
  await runOut('north');
  await taken(ben.board, 'north');
  await ann.board.release(lease);
  expect((await ann.look()).holders.get('north')?.process).toBe('ben');
});
