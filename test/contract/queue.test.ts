import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import type { RecordKey } from '../../src/core/record.ts';
import { createInProcessQueue } from '../../src/inprocess/queue.ts';
import { createWorker } from '../support/queue-worker.ts';
import { graceMs, openQueues } from '../support/queues.ts';
import { realClock } from '../support/real-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';

const lead = (id: string): RecordKey => ({ entity: 'lead', id });
const [ann, bob, cem] = [lead('1'), lead('2'), lead('new-k3v9x')];
const { nextName, openBullmq, openInProcess, redis } = openQueues();

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

test('the work queue in the process lets others have their turn while many records are added', async () => {
  let turns = 0;
  const sleep = async () => {
    turns += 1;
  };
  const clock = { ...realClock, sleep };
  const queue = createInProcessQueue({ concurrency: 1, clock, log: createRecordingLog() });
  const worker = createWorker();
  const keys = Array.from({ length: 2_500 }, (_, place) => lead(String(place)));
  await queue.add(keys);
  expect(turns).toBe(2);
  await queue.start(worker.wakeUp);
  expect(await worker.wokenTimes(keys.length)).toHaveLength(keys.length);
  await queue.close(graceMs);
});

describe('the work queue on BullMQ', () => {
  test('keeps nothing but the record key in Redis, and nothing at all of a job that ended', async () => {
    const worker = createWorker();
    const log = createRecordingLog();
    const name = nextName();
    const queue = openBullmq(log, { name });
    await queue.add([ann]);
    const reader = new Redis(redis().url);
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
    const reader = new Redis(redis().url);
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
    const writer = new Redis(redis().url);
    await writer.hset(`bull:${name}:lead-1`, 'data', '{"key":"invoice-1"}');
    writer.disconnect();
    await queue.start(worker.wakeUp);
    expect(await log.told('queue.job-unreadable')).toMatchObject({ fields: { job: 'lead-1' } });
    await queue.add([bob]);

    expect(await worker.wokenTimes(1)).toStrictEqual(['lead-2']);
  });
});
