import { describe, expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { pullCatalog } from '../../src/sync/pull.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import { until } from '../support/until.ts';

const counts = { leads: 6, opportunities: 0, tasks: 0 };

/** An engine that has filled the sheet, on a link that differs. */
async function startFilled(change: (link: SheetLink) => Partial<SheetLink>) {
  const stage = await openLinkStage(counts);
  await pullCatalog(stage.link, 'newest');
  await stage.link.table.layOut(currentLayout(stage.link), 'create');
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

test('a cycle whose timer never comes is made up for, and the daemon says so', async () => {
  const times = { pollMs: 130, typingPauseMs: 130, refillMs: 50 };
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
    ['takes jobs and wakes nobody', { add: async () => undefined }, /wakes nobody, although 1 steps wait/],
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
