import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createBullmqQueue } from '../../src/bullmq/queue.ts';
import type { Log, WorkQueue } from '../../src/core/ports.ts';
import { type RecordKey, recordKeyText } from '../../src/core/record.ts';
import { createInProcessQueue } from '../../src/inprocess/queue.ts';
import { realClock } from '../support/real-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import {
  commandRedis,
  findFreePort,
  flushRedis,
  type RedisServer,
  silentPort,
  startRedis,
  stopRedis,
} from '../support/redis.ts';
import { openSilentLine } from '../support/silent-line.ts';
import { until } from '../support/until.ts';

const clock = realClock;
const lead = (id: string): RecordKey => ({ entity: 'lead', id });
const [ann, bob, cem] = [lead('1'), lead('2'), lead('new-k3v9x')];
const graceMs = 10_000;

/** A worker that notes whom it was woken for and stays awake as long as a test holds it. */
function createWorker() {
  const woken: string[] = [];
  const ended: string[] = [];
  const awake = new Map<string, number>();
  let mostAtOnce = 0;
  let hold: Promise<void> | undefined;
  let problem: Error | undefined;
  let wakeUpSeen = Promise.withResolvers<void>();
  const nextWakeUp = () => wakeUpSeen.promise;
  return {
    woken,
    ended,
    /** The most wake-ups of one record that ran at the same time. */
    mostAtOnce: () => mostAtOnce,
    /** Keeps wake-ups from ending until the answer is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      hold = promise;
      return resolve;
    },
    failOnce(error: Error) {
      problem = error;
    },
    /** Resolves when there has been a wake-up of the record. */
    async wokenFor(key: RecordKey): Promise<void> {
      while (!woken.includes(recordKeyText(key))) await nextWakeUp();
    },
    /** Resolves when there have been that many wake-ups. */
    async wokenTimes(count: number): Promise<string[]> {
      while (woken.length < count) await nextWakeUp();
      return woken.slice(0, count);
    },
    async wakeUp(key: RecordKey): Promise<void> {
      const text = recordKeyText(key);
      const atOnce = (awake.get(text) ?? 0) + 1;
      awake.set(text, atOnce);
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      woken.push(text);
      wakeUpSeen.resolve();
      wakeUpSeen = Promise.withResolvers<void>();
      await hold;
      ended.push(text);
      awake.set(text, (awake.get(text) ?? 0) - 1);
      const error = problem;
      problem = undefined;
      if (error) throw error;
    },
  };
}

let redis: RedisServer;
let queueCount = 0;
const queues = new Set<WorkQueue>();
const ownServers: RedisServer[] = [];

beforeAll(async () => {
  redis = await startRedis();
});

afterEach(async () => {
  await Promise.all([...queues].map((queue) => queue.close(graceMs)));
  queues.clear();
  await Promise.all(ownServers.splice(0).map(stopRedis));
});

afterAll(() => stopRedis(redis));

const startOwnRedis = async (port?: number): Promise<RedisServer> => {
  const server = await startRedis(port);
  ownServers.push(server);
  return server;
};

const nextName = () => `push-${++queueCount}`;

const openBullmq = (log: Log, { concurrency = 1, name = nextName(), redisUrl = redis.url } = {}) => {
  const queue = createBullmqQueue({ redisUrl, name, concurrency, clock, log });
  queues.add(queue);
  return queue;
};

const openInProcess = (log: Log, { concurrency = 1 } = {}) => {
  const queue = createInProcessQueue({ concurrency, clock, log });
  queues.add(queue);
  return queue;
};

describe.each([
  ['bullmq', openBullmq],
  ['inprocess', openInProcess],
] as const)('a work queue on %s', (kind, open) => {
  test('says what it is and that it is there', async () => {
    const queue = open(createRecordingLog());

    expect([queue.kind, await queue.isReachable()]).toStrictEqual([kind, true]);
  });

  test('wakes the worker for every record that was added, also for those from before its start', async () => {
    const worker = createWorker();
    const queue = open(createRecordingLog());
    await queue.add([ann, bob]);
    await queue.start(worker.wakeUp);
    await queue.add([cem]);
    await queue.add([]);

    expect(await worker.wokenTimes(3)).toStrictEqual(['lead-1', 'lead-2', 'lead-new-k3v9x']);
  });

  test('does not add a record again that already waits', async () => {
    const worker = createWorker();
    const queue = open(createRecordingLog());
    const release = worker.hold();
    await queue.start(worker.wakeUp);
    await queue.add([ann]);
    await worker.wokenTimes(1);
    await queue.add([bob, bob]);
    await queue.add([bob]);
    release();
    await worker.wokenTimes(2);
    await queue.add([cem]);

    expect(await worker.wokenTimes(3)).toStrictEqual(['lead-1', 'lead-2', 'lead-new-k3v9x']);
  });

  test('wakes once more for a record that was added while it was worked on, never twice at once', async () => {
    const worker = createWorker();
    const queue = open(createRecordingLog(), { concurrency: 2 });
    const release = worker.hold();
    await queue.start(worker.wakeUp);
    await queue.add([ann]);
    await worker.wokenTimes(1);
    await queue.add([ann]);
    await queue.add([ann, bob]);
    await worker.wokenTimes(2);
    release();

    expect(await worker.wokenTimes(3)).toStrictEqual(['lead-1', 'lead-2', 'lead-1']);
    expect(worker.mostAtOnce()).toBe(1);
  });

  test('works on as many records at once as it is told', async () => {
    const worker = createWorker();
    const queue = open(createRecordingLog(), { concurrency: 3 });
    const release = worker.hold();
    await queue.start(worker.wakeUp);
    await queue.add([ann, bob, cem, lead('4')]);
    expect((await worker.wokenTimes(3)).toSorted()).toStrictEqual(['lead-1', 'lead-2', 'lead-new-k3v9x']);
    expect(worker.woken).toHaveLength(3);
    release();

    expect(await worker.wokenTimes(4)).toContain('lead-4');
  });

  test('goes on after a wake-up that fails, tells of it, and takes the same record again', async () => {
    const worker = createWorker();
    const log = createRecordingLog();
    const queue = open(log);
    await queue.start(worker.wakeUp);
    worker.failOnce(new Error('a bug'));
    await queue.add([ann, bob]);
    await worker.wokenTimes(2);
    await queue.add([ann]);

    expect(await worker.wokenTimes(3)).toStrictEqual(['lead-1', 'lead-2', 'lead-1']);
    expect(await log.told('queue.wake-up-failed')).toMatchObject({
      level: 'error',
      fields: { record: 'lead-1', problem: 'a bug' },
    });
  });

  test('waits for running work when it is closed, and starts none', async () => {
    const worker = createWorker();
    const queue = open(createRecordingLog());
    const release = worker.hold();
    await queue.start(worker.wakeUp);
    await queue.add([ann, bob]);
    await worker.wokenTimes(1);
    let isClosed = false;
    const closed = queue.close(graceMs).then(() => {
      isClosed = true;
    });
    await nextTurn();
    expect(isClosed).toBe(false);
    release();
    await closed;

    expect(worker.ended).toStrictEqual(['lead-1']);
    expect(worker.woken).toStrictEqual(['lead-1']);
  });

  test('closes without running work that outlasts the grace', async () => {
    const worker = createWorker();
    const queue = open(createRecordingLog());
    const release = worker.hold();
    await queue.start(worker.wakeUp);
    await queue.add([ann]);
    await worker.wokenTimes(1);
    await queue.close(50);

    expect(worker.woken).toStrictEqual(['lead-1']);
    release();
  });

  test('takes nothing once it is closed', async () => {
    const queue = open(createRecordingLog());
    await queue.start(createWorker().wakeUp);
    await queue.close(graceMs);

    await expect(queue.add([ann])).rejects.toMatchObject({ code: 'QUEUE_UNREACHABLE' });
    expect(await queue.isReachable()).toBe(false);
  });
});

describe('the work queue on BullMQ', () => {
  test('keeps nothing but the record key in Redis, and nothing at all of a job that ended', async () => {
    const worker = createWorker();
    const log = createRecordingLog();
    const name = nextName();
    const queue = openBullmq(log, { name });
    await queue.add([ann]);
    const reader = new Redis(redis.url);
    expect(await reader.hgetall(`bull:${name}:lead-1`)).toMatchObject({
      name: 'push',
      data: '{"key":"lead-1"}',
    });
    worker.failOnce(new Error('a bug'));
    await queue.start(worker.wakeUp);
    await worker.wokenTimes(1);
    await queue.close(graceMs);

    expect(await reader.exists(`bull:${name}:lead-1`)).toBe(0);
    reader.disconnect();
  });

  test('keeps its connection from one call to the next', async () => {
    const queue = openBullmq(createRecordingLog());
    const reader = new Redis(redis.url);
    const connectionCount = async () =>
      /total_connections_received:\d+/.exec(await reader.info('stats'))?.[0];
    await queue.add([ann]);
    const before = await connectionCount();
    await queue.add([bob]);
    await queue.isReachable();
    await queue.add([cem]);

    expect(await connectionCount()).toBe(before);
    reader.disconnect();
  });

  test('ends a job that it can not read', async () => {
    const worker = createWorker();
    const log = createRecordingLog();
    const name = nextName();
    const queue = openBullmq(log, { name });
    await queue.add([ann]);
    const writer = new Redis(redis.url);
    await writer.hset(`bull:${name}:lead-1`, 'data', '{"key":"invoice-1"}');
    writer.disconnect();
    await queue.start(worker.wakeUp);
    expect(await log.told('queue.job-unreadable')).toMatchObject({ fields: { job: 'lead-1' } });
    await queue.add([bob]);

    expect(await worker.wokenTimes(1)).toStrictEqual(['lead-2']);
  });

  test('works on when Redis has forgotten everything, in the middle of a job too', async () => {
    const worker = createWorker();
    const queue = openBullmq(createRecordingLog());
    const release = worker.hold();
    await queue.start(worker.wakeUp);
    await queue.add([ann, bob]);
    await worker.wokenTimes(1);
    await flushRedis(redis);
    release();
    await queue.add([cem]);
    expect(await worker.wokenTimes(2)).toStrictEqual(['lead-1', 'lead-new-k3v9x']);
    await queue.add([bob]);

    expect((await worker.wokenTimes(3)).at(-1)).toBe('lead-2');
  });

  test('says so when Redis dies, and works again when it is back', async () => {
    const own = await startOwnRedis();
    const worker = createWorker();
    const log = createRecordingLog();
    const queue = openBullmq(log, { redisUrl: own.url });
    await queue.start(worker.wakeUp);
    await queue.add([ann]);
    await worker.wokenTimes(1);
    await stopRedis(own);
    await expect(queue.add([bob])).rejects.toMatchObject({ code: 'QUEUE_UNREACHABLE' });
    expect(await queue.isReachable()).toBe(false);
    await log.told('queue.lost');

    await startOwnRedis(own.port);
    await log.told('queue.back');
    await queue.add([cem]);
    await worker.wokenFor(cem);
    expect(log.lines.filter((line) => line.event === 'queue.lost')).toHaveLength(1);
  });

  test('says so when Redis is silent, and works again when it speaks', async () => {
    const own = await startOwnRedis();
    const worker = createWorker();
    const queue = openBullmq(createRecordingLog(), { redisUrl: own.url });
    await queue.start(worker.wakeUp);
    await queue.add([ann]);
    await worker.wokenTimes(1);
    own.process.kill('SIGSTOP');
    await expect(queue.add([bob])).rejects.toMatchObject({
      code: 'QUEUE_UNREACHABLE',
      message: expect.stringContaining(`127.0.0.1:${own.port}`),
    });
    own.process.kill('SIGCONT');
    await queue.add([cem]);

    await worker.wokenFor(cem);
  });

  test('works again when another Redis has taken the place of one that lets nobody write any more', async () => {
    const [former, next] = [await startOwnRedis(), await startOwnRedis()];
    const line = await openSilentLine(former.port);
    const worker = createWorker();
    const queue = openBullmq(createRecordingLog(), { redisUrl: `redis://127.0.0.1:${line.port}` });
    await queue.start(worker.wakeUp);
    await queue.add([ann]);
    await worker.wokenFor(ann);
    line.leadTo(next.port);
    await commandRedis(former, 'REPLICAOF', '127.0.0.1', String(next.port));
    await expect(queue.add([bob])).rejects.toMatchObject({ code: 'QUEUE_UNREACHABLE' });
    await until('the queue takes something again', () =>
      queue.add([cem]).then(
        () => true,
        () => false,
      ),
    );

    await worker.wokenFor(cem);
  });

  test('says once what a Redis answers that refuses all work, asks it now and then, and works again when it takes some', async () => {
    const own = await startOwnRedis();
    const setMemory = (bytes: string) => commandRedis(own, 'CONFIG', 'SET', 'maxmemory', bytes);
    await setMemory('1');
    const worker = createWorker();
    const log = createRecordingLog();
    const queue = openBullmq(log, { redisUrl: own.url });
    await queue.start(worker.wakeUp);
    expect(await log.told('queue.worker-failed')).toMatchObject({
      fields: { problem: expect.stringContaining('OOM') },
    });
    await expect(queue.add([])).rejects.toMatchObject({
      code: 'QUEUE_UNREACHABLE',
      message: expect.stringContaining('OOM'),
    });
    const asked = async () => {
      const stats = await commandRedis(own, 'INFO', 'commandstats');
      return Number(/evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    const before = await asked();
    await until('the worker has asked again', async () => (await asked()) > before + 1);
    await setMemory('0');
    await until('the queue takes something again', () =>
      queue.add([ann]).then(
        () => true,
        () => false,
      ),
    );
    await worker.wokenFor(ann);

    expect(await asked()).toBeLessThan(100);
    expect(log.lines.filter(({ event }) => event === 'queue.worker-failed')).toHaveLength(1);
  });

  test('starts without Redis, and works as soon as there is one', async () => {
    const port = await findFreePort();
    const worker = createWorker();
    const log = createRecordingLog();
    const queue = openBullmq(log, { redisUrl: `redis://127.0.0.1:${port}` });
    await queue.start(worker.wakeUp);
    await log.told('queue.lost');
    await expect(queue.add([ann])).rejects.toMatchObject({ code: 'QUEUE_UNREACHABLE' });

    await startOwnRedis(port);
    await log.told('queue.back');
    await queue.add([bob]);
    expect(await worker.wokenTimes(1)).toStrictEqual(['lead-2']);
  });

  test('closes within its grace although Redis was never there', async () => {
    const log = createRecordingLog();
    const queue = openBullmq(log, { redisUrl: `redis://127.0.0.1:${silentPort}` });
    await queue.start(createWorker().wakeUp);
    await log.told('queue.lost');
    await queue.close(100);

    await expect(queue.add([ann])).rejects.toMatchObject({ code: 'QUEUE_UNREACHABLE' });
  });
});
