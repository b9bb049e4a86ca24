import { once } from 'node:events';
import { Redis } from 'ioredis';
import { SyncError } from '../core/errors.ts';
import type { Clock, Log } from '../core/ports.ts';

/** How long one call to Redis may take. BullMQ's own calls wait for ever while Redis is away. */
const deadlineMs = 2000;
const retryDelayMaxMs = 1000;

/** Connects in the background, for ever again, and tells of a loss and of a return once each. */
export function connectRedis(url: string, clock: Clock, log: Log) {
  let isDown = false;
  let isEnding = false;
  const redis = new Redis(url, {
    // BullMQ demands it for workers: their blocking reads have to outlive an outage.
    maxRetriesPerRequest: null,
    connectTimeout: deadlineMs,
    retryStrategy: (attempt) => (isEnding ? null : Math.min(attempt * 100, retryDelayMaxMs)),
    // After a failover the former master goes on answering on old connections; a new one finds whoever has its address now.
    reconnectOnError: ({ message }) => message.includes('READONLY'),
  });
  const { host = '', port = 0 } = redis.options;
  const place = `${host}:${port}`;
  redis.on('error', (error) => {
    if (!isDown) log.warn('queue.lost', { place, problem: describeProblem(error) });
    isDown = true;
  });
  redis.on('ready', () => {
    if (isDown) log.info('queue.back', { place });
    isDown = false;
  });

  /** Runs the work once Redis is there. Fails with QUEUE_UNREACHABLE when that takes longer than two seconds. */
  const call = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isEnding) throw new SyncError('QUEUE_UNREACHABLE', 'The queue is closed.');
    const isOver = new AbortController();
    try {
      return await Promise.race([
        whenReady(redis, isOver.signal).then(work),
        clock.sleep(deadlineMs, isOver.signal).then(() => {
          if (!isOver.signal.aborted) renewSilent(redis);
          throw new Error(`no answer within ${deadlineMs} ms`);
        }),
      ]);
    } catch (error) {
      throw new SyncError('QUEUE_UNREACHABLE', `Redis at ${place} failed: ${describeProblem(error)}.`, {
        cause: error,
      });
    } finally {
      isOver.abort();
    }
  };

  return {
    redis,
    /** Whether errors of the connection are logged and its return is not yet. */
    isDown: () => isDown,
    call,
    /** Ends this connection and lets the copies that BullMQ made of it die with their next loss. */
    disconnect() {
      isEnding = true;
      redis.disconnect();
    },
  };
}

export type RedisConnection = ReturnType<typeof connectRedis>;

/** Rejects when the next attempt to connect fails: `once` takes an `error` event for a failure. */
async function whenReady(redis: Redis, signal: AbortSignal): Promise<void> {
  if (redis.status === 'ready') return;
  await once(redis, 'ready', { signal });
}

/** A connection that is open but silent may have lost its other end for good: only a new one can tell. */
function renewSilent(redis: Redis): void {
  if (redis.status === 'ready') redis.disconnect(true);
}

/** A refused connection to a name with several addresses has no message, only a code. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : error.name;
  return error.message || code;
}
