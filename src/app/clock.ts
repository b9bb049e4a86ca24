import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../core/ports.ts';

/** Node fires a longer timer at once: https://nodejs.org/api/timers.html#settimeoutcallback-delay-args */
const timerMaxMs = 2 ** 31 - 1;

/** How fast time passes while the wall clock shows less than what was told already: a lead of an hour is gone after ten. */
const catchUpRate = 0.9;

/**
 * A wall clock that is never set back. What was observed, sent or is due is told apart by these times: with a clock that jumps back an
 * hour, everything the CRM says would be older than what is known for an hour. A jump ahead is followed: after a sleep of the machine
 * everything is as old as it says. Both arguments and the answer are in ms.
 */
export function neverSetBack(wallMs: () => number, monotonicMs: () => number): () => number {
  let told = wallMs();
  let toldAt = monotonicMs();
  return () => {
    const at = monotonicMs();
    told = Math.max(wallMs(), told + (at - toldAt) * catchUpRate);
    toldAt = at;
    return Math.floor(told);
  };
}

const monotonicMs = () => performance.now();

/** The clock of the machine. */
export const systemClock: Clock = {
  now: neverSetBack(() => Date.now(), monotonicMs),
  monotonicMs,
  async sleep(durationMs, signal) {
    const ms = Math.min(timerMaxMs, Math.max(0, durationMs));
    try {
      await sleep(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    }
  },
};
