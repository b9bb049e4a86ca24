import { Queue, Worker } from 'bullmq';
import PQueue from 'p-queue';
import { createRequestBudget } from '../../src/crm/budget.ts';
import { createMemoryBudgetLog } from '../support/memory-budget-log.ts';
import { realClock } from '../support/real-clock.ts';
import type { Limit } from './limited-server.ts';

export type Urgency = 'urgent' | 'sweep';

/** Runs a request when the limiter allows, and resolves when it has ended. */
export type Schedule = (urgency: Urgency, send: () => Promise<void>) => Promise<void>;

export interface Limiter {
  readonly name: string;
  /** Sets a limiter up; `undefined` where its package is not installed. */
  open(limit: Limit, place: Place): Promise<Schedule | undefined>;
}

/** What a limiter may need: a Redis, and a name that no other limiter there has. */
export interface Place {
  readonly redisUrl: string;
  readonly name: string;
}

/** More than any limiter has under way at 200 ms a request. */
const concurrency = 50;

const ours: Limiter = {
  name: 'request budget of this project',
  open: async ({ requests, windowMs }) => {
    const budget = createRequestBudget({
      keys: [{ name: 'bench', secret: '' }],
      requests,
      ipRequests: 2 * requests,
      windowMs,
      holdMs: 5000,
      clock: realClock,
      log: createMemoryBudgetLog(),
    });
    return async (urgency, send) => {
      const permit = await budget.take(urgency === 'urgent' ? 'edit' : 'sweep');
      await send();
      permit.answered();
    };
  },
};

const bullmq: Limiter = {
  name: 'BullMQ limiter',
  open: async ({ requests: max, windowMs: duration }, { redisUrl, name }) => {
    const connection = { url: redisUrl, maxRetriesPerRequest: null };
    const queue = new Queue(name, { connection });
    const sends = new Map<string, () => Promise<void>>();
    const work = async ({ id = '' }: { id?: string }) => sends.get(id)?.();
    const worker = new Worker(name, work, { connection, concurrency, limiter: { max, duration } });
    await worker.waitUntilReady();
    return async (urgency, send) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const jobId = `job-${sends.size}`;
      sends.set(jobId, () => send().then(resolve));
      const options = { jobId, priority: urgency === 'urgent' ? 1 : 10, removeOnComplete: true };
      await queue.add('request', {}, options);
      return promise;
    };
  },
};

const pQueue: Limiter = {
  name: 'p-queue, strict',
  open: async ({ requests: intervalCap, windowMs: interval }) => {
    const queue = new PQueue({ concurrency, interval, intervalCap, strict: true });
    return (urgency, send) => queue.add(send, { priority: urgency === 'urgent' ? 1 : 0 });
  },
};

interface BottleneckModule {
  readonly default: new (
    options: Readonly<Record<string, number>>,
  ) => { schedule(options: { priority: number }, send: () => Promise<void>): Promise<void> };
}

const bottleneck = (name: string, readOptions: (limit: Limit) => Record<string, number>): Limiter => ({
  name,
  open: async (limit) => {
    const isBottleneck = (module: object): module is BottleneckModule => 'default' in module;
    const module = await importWhereInstalled('bottleneck', isBottleneck);
    if (!module) return undefined;
    const limiter = new module.default({ maxConcurrent: concurrency, ...readOptions(limit) });
    return (urgency, send) => limiter.schedule({ priority: urgency === 'urgent' ? 0 : 9 }, send);
  },
});

interface RateLimiterModule {
  readonly RateLimiterMemory: new (options: { points: number; duration: number }) => object;
  readonly RateLimiterQueue: new (limiter: object) => { removeTokens(tokens: number): Promise<number> };
}

/** It knows no priorities: an urgent call stands in the same line. */
const rateLimiterFlexible: Limiter = {
  name: 'rate-limiter-flexible, queue',
  open: async ({ requests: points, windowMs }) => {
    const isRateLimiter = (module: object): module is RateLimiterModule => 'RateLimiterQueue' in module;
    const module = await importWhereInstalled('rate-limiter-flexible', isRateLimiter);
    if (!module) return undefined;
    const limiter = new module.RateLimiterMemory({ points, duration: windowMs / 1000 });
    const queue = new module.RateLimiterQueue(limiter);
    return async (_urgency, send) => {
      await queue.removeTokens(1);
      await send();
    };
  },
};

async function importWhereInstalled<Module extends object>(
  specifier: string,
  isWanted: (module: object) => module is Module,
): Promise<Module | undefined> {
  try {
    const module: object = await import(specifier);
    if (isWanted(module)) return module;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (isMissing) return undefined;
    throw error;
  }
  throw new Error(`${specifier} has changed: what the bench uses of it is not there.`);
}

export const limiters: readonly Limiter[] = [
  ours,
  bullmq,
  pQueue,
  bottleneck('bottleneck, reservoir', ({ requests, windowMs }) => ({
    reservoir: requests,
    reservoirRefreshAmount: requests,
    reservoirRefreshInterval: windowMs,
  })),
  bottleneck('bottleneck, minTime', ({ requests, windowMs }) => ({ minTime: windowMs / requests })),
  rateLimiterFlexible,
];
