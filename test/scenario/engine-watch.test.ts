import { describe, expect, onTestFinished, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { Engine } from '../../src/sync/engine.ts';
import type { Side } from '../../src/sync/side.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import { until } from '../support/until.ts';

const counts = { leads: 6, opportunities: 0, tasks: 0 };

/** An engine that has filled the sheet, on a link that differs. */
async function startFilled(change: (link: SheetLink) => Partial<SheetLink>) {
  const stage = await openLinkStage(counts);
  await stage.layOut();
  const engine = stage.createEngine(change(stage.link));
  await engine.start();
  await until(
    'the sheet is filled',
    async () => (await stage.readSheet())['Leads']?.length === counts.leads && engine.tally.cycles > 1,
  );
  return { stage, engine };
}

const type = (stage: LinkStage, text: string) =>
  stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text });

const sentUpdates = (stage: LinkStage) => stage.model.requests().filter(({ method }) => method === 'PUT');

test('fault 67: a cycle whose timer never comes is made up for, and the daemon says so', async () => {
  const times = { pollMs: 1_130, typingPauseMs: 130, refillMs: 50 };
  const { stage, engine } = await startFilled((link) => ({
    times: { ...link.times, ...times },
    clock: {
      ...link.clock,
      sleep(durationMs, signal) {
        if (durationMs !== times.pollMs) return link.clock.sleep(durationMs, signal);
        return new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));
      },
    },
  }));
  expect(engine.problems.list()).toMatchObject([{ source: 'watchdog', code: 'ENGINE_STALLED' }]);
  await type(stage, 'Typed while the timer is lost');
  await until('the edit is sent', async () => sentUpdates(stage).length === 1);
});

/** A side at which there is never anything to do. */
const idleSide = ({ mirror }: SheetLink, name: string, pollMs: number): Side => ({
  name,
  title: name,
  mirror: mirror.of(name),
  pace: { gapMs: 1, pollMs, restlessMs: pollMs },
  tally: { tableSteps: 0, undoneWrites: 0, escalatedWrites: 0 },
  report: undefined,
  askedAt: '',
  cycle: async () => undefined,
  plan: async () => ({ run: 'none', told: [] }),
  apply: async () => undefined,
  countRows: () => ({}),
  isWithheld: () => false,
  lookedBefore: () => undefined,
  readTyped: () => ({ kind: 'refused', reason: 'Nothing is read here.' }),
  notices: () => [],
  expectWriter: () => undefined,
  leave: async () => undefined,
});

test('a side whose timer is lost is told of for as long as that lasts, however well another one works', async () => {
  const { link, log } = await openLinkStage(counts);
  const lostMs = 31;
  const sleep: SheetLink['clock']['sleep'] = (durationMs, signal) =>
    durationMs === lostMs - 1
      ? new Promise((resolve) => signal?.addEventListener('abort', () => resolve()))
      : link.clock.sleep(durationMs, signal);
  const times = { ...link.times, refillMs: 20 };
  const own = { ...link, clock: { ...link.clock, sleep }, times };
  let cycles = 0;
  const well: Side = {
    ...idleSide(own, 'well', 10),
    cycle: async () => {
      cycles += 1;
    },
  };
  const engine = new Engine(own, [idleSide(own, 'lost', lostMs), well]);
  onTestFinished(() => engine.stop(5_000));
  await engine.start();
  await until('it is told', async () => log.lines.some(({ event }) => event === 'problem.began'));
  const before = cycles;
  await until('the other one goes on', async () => cycles > before + 3);
  expect(engine.problems.list()).toMatchObject([{ source: 'watchdog', code: 'ENGINE_STALLED' }]);
});

test('a change that is read while a side is looked at is measured with the cycle that shows it', async () => {
  const { link } = await openLinkStage(counts);
  let now = 1_000;
  const own = { ...link, clock: { ...link.clock, now: () => now } };
  const nothing = { brakes: [], holds: [], conflicts: [], refusals: [], questions: [], restlessRows: 0 };
  const side: Omit<Side, 'report'> & { report: Side['report'] } = {
    ...idleSide(own, 'watched', 10),
    cycle: async () => {
      engine.runners[0]?.noteNews(400);
      now += 1;
      const work = { hasWork: true, hasActed: true, unapplied: 0, toSide: 'written' } as const;
      side.report = { at: now, ...nothing, ...work };
      now += 99;
    },
  };
  const engine = new Engine(own, [side]);
  const measured: number[] = [];
  engine.lags.onLag = (_to, durationMs) => measured.push(durationMs);
  await engine.runners[0]?.cycle();
  expect(measured).toEqual([700]);
});

describe('an edit goes to the CRM although the queue', () => {
  test.each<[string, Partial<SheetLink['queue']>, RegExp]>([
    [
      'does not answer',
      {
        isReachable: async () => false,
        add: () => Promise.reject(new SyncError('QUEUE_UNREACHABLE', 'Nobody is there.')),
      },
      /does not answer/,
    ],
    [
      'takes no jobs',
      { add: () => Promise.reject(new SyncError('QUEUE_UNREACHABLE', 'The memory of Redis is full.')) },
      /memory of Redis is full/,
    ],
    [
      'fault 67: takes jobs and wakes nobody',
      { add: async () => undefined },
      /wakes nobody, although 1 steps wait/,
    ],
  ])('%s', async (_, broken, words) => {
    const { stage, engine } = await startFilled((link) => ({ queue: { ...link.queue, ...broken } }));
    await type(stage, 'Typed without a queue');
    await until('the edit is sent', async () => sentUpdates(stage).length === 1);
    await until('nothing waits', async () => stage.link.mirror.readOutbox().length === 0);
    const told = stage.log.lines.filter(({ event }) => event === 'problem.began');
    expect(told).toMatchObject([{ fields: { source: 'queue', message: expect.stringMatching(words) } }]);
    expect(engine.tally.crmWrites).toBe(1);
  });
});
