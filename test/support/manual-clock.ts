import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/core/ports.ts';

interface Sleeper {
  readonly dueAt: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /**
   * Moves time on, waking sleepers one by one at their moment and letting what they start settle in between.
   */
  advance(durationMs: number): Promise<void>;
  /** Sets the wall clock alone, as a person or a time server does. */
  setWallClock(epochMs: number): void;
  /** Resolves once somebody sleeps for at most `longestMs`: at once when somebody does already. */
  sleepStarted(longestMs?: number): Promise<void>;
  /** How many sleep now. */
  sleeperCount(): number;
  /** In how long the next one wakes; `Infinity` when nobody sleeps. */
  nextWakeMs(): number;
}

/** Makes a clock that shows `startAt` (epoch ms). `settle` resolves once what was woken waits again. */
export function createManualClock(
  startAt = Date.UTC(2026, 0, 1),
  settle: () => Promise<void> = setImmediate,
): ManualClock {
  let elapsedMs = 0;
  let wallOffset = startAt;
  const sleepers = new Set<Sleeper>();
  const watchers = new Set<() => void>();

  const sleep = (durationMs: number, signal?: AbortSignal) => {
    if (signal?.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => {
      sleepers.delete(sleeper);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const sleeper = { dueAt: elapsedMs + durationMs, wake };
    sleepers.add(sleeper);
    signal?.addEventListener('abort', wake, { once: true });
    for (const look of watchers) look();
    return promise;
  };

  const advance = async (durationMs: number) => {
    const target = elapsedMs + durationMs;
    for (;;) {
      await settle();
      const [next] = [...sleepers].sort((left, right) => left.dueAt - right.dueAt);
      if (!next || next.dueAt > target) break;
      elapsedMs = Math.max(elapsedMs, next.dueAt);
      next.wake();
    }
    elapsedMs = target;
  };

  const sleepStarted = (longestMs = Number.POSITIVE_INFINITY) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (![...sleepers].some((sleeper) => sleeper.dueAt - elapsedMs <= longestMs)) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });

  return {
    now: () => wallOffset + elapsedMs,
    monotonicMs: () => elapsedMs,
    sleep,
    advance,
    setWallClock: (epochMs) => {
      wallOffset = epochMs - elapsedMs;
    },
    sleepStarted,
    sleeperCount: () => sleepers.size,
    nextWakeMs: () => Math.min(...[...sleepers].map((sleeper) => sleeper.dueAt - elapsedMs)),
  };
}
