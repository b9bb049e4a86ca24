import type { SidePace } from './side.ts';

/** What is known when a cycle ends. */
export interface Lull {
  /** For how long nothing was written and no row changed. */
  readonly quietMs: number;
  /** How long the cycle took. */
  readonly tookMs: number;
}

/** After each hour in which nothing happens the pause is twice as long, up to the longest. */
const quietStepMs = 3_600_000;

/** A side that is slow to show what it has is given as much time as it took, but people wait for no longer than this. */
const breatherMaxMs = 60_000;

/**
 * Returns the pause after a cycle that found nothing to do, in ms. A side with a longest quiet pause is asked less often at night, and is
 * busy for us for half of the time at most; else what the cycle took is part of the pause.
 */
export function pauseAfter({ pollMs, quietPollMs }: SidePace, { quietMs, tookMs }: Lull): number {
  if (quietPollMs === undefined) return pollMs;
  const doubledMs = pollMs * 2 ** Math.floor(quietMs / quietStepMs);
  const quietPauseMs = Math.max(pollMs, Math.min(quietPollMs, doubledMs));
  return Math.max(quietPauseMs - tookMs, Math.min(tookMs, breatherMaxMs));
}
