import { Redis } from 'ioredis';
import { SyncError } from '../core/errors.ts';
import { describeProblem } from './connection.ts';

/** What a Redis says about itself. */
export interface RedisLook {
  /** Host and port. */
  readonly place: string;
  readonly version: string;
  /** What it does when its memory is full; `noeviction` forgets nothing. */
  readonly evictionPolicy: string;
  /** Whether it writes every change into a file (`appendonly`). */
  readonly isAppendOnly: boolean;
  /** Whether it follows another one, and takes nothing from anybody else. */
  readonly isReadOnly: boolean;
}

const connectTimeoutMs = 2000;
const commandTimeoutMs = 2000;

/** Asks a Redis about itself, on a connection of its own and once. Fails with QUEUE_UNREACHABLE. */
export async function lookAtRedis(url: string): Promise<RedisLook> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  const { host = '', port = 0 } = redis.options;
  const place = `${host}:${port}`;
  let problem: unknown;
  redis.on('error', (error) => {
    problem = error;
  });
  try {
    await redis.connect();
    const facts = readFacts(await redis.info());
    return {
      place,
      version: facts.get('redis_version') ?? 'unknown',
      evictionPolicy: facts.get('maxmemory_policy') ?? 'unknown',
      isAppendOnly: facts.get('aof_enabled') === '1',
      isReadOnly: facts.get('slave_read_only') === '1',
    };
  } catch (error) {
    // A failed connection is told by the event; the call only says that the connection is closed.
    const reason = describeProblem(problem ?? error);
    throw new SyncError('QUEUE_UNREACHABLE', `Redis at ${place} failed: ${reason}.`, { cause: error });
  } finally {
    redis.disconnect();
  }
}

/** The lines `name:value` of the answer to INFO: https://redis.io/docs/latest/commands/info/ */
const readFacts = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const [, name, value] = /^(\w+):(.*)$/.exec(line) ?? [];
      return name && value !== undefined ? [[name, value] as const] : [];
    }),
  );
