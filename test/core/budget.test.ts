import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Lane, lanes } from '../../src/core/ports.ts';
import {
  type Demand,
  isUrgent,
  lowerRequests,
  nextTurn,
  recoverRequests,
  refusalBackoffMs,
  slotsBesideReserve,
  type WindowState,
} from '../../src/core/reading/budget.ts';

const never = -Infinity;
const minute: WindowState = {
  requests: 100,
  windowMs: 60_000,
  freeAts: [],
  sweptAt: never,
  editedAt: never,
  parkedUntil: never,
};
const slots = (count: number, freeAt: number) => Array.from({ length: count }, () => freeAt);
const demand = (lane: Lane, window: Partial<WindowState> = {}, since = 0): Demand => ({
  lane,
  since,
  lastTurnAt: never,
  windows: [{ ...minute, ...window }],
});
const turnAt = (lane: Lane, window: Partial<WindowState>, now = 0) =>
  nextTurn([demand(lane, window)], now)?.at;

interface Request {
  readonly lane: Lane;
  readonly at: number;
  /** From sending to the answer. */
  readonly latencyMs: number;
  /** The server counts the request somewhere in that time: 0 at once, 1 as it answers. */
  readonly countedAfter: number;
}

interface Sent extends Request {
  readonly sentAt: number;
  readonly key: number;
}

interface PlayedWindow {
  readonly requests: number;
  freeAts: number[];
  readonly lastTurnAt: Map<Lane, number>;
}

interface Limits {
  readonly requests: number;
  readonly windowMs: number;
  readonly keys?: number;
  readonly ipRequests?: number;
}

/** Plays requests against the rule in virtual time; a slot frees one window after the answer. */
function play(requests: readonly Request[], limits: Limits = minute): Sent[] {
  const { windowMs, keys = 1, ipRequests = limits.requests * keys } = limits;
  const openWindow = (allowed: number): PlayedWindow => ({
    requests: allowed,
    freeAts: [],
    lastTurnAt: new Map(),
  });
  const keyWindows = Array.from({ length: keys }, () => openWindow(limits.requests));
  const ipWindow = openWindow(ipRequests);
  const look = (window: PlayedWindow, now: number): WindowState => {
    const { requests: allowed, lastTurnAt } = window;
    window.freeAts = window.freeAts.filter((freeAt) => freeAt > now);
    return {
      requests: allowed,
      windowMs,
      freeAts: window.freeAts.toSorted((left, right) => left - right),
      sweptAt: lastTurnAt.get('sweep') ?? never,
      editedAt: Math.max(...lanes.filter(isUrgent).map((lane) => lastTurnAt.get(lane) ?? never)),
      parkedUntil: never,
    };
  };
  const queues = new Map<Lane, Request[]>(lanes.map((lane) => [lane, []]));
  const arriving = requests.toSorted((left, right) => left.at - right.at).values();
  let arrival = arriving.next().value;
  const sent: Sent[] = [];
  let now = 0;
  for (;;) {
    for (; arrival && arrival.at <= now; arrival = arriving.next().value) {
      queues.get(arrival.lane)!.push(arrival);
    }
    const ipState = look(ipWindow, now);
    const states = keyWindows.map((window) => [look(window, now), ipState]);
    const demands = lanes.flatMap((lane) => {
      const [first] = queues.get(lane)!;
      if (!first) return [];
      return keyWindows.map(({ lastTurnAt }, key) => ({
        lane,
        key,
        since: first.at,
        lastTurnAt: lastTurnAt.get(lane) ?? never,
        windows: states[key]!,
      }));
    });
    const turn = nextTurn(demands, now);
    if (turn && turn.at <= now) {
      const { lane, key } = turn.demand;
      const request = queues.get(lane)!.shift()!;
      for (const window of [keyWindows[key]!, ipWindow]) {
        window.lastTurnAt.set(lane, now);
        window.freeAts.push(now + request.latencyMs + windowMs);
      }
      sent.push({ ...request, sentAt: now, key });
      continue;
    }
    const next = Math.min(turn?.at ?? Infinity, arrival?.at ?? Infinity);
    if (next === Infinity) return sent;
    now = next;
  }
}

/** The most requests the server counts in any rolling window. */
function mostInAnyWindow(sent: readonly Sent[], windowMs: number): number {
  const counted = sent
    .map(({ sentAt, latencyMs, countedAfter }) => sentAt + latencyMs * countedAfter)
    .toSorted((left, right) => left - right);
  let oldest = 0;
  return counted.reduce((most, at, index) => {
    while (counted[oldest]! <= at - windowMs) oldest += 1;
    return Math.max(most, index + 1 - oldest);
  }, 0);
}

/** Latencies from 20 to 200 ms that look like chance and are the same in every run. */
const latencyOf = (index: number) => 20 + ((index * 7919) % 181);

const stream = (lane: Lane, count: number, at = 0, everyMs = 0): Request[] =>
  Array.from({ length: count }, (_, index) => ({
    lane,
    at: at + index * everyMs,
    latencyMs: latencyOf(index),
    countedAfter: 1,
  }));

const waits = (sent: readonly Sent[], lane: Lane) =>
  sent.filter((request) => request.lane === lane).map((request) => request.sentAt - request.at);
const percentile = (values: readonly number[], share: number) =>
  values.toSorted((left, right) => left - right)[Math.ceil(values.length * share) - 1];
/** What was sent from the third window to the twelfth, as a share of what is allowed in that time. */
const steadyShare = (sent: readonly Sent[], allowed = 100) =>
  sent.filter(({ sentAt }) => sentAt >= 120_000 && sentAt < 720_000).length / (10 * allowed);

const crowd = fc.array(
  fc.record({
    lane: fc.constantFrom(...lanes),
    at: fc.integer({ min: 0, max: 3000 }),
    latencyMs: fc.integer({ min: 1, max: 900 }),
    countedAfter: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { maxLength: 80 },
);

describe('S11: the request budget', () => {
  it('never lets the server count more than allowed in any rolling window, whatever is asked when', () => {
    const property = fc.property(crowd, fc.integer({ min: 1, max: 12 }), (requests, allowed) => {
      const sent = play(requests, { requests: allowed, windowMs: 1000 });
      expect(sent).toHaveLength(requests.length);
      expect(mostInAnyWindow(sent, 1000)).toBeLessThanOrEqual(allowed);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('keeps the limit of each key and that of the address, with any number of keys', () => {
    const property = fc.property(
      crowd,
      fc.record({
        requests: fc.integer({ min: 1, max: 8 }),
        ipRequests: fc.integer({ min: 1, max: 20 }),
        keys: fc.integer({ min: 1, max: 4 }),
      }),
      (requests, limits) => {
        const sent = play(requests, { ...limits, windowMs: 1000 });
        expect(sent).toHaveLength(requests.length);
        expect(mostInAnyWindow(sent, 1000)).toBeLessThanOrEqual(limits.ipRequests);
        for (const ofKey of Map.groupBy(sent, ({ key }) => key).values()) {
          expect(mostInAnyWindow(ofKey, 1000)).toBeLessThanOrEqual(limits.requests);
        }
      },
    );
    fc.assert(property, { numRuns: 200 });
  });

  it('gives a turn at once while slots are free', () => {
    expect(turnAt('edit', {}, 5)).toBe(5);
  });

  it('has no turn when nobody waits', () => {
    expect(nextTurn([], 0)).toBeUndefined();
  });

  it('waits for the slot that frees first when all are taken', () => {
    expect(turnAt('edit', { freeAts: [700, ...slots(99, 900)] })).toBe(700);
  });

  it('waits for the last of its windows', () => {
    const windows = [
      { ...minute, freeAts: slots(100, 700) },
      { ...minute, freeAts: slots(100, 900) },
    ];
    expect(nextTurn([{ ...demand('edit'), windows }], 0)?.at).toBe(900);
  });

  it('gives no turn while a window is parked', () => {
    expect(lanes.map((lane) => turnAt(lane, { parkedUntil: 30_000 }))).toEqual(slots(4, 30_000));
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

  it.each(['newest', 'sweep'] as const)(
    'keeps two slots of 100 from the lane %s while people edit',
    (lane) => {
      const nearlyFull = { freeAts: slots(98, 900), editedAt: -1000 };
      expect(slotsBesideReserve(100)).toBe(98);
      expect(turnAt(lane, nearlyFull)).toBe(900);
      expect(turnAt('edit', nearlyFull)).toBe(0);
    },
  );

  it('keeps no slot when nobody edited for a window', () => {
    const nearlyFull = { freeAts: slots(99, 900), editedAt: -60_000 };
    expect(turnAt('newest', nearlyFull)).toBe(0);
    expect(turnAt('sweep', nearlyFull)).toBe(0);
  });

  it('leaves every lane a slot when only one request is allowed', () => {
    expect(slotsBesideReserve(1)).toBe(1);
  });
});

describe('the pace of the sweep', () => {
  it('sends a small first fill at once', () => {
    expect(waits(play(stream('sweep', 50)), 'sweep')).toEqual(slots(50, 0));
  });

  it('uses at least 99 % of what is allowed while nobody edits', () => {
    const sent = play(stream('sweep', 1300));
    expect(steadyShare(sent)).toBeGreaterThanOrEqual(0.99);
    expect(mostInAnyWindow(sent, 60_000)).toBeLessThanOrEqual(100);
  });

  it('uses twice as much with two keys', () => {
    expect(steadyShare(play(stream('sweep', 2600), { ...minute, keys: 2 }), 200)).toBeGreaterThanOrEqual(
      0.98,
    );
  });

  it('stays even, so that the first edit after a quiet time waits for one interval', () => {
    const sweep = stream('sweep', 900);
    const steps = play(sweep).filter(({ sentAt }) => sentAt >= 120_000 && sentAt < 480_000);
    const pauses = steps.slice(1).map((request, index) => request.sentAt - steps[index]!.sentAt);
    expect(Math.max(...pauses)).toBeLessThan(1000);
    for (const at of [150_000, 177_777, 200_100, 260_300]) {
      expect(waits(play([...sweep, ...stream('edit', 1, at)]), 'edit')[0]).toBeLessThan(800);
    }
  });

  it('never lets an edit wait for a burst to expire', () => {
    for (const at of [100, 10_000, 30_000, 55_000, 59_000, 59_900, 61_000]) {
      const [wait] = waits(play([...stream('sweep', 400), ...stream('edit', 1, at)]), 'edit');
      expect(wait).toBeLessThanOrEqual(1200);
    }
  });

  it('uses at least 97 % while people edit, and their requests wait for less than one interval', () => {
    const edits = [...stream('edit', 60, 120_000, 9973), ...stream('edit', 60, 120_150, 9973)];
    const sent = play([...stream('sweep', 1300), ...edits]);
    expect(steadyShare(sent)).toBeGreaterThanOrEqual(0.97);
    expect(percentile(waits(sent, 'edit'), 0.99)).toBeLessThan(600);
    expect(percentile(waits(sent, 'edit'), 0.5)).toBe(0);
  });

  it('gives every lane a turn in each window while edits ask for more than there is', () => {
    const sent = play([...stream('edit', 600), ...stream('newest', 20), ...stream('sweep', 20)]);
    for (const from of [61_000, 121_000, 181_000]) {
      const inWindow = sent.filter(({ sentAt }) => sentAt >= from - 60_000 && sentAt < from);
      expect(new Set(inWindow.map((request) => request.lane))).toEqual(new Set(['edit', 'newest', 'sweep']));
    }
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
