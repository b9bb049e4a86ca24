import { SyncError } from '../core/errors.ts';
import type { Clock, Log } from '../core/ports.ts';
import type { BoardView, Holder, Lease, LeaseBoard } from '../sync/lease.ts';
import { connectRedis } from './connection.ts';

export interface LeaseBoardOptions {
  readonly redisUrl: string;
  /** The links that are shared, by their names, with what they are known by in Redis. */
  readonly links: ReadonlyMap<string, string>;
  /** Names the processes that share exactly these links. */
  readonly group: string;
  /** A word that no other process has. */
  readonly process: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long a lease lasts without being renewed. Its link is run by somebody else within twice the time. */
export const leaseMs = 30_000;

/** Taken off what is sure: the clocks of two machines do not run alike, and an answer takes its way. */
const marginMs = 1_000;

/**
 * All deadlines are by the clock of Redis. A lease that is gone is taken up again only if nobody has had the link since; a Redis that has
 * lost everything knows of nobody. KEYS: the group, then three for each link (lease, last token, token that a mirror was opened under).
 * ARGV: process, lease in ms, then for each link what its lease says if this process has it, and its token.
 */
const lookScript = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  redis.call('PEXPIRE', KEYS[1], 10 * ARGV[2])
  local leases = {}
  for index = 1, (#KEYS - 1) / 3 do
    local lease, last = KEYS[3 * index - 1], KEYS[3 * index]
    local own, token = ARGV[2 * index + 1], ARGV[2 * index + 2]
    local found = redis.call('GET', lease)
    if own ~= '' then
      local since = redis.call('GET', last)
      if found == own or (not found and (not since or since == token)) then
        redis.call('SET', lease, own, 'PX', ARGV[2])
        redis.call('SET', last, token)
        found = own
      end
    end
    leases[index] = found or ''
  end
  return { redis.call('ZRANGE', KEYS[1], 0, -1), leases }
`;

/** A token is a time where that is greater than the last one, so that it goes on rising when Redis has lost the count. */
const takeScript = `
  if redis.call('EXISTS', KEYS[1]) == 1 then return false end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local token = string.format('%.0f', math.max(now, (redis.call('GET', KEYS[2]) or 0) + 1))
  redis.call('SET', KEYS[1], token .. ' ' .. ARGV[1], 'PX', ARGV[2])
  redis.call('SET', KEYS[2], token)
  return { token, redis.call('GET', KEYS[3]) }
`;

const releaseScript = `
  if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
  return 1
`;

/** Leases on Redis. What Redis does not confirm in time is not had. */
export function createLeaseBoard({
  clock,
  group,
  links,
  log,
  process,
  redisUrl,
}: LeaseBoardOptions): LeaseBoard {
  const { call, disconnect, redis } = connectRedis(redisUrl, clock, log);
  const held = new Map<string, OwnLease>();
  let ownUrl = '';

  const groupKey = `links:${group}`;
  // Whatever other links a process has, the lease of this one is the same.
  const keysOf = (link: string) =>
    ['lease', 'token', 'opened'].map((what) => `link:${links.get(link)}:${what}`);
  const textOf = ({ token }: OwnLease) => `${token} ${process} ${ownUrl}`;
  const run = (script: string, keys: readonly string[], words: readonly (string | number)[]) =>
    call(() => redis.eval(script, keys.length, ...keys, ...words));

  const lose = (lease: OwnLease) => {
    held.delete(lease.link);
    lease.isLost = true;
  };

  async function look(url: string): Promise<BoardView> {
    ownUrl = url;
    const begunAt = clock.monotonicMs();
    const asked = new Map(held);
    const names = [...links.keys()];
    const own = names.flatMap((link) => {
      const lease = asked.get(link);
      return lease ? [textOf(lease), lease.token] : ['', ''];
    });
    const keys = [groupKey, ...names.flatMap(keysOf)];
    const { leases, processes } = readLook(await run(lookScript, keys, [process, leaseMs, ...own]));
    const holders = new Map<string, Holder>();
    for (const [index, link] of names.entries()) {
      const text = leases[index] ?? '';
      const lease = asked.get(link);
      if (lease && text === textOf(lease)) lease.sureUntil = begunAt + leaseMs - marginMs;
      else if (lease) lose(lease);
      const [, holder = '', at = ''] = text.split(' ');
      if (holder !== '') holders.set(link, { process: holder, url: at });
    }
    return { holders, processes };
  }

  return {
    process,
    look,

    async take(link) {
      const begunAt = clock.monotonicMs();
      const taken = await run(takeScript, keysOf(link), [`${process} ${ownUrl}`, leaseMs]);
      if (!Array.isArray(taken)) return undefined;
      const [token, opened] = taken;
      const lease = new OwnLease(clock, link, Number(token), opened === null ? undefined : Number(opened));
      lease.sureUntil = begunAt + leaseMs - marginMs;
      held.set(link, lease);
      return lease;
    },

    async noteOpened({ link, token }) {
      await call(() => redis.set(keysOf(link)[2] ?? '', token));
    },

    async release({ link }) {
      const lease = held.get(link);
      if (!lease) return;
      lose(lease);
      await run(releaseScript, keysOf(link), [textOf(lease)]);
    },

    async close() {
      try {
        await call(() => redis.zrem(groupKey, process));
      } finally {
        disconnect();
      }
    },
  };
}

class OwnLease implements Lease {
  readonly link: string;
  readonly token: number;
  readonly openedUnder: number | undefined;
  isLost = false;
  /** Monotonic ms. */
  sureUntil = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;

  constructor(clock: Clock, link: string, token: number, openedUnder: number | undefined) {
    this.#clock = clock;
    this.link = link;
    this.token = token;
    this.openedUnder = openedUnder;
  }

  sureMs(): number {
    return this.isLost ? 0 : this.sureUntil - this.#clock.monotonicMs();
  }
}

function readLook(answer: unknown): { readonly processes: string[]; readonly leases: string[] } {
  const [processes, leases] = Array.isArray(answer) ? answer : [];
  if (!Array.isArray(processes) || !Array.isArray(leases))
    throw new SyncError('QUEUE_UNREACHABLE', 'Redis answered something else than the leases of the links.');
  return { processes: processes.map(String), leases: leases.map(String) };
}
