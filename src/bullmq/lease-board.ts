import { SyncError } from '../core/errors.ts';
import type { Clock, Log } from '../core/ports.ts';
import type { Holder, Lease, LeaseBoard } from '../sync/lease.ts';
import { connectRedis } from './connection.ts';
import { lookScript, releaseScript, takeScript } from './lease-scripts.ts';

interface LeaseBoardOptions {
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
const leaseMs = 30_000;

/** For how long it is sure, from before Redis was asked. The clocks of two machines do not run alike. */
const sureMs = leaseMs - 1_000;

interface OwnLease extends Lease {
  isLost: boolean;
  /** Monotonic ms. */
  sureUntil: number;
}

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
  const groupKey = `crm-sheet-sync:links:${group}`;
  /** Leases that this process has, by the names of their links. */
  const held = new Map<string, OwnLease>();
  let ownUrl = '';

  const run = (script: string, keys: readonly string[], words: readonly (string | number)[]) =>
    call(() => redis.eval(script, keys.length, ...keys, ...words));
  /** Whatever other links a process has, the lease of this one is the same. */
  const keyOf = (link: string, what: string) => `crm-sheet-sync:link:${links.get(link)}:${what}`;
  const keysOf = (link: string) => ['lease', 'token', 'opened'].map((what) => keyOf(link, what));
  const textOf = ({ token }: OwnLease) => `${token} ${process} ${ownUrl}`;
  const lose = (lease: OwnLease) => {
    held.delete(lease.link);
    lease.isLost = true;
  };

  return {
    process,

    async look(url) {
      ownUrl = url;
      const begunAt = clock.monotonicMs();
      const asked = [...links.keys()].map((link) => ({ link, lease: held.get(link) }));
      const own = asked.flatMap(({ lease }) => (lease ? [textOf(lease), lease.token] : ['', '']));
      const keys = [groupKey, ...asked.flatMap(({ link }) => keysOf(link))];
      const { leases, processes } = readLook(await run(lookScript, keys, [process, leaseMs, ...own]));
      const holders = new Map<string, Holder>();
      for (const [index, { lease, link }] of asked.entries()) {
        const text = leases[index] ?? '';
        if (lease && text === textOf(lease)) lease.sureUntil = begunAt + sureMs;
        else if (lease) lose(lease);
        const [, holder = '', at = ''] = text.split(' ');
        if (holder !== '') holders.set(link, { process: holder, url: at });
      }
      return { holders, processes };
    },

    async take(link) {
      const begunAt = clock.monotonicMs();
      const taken = await run(takeScript, keysOf(link), [`${process} ${ownUrl}`, leaseMs]);
      if (!Array.isArray(taken)) return undefined;
      const lease = leaseOf(link, taken, clock, redis.options.db ?? 0, begunAt + sureMs);
      held.set(link, lease);
      return lease;
    },

    async noteOpened({ link, token }) {
      await call(() => redis.set(keyOf(link, 'opened'), token));
    },

    async release({ link }) {
      const lease = held.get(link);
      if (!lease) return;
      lose(lease);
      await run(releaseScript, keysOf(link), [textOf(lease)]);
    },

    close: () => call(async () => void (await redis.zrem(groupKey, process))).finally(disconnect),
  };
}

function leaseOf(
  link: string,
  [token, opened, run]: readonly unknown[],
  clock: Clock,
  database: number,
  sureUntil: number,
): OwnLease {
  const lease: OwnLease = {
    link,
    token: Number(token),
    openedUnder: opened === null ? undefined : Number(opened),
    // Another database of the same Redis has leases of its own.
    board: typeof run === 'string' ? `${run}.${database}` : undefined,
    isLost: false,
    sureUntil,
    sureMs: () => (lease.isLost ? 0 : lease.sureUntil - clock.monotonicMs()),
  };
  return lease;
}

function readLook(answer: unknown): { readonly processes: string[]; readonly leases: string[] } {
  const [processes, leases] = Array.isArray(answer) ? answer : [];
  if (!Array.isArray(processes) || !Array.isArray(leases))
    throw new SyncError('QUEUE_UNREACHABLE', 'Redis answered something else than the leases of the links.');
  return { processes: processes.map(String), leases: leases.map(String) };
}
