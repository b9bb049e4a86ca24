import { afterAll, afterEach, beforeAll } from 'vitest';
import { createBullmqQueue } from '../../src/bullmq/queue.ts';
import type { Log, WorkQueue } from '../../src/core/ports.ts';
import { createInProcessQueue } from '../../src/inprocess/queue.ts';
import { realClock as clock } from './real-clock.ts';
import { type RedisServer, startRedis, stopRedis } from './redis.ts';

/** How long a queue may take to close. */
export const graceMs = 10_000;

/** Opens queues, on one Redis for all tests of a file or on servers of a test's own; all of them are closed after the test. */
export function openQueues() {
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

  const nextName = () => `push-${++queueCount}`;
  return {
    /** The Redis of all tests of the file. */
    redis: () => redis,
    nextName,
    async startOwnRedis(port?: number): Promise<RedisServer> {
      const server = await startRedis(port);
      ownServers.push(server);
      return server;
    },
    openBullmq(log: Log, { concurrency = 1, name = nextName(), redisUrl = redis.url } = {}): WorkQueue {
      const queue = createBullmqQueue({ redisUrl, name, concurrency, clock, log });
      queues.add(queue);
      return queue;
    },
    openInProcess(log: Log, { concurrency = 1 } = {}): WorkQueue {
      const queue = createInProcessQueue({ concurrency, clock, log });
      queues.add(queue);
      return queue;
    },
  };
}
