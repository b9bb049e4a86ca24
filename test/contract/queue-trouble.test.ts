import { describe, expect, test } from 'vitest';
import type { WorkQueue } from '../../src/core/ports.ts';
import type { RecordKey } from '../../src/core/record.ts';
import { findFreePort } from '../support/free-port.ts';
import { createWorker } from '../support/queue-worker.ts';
import { openQueues } from '../support/queues.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { commandRedis, flushRedis, silentPort, stopRedis } from '../support/redis.ts';
import { openSilentLine } from '../support/silent-line.ts';
import { until } from '../support/until.ts';

const lead = (id: string): RecordKey => ({ entity: 'lead', id });
const [ann, bob, cem] = [lead('1'), lead('2'), lead('new-k3v9x')];
const { openBullmq, redis, startOwnRedis } = openQueues();

const untilTaken = (queue: WorkQueue, key: RecordKey) =>
  until('the queue takes something again', () =>
    queue.add([key]).then(
      () => true,
      () => false,
    ),
  );

describe('the work queue on BullMQ, in trouble with its Redis,', () => {
  test('works on when Redis has forgotten everything, in the middle of a job too', async () => {
    const worker = createWorker();
    const queue = openBullmq(createRecordingLog());
    const release = worker.hold();
    await queue.start(worker.wakeUp);
    await queue.add([ann, bob]);
    await worker.wokenTimes(1);
    await flushRedis(redis());
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

  test('fault 65: says so when Redis is silent, and works again when it speaks', async () => {
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
    await untilTaken(queue, cem);

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
    await untilTaken(queue, ann);
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

  const hourMs = 3_600_000;

  test('closes soon although Redis was never there, however long its grace is', async () => {
    const log = createRecordingLog();
    const queue = openBullmq(log, { redisUrl: `redis://127.0.0.1:${silentPort}` });
    await queue.start(createWorker().wakeUp);
    await log.told('queue.lost');

    await queue.close(hourMs);
  });

  test.each(['SIGSTOP', 'SIGKILL'] as const)(
    'lets running work end and closes soon after it, where Redis got %s meanwhile',
    async (signal) => {
      const own = await startOwnRedis();
      const worker = createWorker();
      const queue = openBullmq(createRecordingLog(), { redisUrl: own.url });
      const release = worker.hold();
      await queue.start(worker.wakeUp);
      await queue.add([ann]);
      await worker.wokenTimes(1);
      own.process.kill(signal);
      const closed = queue.close(hourMs).then(() => worker.ended.length);
      release();

      expect(await closed).toBe(1);
    },
  );
});
