import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../core/ports.ts';

/** Node fires a longer timer at once: https://nodejs.org/api/timers.html#settimeoutcallback-delay-args */
const timerMaxMs = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(durationMs, signal) {
    const ms = Math.min(timerMaxMs, Math.max(0, durationMs));
    try {
      await sleep(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    }
  },
};
