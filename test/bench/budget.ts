import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createRandom } from '../../src/sandbox/crm/random.ts';
import { startRedis, stopRedis } from '../support/redis.ts';
import { type Arrivals, type Limit, type LimitedServer, startLimitedServer } from './limited-server.ts';
import { type Limiter, limiters, type Schedule } from './limiters.ts';

/**
 * Compares limiters that keep a client to a number of requests in any rolling window: all at the same time, against one local
 * server, each with a count of its own, once with a sweep alone and once with urgent calls in between.
 */

/** The first windows are not measured: limiters may start with a burst. */
const warmUpWindows = 2;
const measuredWindows = 5;
/** Twice what a limiter can have under way, so that the sweep always waits. */
const sweepLoops = 100;
const urgentCallsPerWindow = 20;

interface Measured {
  /** Accepted requests as a share of what is allowed. */
  readonly share: number;
  readonly refused: number;
  /** The most requests that arrived in any window, refused ones too. */
  readonly most: number;
  /** How long each urgent call waited until it was sent. */
  readonly urgentWaitsMs: readonly number[];
}

interface Run {
  readonly limit: Limit;
  readonly server: LimitedServer;
  readonly redisUrl: string;
}

async function measure(run: Run, limiter: Limiter, hasUrgent: boolean): Promise<Measured | undefined> {
  const { limit, server, redisUrl } = run;
  const name = `${limiters.indexOf(limiter)}-${hasUrgent ? 'urgent' : 'alone'}`;
  const schedule = await limiter.open(limit, { redisUrl, name });
  if (!schedule) return undefined;
  const startedAt = performance.now();
  const from = startedAt + warmUpWindows * limit.windowMs;
  const until = from + measuredWindows * limit.windowMs;
  const request = async () => {
    const response = await fetch(`${server.url}/${name}`);
    await response.arrayBuffer();
  };
  for (let loop = 0; loop < sweepLoops; loop += 1) void sweepUntil(until, schedule, request);
  const urgentWaitsMs = hasUrgent ? await callUrgently(from, until, limit, schedule, request) : [];
  await sleepUntil(until);
  return { ...readArrivals(server.arrivals(name), from, until, limit), urgentWaitsMs };
}

async function sweepUntil(until: number, schedule: Schedule, request: () => Promise<void>): Promise<void> {
  while (performance.now() < until) await schedule('sweep', request);
}

/**
 * Calls at seeded random times and answers the waits; a call that still waits at the end has waited until
 * then.
 */
async function callUrgently(
  from: number,
  until: number,
  { windowMs }: Limit,
  schedule: Schedule,
  request: () => Promise<void>,
): Promise<number[]> {
  const random = createRandom(1);
  const calls: { readonly at: number; sentAt: number }[] = [];
  await sleepUntil(from);
  for (let at = from; at < until; at += -Math.log(1 - random.next()) * (windowMs / urgentCallsPerWindow)) {
    await sleepUntil(at);
    const call = { at: performance.now(), sentAt: until };
    calls.push(call);
    void schedule('urgent', () => {
      call.sentAt = performance.now();
      return request();
    });
  }
  await sleepUntil(until);
  return calls.map(({ at, sentAt }) => sentAt - at);
}

const sleepUntil = (at: number) => sleep(Math.max(0, at - performance.now()));

function readArrivals({ accepted, refused }: Arrivals, from: number, until: number, limit: Limit) {
  const isMeasured = (at: number) => at >= from && at < until;
  const all = [...accepted, ...refused].toSorted((left, right) => left - right);
  let oldest = 0;
  const most = all.reduce((highest, at, index) => {
    while ((all[oldest] ?? at) <= at - limit.windowMs) oldest += 1;
    return Math.max(highest, index + 1 - oldest);
  }, 0);
  const share = accepted.filter(isMeasured).length / (measuredWindows * limit.requests);
  return { share, refused: refused.length, most };
}

/** The value that this share of the values does not exceed. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function describeRow({ name }: Limiter, alone?: Measured, mixed?: Measured): string {
  if (!alone || !mixed) return `| ${name} | not installed | | | | | | | |`;
  const percent = (share: number) => (share * 100).toFixed(1);
  const waits = [0.5, 0.99].map((share) => percentile(mixed.urgentWaitsMs, share).toFixed(0));
  const cells = [alone, mixed].flatMap(({ share, refused, most }) => [percent(share), refused, most]);
  return `| ${[name, ...cells, ...waits].join(' | ')} |`;
}

function readLimit(): Limit {
  const { values } = parseArgs({
    options: {
      'window-ms': { type: 'string', default: '6000' },
      requests: { type: 'string', default: '100' },
    },
  });
  const limit = { requests: Number(values.requests), windowMs: Number(values['window-ms']) };
  if (limit.requests >= 1 && limit.windowMs >= 1) return limit;
  throw new Error('--requests and --window-ms must be numbers from 1 on.');
}

const limit = readLimit();
const [server, redis] = await Promise.all([startLimitedServer(limit), startRedis()]);
try {
  const run: Run = { limit, server, redisUrl: redis.url };
  const rows = await Promise.all(
    limiters.map(async (limiter) => {
      const [alone, mixed] = await Promise.all([measure(run, limiter, false), measure(run, limiter, true)]);
      return describeRow(limiter, alone, mixed);
    }),
  );
  const windows = `${measuredWindows} windows after ${warmUpWindows}, ${urgentCallsPerWindow} urgent calls a window`;
  console.log(`${limit.requests} requests per ${limit.windowMs} ms; ${windows}.`);
  console.log(`${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}.\n`);
  console.log(
    '| | sweep alone: share % | 429 | most | with urgent calls: share % | 429 | most | p50 ms | p99 ms |',
  );
  console.log('|---|--:|--:|--:|--:|--:|--:|--:|--:|');
  console.log(rows.join('\n'));
} finally {
  await stopRedis(redis);
}
// What still waits in a limiter would keep the process, and can not be served any more.
process.exit(0);
