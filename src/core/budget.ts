import type { Lane } from './ports.ts';

/**
 * The arithmetic of the request budget: a log of slots, one per request, each taken until its `freeAt`. All
 * times are milliseconds of one clock.
 *
 * The rule, per lane:
 * - `settle` and `edit` may take any free slot.
 * - `newest` and `sweep` leave a reserve of a fifth to them, so that an edit finds a free slot while a
 *   listing runs.
 * - `sweep` goes at full speed while less than half of the slots are taken, so that a small first fill takes
 *   seconds. After that it is paced: it spreads what is left of its share over the time until the next slot
 *   frees, and never goes faster than its share spread evenly over a window. An edit therefore never waits
 *   for a burst of the sweep to expire.
 * - A lane whose first request waits for a fifth of a window without a turn has the next turn, as if it were
 *   an edit: nothing starves, and what it costs the edits is one slot in that time.
 */
export interface Allowance {
  /** Requests allowed in any window, at least 1. */
  readonly requests: number;
  readonly windowMs: number;
}

/** A lane in which requests wait. */
export interface WaitingLane {
  readonly lane: Lane;
  /** Since when its first request waits. */
  readonly since: number;
  /** When the lane last had a turn; `-Infinity` for never. */
  readonly lastTurnAt: number;
}

/** Whose turn it is next, and the earliest time for it unless something changes before. */
export interface Turn {
  readonly lane: Lane;
  readonly at: number;
}

/** The reserve is this part of the slots, and this part of a window is the longest wait without a turn. */
const sharePart = 5;

/** How many slots a lane may see taken, its own request included. */
export function laneCeiling(lane: Lane, requests: number): number {
  const isUrgent = lane === 'settle' || lane === 'edit';
  return isUrgent ? requests : Math.max(1, requests - Math.floor(requests / sharePart));
}

/** How many slots are taken at `now`. */
export const countTaken = (freeAts: Iterable<number>, now: number): number => takenSlots(freeAts, now).length;

/** The next turn among lanes that wait, given in the order of their priority; `undefined` when none waits. */
export function nextTurn(
  allowance: Allowance,
  freeAts: Iterable<number>,
  waiting: readonly WaitingLane[],
  now: number,
): Turn | undefined {
  const taken = takenSlots(freeAts, now);
  const turns = waiting.map((queue) => {
    const starvesAt = Math.max(queue.since, queue.lastTurnAt) + allowance.windowMs / sharePart;
    const urgentAt = Math.max(starvesAt, freeSlotAt(taken, allowance.requests, now));
    const at = Math.min(urgentAt, laneTurnAt(queue, allowance, taken, now));
    return { lane: queue.lane, at, isStarving: starvesAt <= now };
  });
  // Sorting is stable: between equals the order of the lanes decides.
  const [first] = turns.toSorted(
    (left, right) => left.at - right.at || Number(right.isStarving) - Number(left.isStarving),
  );
  return first && { lane: first.lane, at: first.at };
}

function laneTurnAt(queue: WaitingLane, allowance: Allowance, taken: readonly number[], now: number): number {
  const ceiling = laneCeiling(queue.lane, allowance.requests);
  const isPaced = queue.lane === 'sweep' && taken.length >= allowance.requests / 2;
  const [nextFreeAt] = taken;
  if (!isPaced || nextFreeAt === undefined || taken.length >= ceiling) {
    return freeSlotAt(taken, ceiling, now);
  }
  const evenPaceMs = allowance.windowMs / ceiling;
  const spreadPaceMs = (nextFreeAt - now) / (ceiling - taken.length);
  return Math.max(now, queue.lastTurnAt + Math.max(evenPaceMs, spreadPaceMs));
}

const takenSlots = (freeAts: Iterable<number>, now: number): number[] =>
  [...freeAts].filter((freeAt) => freeAt > now).sort((left, right) => left - right);

/** When fewer than `ceiling` of the taken slots, sorted, are still taken. */
const freeSlotAt = (taken: readonly number[], ceiling: number, now: number): number =>
  taken[taken.length - ceiling] ?? now;

/** The allowance after a refusal although it was kept: half, and at least a tenth of what is configured. */
export const lowerRequests = (requests: number, configured: number): number =>
  Math.max(1, Math.ceil(configured / 10), Math.floor(requests / 2));

/** The allowance after it was lowered: each clean window gives back a twentieth of the configured. */
export function recoverRequests(
  lowered: number,
  configured: number,
  cleanMs: number,
  windowMs: number,
): number {
  const cleanWindows = Math.max(0, Math.floor(cleanMs / windowMs));
  return Math.min(configured, lowered + cleanWindows * Math.ceil(configured / 20));
}

/** How long to wait after the nth refusal in a row, from 0, that does not say how long; at most a window. */
export const refusalBackoffMs = (refusals: number, windowMs: number): number =>
  Math.min(windowMs, (windowMs / 12) * 2 ** refusals);
