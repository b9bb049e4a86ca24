import { SyncError } from '../core/errors.ts';
import type { Clock, Log } from '../core/ports.ts';
import type { BoardView, Holder, Lease, LeaseBoard } from '../sync/lease.ts';
import { connectRedis, type RedisConnection } from './connection.ts';
import { lookScript, releaseScript, takeScript } from './lease-scripts.ts';

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
const leaseMs = 30_000;

/** For how long it is sure, from before Redis was asked. The clocks of two machines do not run alike. */
const sureMs = leaseMs - 1_000;

/** Leases on Redis. What Redis does not confirm in time is not had. */
export const createLeaseBoard = (options: LeaseBoardOptions): LeaseBoard => new RedisLeaseBoard(options);

class RedisLeaseBoard implements LeaseBoard {
  readonly #options: LeaseBoardOptions;
  readonly #connection: RedisConnection;
  readonly #groupKey: string;
  /** Leases that this process has, by the names of their links. */
  readonly #held = new Map<string, OwnLease>();
  #url = '';

  constructor(options: LeaseBoardOptions) {
    this.#options = options;
    this.#connection = connectRedis(options.redisUrl, options.clock, options.log);
    this.#groupKey = `crm-sheet-sync:links:${options.group}`;
  }

  get process(): string {
    return this.#options.process;
  }

  async look(url: string): Promise<BoardView> {
    this.#url = url;
    const { clock, links } = this.#options;
    const begunAt = clock.monotonicMs();
    const asked = new Map(this.#held);
    const names = [...links.keys()];
    const own = names.flatMap((link) => {
      const lease = asked.get(link);
      return lease ? [this.#textOf(lease), lease.token] : ['', ''];
    });
    const keys = [this.#groupKey, ...names.flatMap((link) => this.#keysOf(link))];
    const { leases, processes } = readLook(
      await this.#run(lookScript, keys, [this.process, leaseMs, ...own]),
    );
    const holders = new Map<string, Holder>();
    for (const [index, link] of names.entries()) {
      const text = leases[index] ?? '';
      const lease = asked.get(link);
      if (lease && text === this.#textOf(lease)) lease.sureUntil = begunAt + sureMs;
      else if (lease) this.#lose(lease);
      const [, holder = '', at = ''] = text.split(' ');
      if (holder !== '') holders.set(link, { process: holder, url: at });
    }
    return { holders, processes };
  }

  async take(link: string): Promise<Lease | undefined> {
    const { clock } = this.#options;
    const begunAt = clock.monotonicMs();
    const taken = await this.#run(takeScript, this.#keysOf(link), [`${this.process} ${this.#url}`, leaseMs]);
    if (!Array.isArray(taken)) return undefined;
    const [token, opened, run] = taken;
    const openedUnder = opened === null ? undefined : Number(opened);
    const lease = new OwnLease(clock, {
      link,
      token: Number(token),
      openedUnder,
      // Another database of the same Redis has leases of its own.
      board: typeof run === 'string' ? `${run}.${this.#connection.redis.options.db ?? 0}` : undefined,
      sureUntil: begunAt + sureMs,
    });
    this.#held.set(link, lease);
    return lease;
  }

  async noteOpened({ link, token }: Lease): Promise<void> {
    const { call, redis } = this.#connection;
    const [, , opened = ''] = this.#keysOf(link);
    await call(() => redis.set(opened, token));
  }

  async release({ link }: Lease): Promise<void> {
    const lease = this.#held.get(link);
    if (!lease) return;
    this.#lose(lease);
    await this.#run(releaseScript, this.#keysOf(link), [this.#textOf(lease)]);
  }

  async close(): Promise<void> {
    const { call, disconnect, redis } = this.#connection;
    try {
      await call(() => redis.zrem(this.#groupKey, this.process));
    } finally {
      disconnect();
    }
  }

  #run(script: string, keys: readonly string[], words: readonly (string | number)[]): Promise<unknown> {
    const { call, redis } = this.#connection;
    return call(() => redis.eval(script, keys.length, ...keys, ...words));
  }

  /** Whatever other links a process has, the lease of this one is the same. */
  #keysOf(link: string): string[] {
    const id = this.#options.links.get(link);
    return ['lease', 'token', 'opened'].map((what) => `crm-sheet-sync:link:${id}:${what}`);
  }

  #textOf({ token }: OwnLease): string {
    return `${token} ${this.process} ${this.#url}`;
  }

  #lose(lease: OwnLease): void {
    this.#held.delete(lease.link);
    lease.isLost = true;
  }
}

interface Grant {
  readonly link: string;
  readonly token: number;
  readonly openedUnder: number | undefined;
  readonly board: string | undefined;
  /** Monotonic ms. */
  readonly sureUntil: number;
}

class OwnLease implements Lease {
  readonly link: string;
  readonly token: number;
  readonly openedUnder: number | undefined;
  readonly board: string | undefined;
  isLost = false;
  sureUntil: number;
  readonly #clock: Clock;

  constructor(clock: Clock, { board, link, openedUnder, sureUntil, token }: Grant) {
    this.#clock = clock;
    this.link = link;
    this.token = token;
    this.openedUnder = openedUnder;
    this.board = board;
    this.sureUntil = sureUntil;
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
