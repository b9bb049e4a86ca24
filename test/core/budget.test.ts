import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countTaken,
  laneCeiling,
  lowerRequests,
  nextTurn,
  recoverRequests,
  refusalBackoffMs,
  type WaitingLane,
} from '../../src/core/budget.ts';
import { type Lane, lanes } from '../../src/core/ports.ts';

const minute = { requests: 100, windowMs: 60_000 };
const waiting = (lane: Lane, since = 0, lastTurnAt = -Infinity): WaitingLane => ({ lane, since, lastTurnAt });
const slots = (count: number, freeAt: number) => Array.from({ length: count }, () => freeAt);

interface Demand {
  readonly lane: Lane;
  readonly at: number;
  /** From sending to the answer. */
  readonly latencyMs: number;
  /** The server counts the request somewhere in that time: 0 at once, 1 as it answers. */
  readonly countedAfter: number;
}

interface Sent extends Demand {
  readonly sentAt: number;
}

/** Plays demands against the rule in virtual time; a slot frees one window after the answer. */
function play(demands: readonly Demand[], allowance = minute): Sent[] {
  const queues = new Map<Lane, Demand[]>(lanes.map((lane) => [lane, []]));
  const lastTurnAt = new Map<Lane, number>();
  const arriving = demands.toSorted((left, right) => left.at - right.at);
  const freeAts: number[] = [];
  const sent: Sent[] = [];
  let now = 0;
  for (;;) {
    while (arriving[0] && arriving[0].at <= now) {
      const demand = arriving.shift()!;
      queues.get(demand.lane)!.push(demand);
    }
    const heads = lanes.flatMap((lane) => {
      const [first] = queues.get(lane)!;
      return first ? [waiting(lane, first.at, lastTurnAt.get(lane))] : [];
    });
    const turn = nextTurn(allowance, freeAts, heads, now);
    if (turn && turn.at <= now) {
      const demand = queues.get(turn.lane)!.shift()!;
      lastTurnAt.set(turn.lane, now);
      freeAts.push(now + demand.latencyMs + allowance.windowMs);
      sent.push({ ...demand, sentAt: now });
      continue;
    }
    const next = Math.min(turn?.at ?? Infinity, arriving[0]?.at ?? Infinity);
    if (next === Infinity) return sent;
    now = next;
  }
}

/** The most requests the server counts in any rolling window. */
function mostInAnyWindow(sent: readonly Sent[], windowMs: number): number {
  const counted = sent
    .map(({ sentAt, latencyMs, countedAfter }) => sentAt + latencyMs * countedAfter)
    .toSorted((left, right) => left - right);
  return Math.max(
    0,
    ...counted.map((at, index) => index + 1 - counted.findIndex((other) => other > at - windowMs)),
  );
}

const stream = (lane: Lane, count: number, at = 0, everyMs = 0, latencyMs = 100): Demand[] =>
  Array.from({ length: count }, (_, index) => ({
    lane,
    at: at + index * everyMs,
    latencyMs,
    countedAfter: 1,
  }));

const waits = (sent: readonly Sent[], lane: Lane) =>
  sent.filter((request) => request.lane === lane).map((request) => request.sentAt - request.at);

describe('the request budget (S11)', () => {
  it('never lets the server count more than allowed in any rolling window, whatever is asked when', () => {
    const demand = fc.record({
      lane: fc.constantFrom(...lanes),
      at: fc.integer({ min: 0, max: 3000 }),
      latencyMs: fc.integer({ min: 1, max: 900 }),
      countedAfter: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    const property = fc.property(
      fc.array(demand, { maxLength: 80 }),
      fc.integer({ min: 1, max: 12 }),
      (demands, requests) => {
        const sent = play(demands, { requests, windowMs: 1000 });
        expect(sent).toHaveLength(demands.length);
        expect(mostInAnyWindow(sent, 1000)).toBeLessThanOrEqual(requests);
      },
    );
    fc.assert(property, { numRuns: 200 });
  });

  it('gives a turn at once while slots are free', () => {
    expect(nextTurn(minute, [], [waiting('edit', 5)], 5)).toEqual({ lane: 'edit', at: 5 });
  });

  it('has no turn when nobody waits', () => {
    expect(nextTurn(minute, slots(3, 900), [], 0)).toBeUndefined();
  });

  it('waits for the slot that frees first when all are taken', () => {
    const taken = [700, ...slots(99, 900)];
    expect(nextTurn(minute, taken, [waiting('edit')], 0)).toEqual({ lane: 'edit', at: 700 });
  });

  it('serves settling before edits, edits before the newest page, that before the sweep', () => {
    const sent = play([
      ...stream('sweep', 2),
      ...stream('newest', 2),
      ...stream('edit', 2),
      ...stream('settle', 2),
    ]);
    expect(sent.map((request) => request.lane)).toEqual(lanes.flatMap((lane) => [lane, lane]));
  });

  it.each(['newest', 'sweep'] as const)('keeps a fifth of the slots from the lane %s', (lane) => {
    expect(laneCeiling(lane, 100)).toBe(80);
    expect(nextTurn(minute, slots(80, 900), [waiting(lane)], 0)).toEqual({ lane, at: 900 });
    expect(nextTurn(minute, slots(80, 900), [waiting('edit')], 0)).toEqual({ lane: 'edit', at: 0 });
  });

  it('leaves every lane a slot when only one request is allowed', () => {
    expect(lanes.map((lane) => laneCeiling(lane, 1))).toEqual([1, 1, 1, 1]);
  });

  it('sends a small first fill at once', () => {
    expect(waits(play(stream('sweep', 50)), 'sweep')).toEqual(slots(50, 0));
  });

  it('paces a long sweep after its first half window and then keeps it at its share', () => {
    const sent = play(stream('sweep', 500));
    const steady = sent.filter(({ sentAt }) => sentAt >= 120_000 && sentAt < 240_000);
    expect(mostInAnyWindow(sent, 60_000)).toBeLessThanOrEqual(80);
    expect(steady.length / 2).toBeGreaterThan(76);
    const pauses = steady.slice(1).map((request, index) => request.sentAt - steady[index]!.sentAt);
    expect(Math.max(...pauses)).toBeLessThan(2000);
  });

  it('sends edits at once while a sweep asks for more than there is', () => {
    const sent = play([...stream('sweep', 500), ...stream('edit', 60, 500, 3100)]);
    expect(Math.max(...waits(sent, 'edit'))).toBe(0);
  });

  it('lets 20 edits through at once at any moment of a sweep', () => {
    for (const at of [100, 10_000, 30_000, 59_000, 61_000, 90_000, 200_000]) {
      expect(Math.max(...waits(play([...stream('sweep', 400), ...stream('edit', 20, at)]), 'edit'))).toBe(0);
    }
  });

  it('gives every lane a turn in each window while edits ask for more than there is', () => {
    const sent = play([...stream('edit', 600), ...stream('newest', 20), ...stream('sweep', 20)]);
    for (const from of [61_000, 121_000, 181_000]) {
      const inWindow = sent.filter(({ sentAt }) => sentAt >= from - 60_000 && sentAt < from);
      expect(new Set(inWindow.map((request) => request.lane))).toEqual(new Set(['edit', 'newest', 'sweep']));
    }
  });

  it('counts a slot as taken until its moment', () => {
    expect(countTaken([10, 20, 30], 20)).toBe(1);
  });
});

describe('the learned allowance', () => {
  it('halves, down to a tenth', () => {
    expect([100, 50, 25, 12, 10].map((requests) => lowerRequests(requests, 100))).toEqual([
      50, 25, 12, 10, 10,
    ]);
    expect(lowerRequests(1, 1)).toBe(1);
  });

  it('comes back by a twentieth with each clean window, never above what is configured', () => {
    const after = (windows: number) => recoverRequests(50, 100, windows * 60_000, 60_000);
    expect([-1, 0, 0.9, 1, 4, 10, 99].map(after)).toEqual([50, 50, 50, 55, 70, 100, 100]);
  });

  it('waits longer with each refusal, at most a window', () => {
    expect([0, 1, 2, 3, 4, 20].map((refusals) => refusalBackoffMs(refusals, 60_000))).toEqual([
      5000, 10_000, 20_000, 40_000, 60_000, 60_000,
    ]);
  });
});
