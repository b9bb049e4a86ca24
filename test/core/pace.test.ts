import { expect, onTestFinished, test } from 'vitest';
import { LagMeter } from '../../src/sync/lag-meter.ts';
import type { Link } from '../../src/sync/link.ts';
import { pauseAfter } from '../../src/sync/pace.ts';
import { Problems } from '../../src/sync/problems.ts';
import type { Side, SidePace, SideReport } from '../../src/sync/side.ts';
import { SideRunner } from '../../src/sync/side-runner.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';

const hourMs = 3_600_000;
const pace: SidePace = { gapMs: 1_000, pollMs: 5_000, quietPollMs: 30_000, restlessMs: 2_000 };

test.each([
  ['nothing has happened for minutes', hourMs - 1, 100, 4_900],
  ['nothing has happened for an hour', hourMs, 100, 9_900],
  ['nothing has happened for two hours', 2 * hourMs, 100, 19_900],
  ['nothing has happened for a night', 10 * hourMs, 100, 29_900],
  ['the cycle took some time', 0, 2_000, 3_000],
  ['the cycle took half of the time', 0, 2_900, 2_900],
  ['the cycle took long', 0, 12_000, 12_000],
  ['the cycle took minutes', 0, 200_000, 60_000],
])('where %s, the next cycle comes in time for that', (_, quietMs, tookMs, pauseMs) => {
  expect(pauseAfter(pace, { quietMs, tookMs })).toBe(pauseMs);
});

test('a side without a longest quiet pause always rests alike', () => {
  const { quietPollMs: _, ...steady } = pace;
  expect(pauseAfter(steady, { quietMs: 10 * hourMs, tookMs: 12_000 })).toBe(5_000);
});

test('a longest quiet pause below the usual one changes nothing', () => {
  expect(pauseAfter({ ...pace, quietPollMs: 0 }, { quietMs: 10 * hourMs, tookMs: 0 })).toBe(5_000);
});

/** A side in which nothing happens unless a test says so, and to look at which takes so long. */
async function openQuietSide(cycleMs = 0, ownPace = pace) {
  const clock = createManualClock();
  const cycles: number[] = [];
  let report: Partial<SideReport> = { questions: [], holds: [], restlessRows: 0, hasActed: false };
  const side = {
    name: 'side',
    title: 'the side',
    pace: ownPace,
    get report() {
      return { ...report, at: clock.now() };
    },
    async cycle() {
      cycles.push(clock.monotonicMs());
      if (cycleMs > 0) await clock.sleep(cycleMs);
    },
  };
  const link = { clock, log: createRecordingLog(), backoff: { firstMs: 1, maxMs: 1 }, random: () => 0 };
  const runner = new SideRunner(side as unknown as Side, {
    link: link as unknown as Link,
    problems: new Problems(link),
    lags: new LagMeter(),
  });
  runner.start();
  onTestFinished(() => runner.stop());
  /** How many cycles there are in the next minutes. */
  const count = async (minutes: number) => {
    const before = cycles.length;
    await clock.advance(minutes * 60_000);
    return cycles.length - before;
  };
  const say = (news: Partial<SideReport>) => {
    report = { ...report, ...news };
  };
  await clock.advance(0);
  return { count, runner, say };
}

test('a quiet side is asked less often, and as often as before once a row changes', async () => {
  const { count, say } = await openQuietSide();
  expect(await count(5)).toBe(60);
  await count(4 * 60);
  expect(await count(5)).toBe(10);
  say({ restlessRows: 1 });
  await count(1);
  say({ restlessRows: 0 });
  expect(await count(5)).toBe(60);
});

test('a side that is slow to write to is not kept waiting for the rest', async () => {
  const { count, say } = await openQuietSide(8_000);
  expect(await count(8)).toBe(30);
  say({ hasActed: true });
  await count(1);
  expect(await count(13)).toBe(60);
});

test('a side that takes no more at once gets the rest after the shortest pause', async () => {
  const { count, say } = await openQuietSide();
  say({ hasActed: true, hasMore: true });
  await count(1);
  expect(await count(1)).toBe(60);
});

test('a finished sweep does not wake a quiet side', async () => {
  const { count, runner } = await openQuietSide();
  await count(4 * 60);
  runner.noteSwept();
  expect(await count(5)).toBe(10);
});

test('a side that is looked at all the time says at each finished sweep how fresh it is', async () => {
  const { quietPollMs: _, ...steady } = pace;
  const { count, runner } = await openQuietSide(0, { ...steady, pollMs: 600_000 });
  await count(1);
  runner.noteSwept();
  expect(await count(1)).toBe(1);
});

test('what the CRM has new is taken to a quiet side at once, and ends its quiet', async () => {
  const { count, runner } = await openQuietSide();
  await count(4 * 60);
  runner.noteNews();
  expect(await count(5)).toBeGreaterThanOrEqual(60);
});
