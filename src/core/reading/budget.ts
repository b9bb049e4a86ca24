import type { Lane } from '../ports.ts';

/**
 * The arithmetic of the request budget. A request has to fit into every window it counts in: that of its key
 * and that of the address it is sent from. A window is a log of slots, one per request, each taken until it
 * frees. All times are milliseconds of one clock.
 *
 * The rule, per lane:
 * - `settle` and `edit` may take any free slot.
 * - `newest` and `sweep` leave a reserve of a fiftieth to them while people are editing, so that an edit finds
 *   a free slot while a listing runs. When nobody edited for a window they may take every slot.
 * - `sweep` goes at full speed while less than half of the slots are taken, so that a small first fill takes
 *   seconds. From there on it is paced: never faster than its window spread evenly, and slower where many slots
 *   free at once later, so that what is free lasts until then. The first edit after a quiet time therefore
 *   waits for one interval of the pace at most, and never for a burst to expire.
 * - A lane whose first request waits for a fifth of a window without a turn has the next turn, as if it were
 *   an edit: nothing starves, and what it costs the edits is one slot in that time.
 */
export interface Allowance {
  /** Requests allowed in any window, at least 1. */
  readonly requests: number;
  readonly windowMs: number;
}

/** A window as it stands now. */
export interface WindowState extends Allowance {
  /** When each taken slot frees: later than now, the earliest first. */
  readonly freeAts: readonly number[];
  /** When the sweep last took a slot of it; `-Infinity` for never. */
  readonly sweptAt: number;
  /** When an edit last took a slot of it; `-Infinity` for never. */
  readonly editedAt: number;
  /** No request may be sent before, because the CRM said so. */
  readonly parkedUntil: number;
}

/** The request of a lane that is first in line for a key. */
export interface Demand {
  readonly lane: Lane;
  /** Since when it waits. */
  readonly since: number;
  /** When the lane last had a turn with that key; `-Infinity` for never. */
  readonly lastTurnAt: number;
  /** Every window it has to fit into. */
  readonly windows: readonly WindowState[];
}

/** Whose turn it is next, and the earliest time for it unless something changes before. */
export interface Turn<Waiting extends Demand> {
  readonly demand: Waiting;
  readonly at: number;
}

/** This part of a window is the longest wait of a lane without a turn. */
const patiencePart = 5;
/** This part of the slots is left to edits while people are editing. */
const reservePart = 50;

/** Whether a lane carries what a person waits for. */
export const isUrgent = (lane: Lane): boolean => lane === 'settle' || lane === 'edit';

/**
 * The next turn among requests that wait, given in the order of their priority; `undefined` when none
 * waits.
 */
export function nextTurn<Waiting extends Demand>(
  demands: readonly Waiting[],
  now: number,
): Turn<Waiting> | undefined {
  const turns = demands.map((demand) => {
    const { lane, windows } = demand;
    const starvesAt = Math.max(...windows.map((window) => starvationAt(demand, window)));
    const slotAt = Math.max(...windows.map((window) => freeSlotAt(window, window.requests, now)));
    const urgentAt = Math.max(starvesAt, slotAt);
    const laneAt = Math.max(...windows.map((window) => laneTurnAt(lane, window, now)));
    return { demand, at: Math.min(urgentAt, laneAt), isStarving: starvesAt <= now };
  });
  // Sorting is stable: between equals the order of the demands decides.
  const [first] = turns.toSorted(
    (left, right) => left.at - right.at || Number(right.isStarving) - Number(left.isStarving),
  );
  return first && { demand: first.demand, at: first.at };
}

const starvationAt = ({ since, lastTurnAt }: Demand, { windowMs }: Allowance): number =>
  Math.max(since, lastTurnAt) + windowMs / patiencePart;

function laneTurnAt(lane: Lane, window: WindowState, now: number): number {
  const { requests, windowMs, freeAts, sweptAt, editedAt } = window;
  const isEdited = now - editedAt < windowMs;
  const ceiling = isEdited && !isUrgent(lane) ? slotsBesideReserve(requests) : requests;
  const slotAt = freeSlotAt(window, ceiling, now);
  const isPaced = lane === 'sweep' && freeAts.length >= requests / 2;
  return isPaced ? Math.max(slotAt, sweptAt + paceMs(window, ceiling, now)) : slotAt;
}

/** How many slots may be taken before only an edit may take one more. */
export const slotsBesideReserve = (requests: number): number =>
  Math.max(1, requests - Math.ceil(requests / reservePart));

/**
 * The time between two requests of the sweep. Until the nth of the taken slots frees there are as many slots as
 * are free now and n more: they are spread over that time, less the one interval that an edit may wait.
 */
function paceMs({ requests, windowMs, freeAts }: WindowState, ceiling: number, now: number): number {
  const evenMs = windowMs / requests;
  const free = ceiling - freeAts.length;
  if (free <= 0) return evenMs;
  const spreads = freeAts.map(
    (freeAt, index) => (Math.min(freeAt - now, windowMs) - evenMs) / (free + index),
  );
  return Math.max(evenMs, ...spreads);
}

/** When fewer than `ceiling` of the slots are taken and requests may be sent. */
const freeSlotAt = ({ freeAts, parkedUntil }: WindowState, ceiling: number, now: number): number =>
  Math.max(parkedUntil, freeAts[freeAts.length - ceiling] ?? now);

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
