import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/core/ports.ts';

/** A clock that runs `speed` times as fast as the machine's, so that the ordinary times of a daemon take a moment. */
export function createFastClock(speed: number): Clock {
  const [startedAt, startedMs] = [Date.now(), performance.now()];
  const monotonicMs = () => (performance.now() - startedMs) * speed;
  return {
    now: () => Math.floor(startedAt + monotonicMs()),
    monotonicMs,
    sleep: (durationMs, signal) =>
      sleep(Math.max(0, durationMs) / speed, undefined, signal && { signal }).catch(() => undefined),
  };
}
