import { expect, test } from 'vitest';
import { Loop, type LoopMode, type loopModes, type Pause } from '../../src/sync/loop.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** A loop of which a test ends each turn, in a time that the test moves. */
function openLoop() {
  const clock = createManualClock();
  const turns: { readonly isHastened: boolean; readonly end: (pause: Pause) => Promise<void> }[] = [];
  const loop = new Loop(clock, (isHastened) => {
    const { promise, resolve } = Promise.withResolvers<Pause>();
    const end = async (pause: Pause) => {
      resolve(pause);
      await clock.advance(0);
    };
    turns.push({ isHastened, end });
    return promise;
  });
  return { clock, loop, turns };
}

type Stage = ReturnType<typeof openLoop>;

const pauseMs = 1_000;

/** How a loop comes into each mode. */
const ways: Readonly<Record<LoopMode, (stage: Stage) => Promise<unknown>>> = {
  idle: async () => undefined,
  running: async ({ loop }) => void loop.start(),
  waiting: async (stage) => {
    await ways.running(stage);
    await stage.turns.at(-1)?.end({ waitMs: pauseMs });
  },
  'backing off': async (stage) => {
    await ways.running(stage);
    await stage.turns.at(-1)?.end({ waitMs: pauseMs, isBackingOff: true });
  },
  stopping: async (stage) => {
    await ways.running(stage);
    void stage.loop.stop();
  },
  stopped: async (stage) => {
    await ways.waiting(stage);
    await stage.loop.stop();
  },
};

/** What leads from one mode to another. */
const steps: {
  readonly [From in LoopMode]: Readonly<Record<(typeof loopModes)[From][number], (stage: Stage) => unknown>>;
} = {
  idle: {
    running: ({ loop }) => void loop.start(),
    stopped: ({ loop }) => loop.stop(),
  },
  running: {
    waiting: ({ turns }) => turns.at(-1)?.end({ waitMs: pauseMs }),
    'backing off': ({ turns }) => turns.at(-1)?.end({ waitMs: pauseMs, isBackingOff: true }),
    stopping: ({ loop }) => void loop.stop(),
  },
  waiting: {
    running: ({ clock }) => clock.advance(pauseMs),
    stopped: ({ loop }) => loop.stop(),
  },
  'backing off': {
    running: ({ clock }) => clock.advance(pauseMs),
    stopped: ({ loop }) => loop.stop(),
  },
  stopping: {
    stopped: ({ turns }) => turns.at(-1)?.end({ waitMs: pauseMs }),
  },
  stopped: {},
};

const transitions = Object.entries(steps).flatMap(([from, next]) =>
  Object.entries(next).map(([to, step]) => [from as LoopMode, to, step] as const),
);

test.each(transitions)('a loop that is %s can become %s', async (from, to, step) => {
  const stage = openLoop();
  await ways[from](stage);
  expect(stage.loop.mode).toBe(from);
  await step(stage);
  expect(stage.loop.mode).toBe(to);
});

test('a loop that has stopped takes no turn, whatever calls for one', async () => {
  const { clock, loop, turns } = openLoop();
  await loop.stop();
  await loop.start();
  loop.kick();
  loop.hasten();
  await clock.advance(pauseMs);
  expect([loop.mode, turns.length]).toEqual(['stopped', 0]);
});

test('a loop that runs cannot be started a second time', () => {
  const { loop } = openLoop();
  void loop.start();
  expect(() => loop.start()).toThrow('running');
});

test('a stop of a loop resolves only when the turn that runs is over', async () => {
  const { clock, loop, turns } = openLoop();
  void loop.start();
  let isStopped = false;
  const stop = loop.stop().then(() => {
    isStopped = true;
  });
  await clock.advance(pauseMs);
  expect(isStopped).toBe(false);
  await turns[0]?.end({ waitMs: pauseMs });
  await stop;
  expect(turns).toHaveLength(1);
});

test('a turn that fails ends its loop, and its stop says why', async () => {
  const loop = new Loop(createManualClock(), () => Promise.reject(new Error('It broke.')));
  const end = expect(loop.start()).rejects.toThrow('It broke.');
  await expect(loop.stop()).rejects.toThrow('It broke.');
  await end;
});

test('a kick ends a pause, but for the part in which it is kept for later', async () => {
  const { clock, loop, turns } = openLoop();
  void loop.start();
  await turns[0]?.end({ gapMs: 400, waitMs: pauseMs });
  loop.kick();
  await clock.advance(399);
  expect(turns).toHaveLength(1);
  await clock.advance(1);
  expect(turns).toHaveLength(2);
  await turns[1]?.end({ gapMs: 400, waitMs: pauseMs });
  await clock.advance(400);
  expect(turns).toHaveLength(2);
  loop.kick();
  await clock.advance(0);
  expect(turns).toHaveLength(3);
});

test('a pause that is over without a next turn is late, and ends when the loop is hastened', async () => {
  const clock = createManualClock();
  const hastened: boolean[] = [];
  const lost = {
    ...clock,
    sleep: (_: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
  };
  const loop = new Loop(lost, async (isHastened) => {
    hastened.push(isHastened);
    return { gapMs: pauseMs, waitMs: pauseMs };
  });
  void loop.start();
  await clock.advance(3 * pauseMs);
  expect([loop.lateMs, hastened]).toEqual([2 * pauseMs, [false]]);
  loop.hasten();
  await clock.advance(0);
  expect([loop.lateMs, hastened]).toEqual([0, [false, true]]);
});
