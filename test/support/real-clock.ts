import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/core/ports.ts';

/** The machine's own time, for tests against servers that live in it too. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (durationMs, signal) => sleep(durationMs, undefined, signal && { signal }).catch(() => undefined),
};
