import { type Job, Queue, Worker } from 'bullmq';
import type { Clock, Log, WorkQueue } from '../core/ports.ts';
import { parseRecordKey, type RecordKey, recordKeyText } from '../core/record.ts';
import { createWaker, type Waker } from '../core/wake.ts';
import { connectRedis, type RedisConnection } from './connection.ts';

export interface BullmqQueueOptions {
  readonly redisUrl: string;
  /** Name of the queue in Redis, one per link; without colons. */
  readonly name: string;
  /** How many records are worked on at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface PushJob {
  readonly key: string;
}

/** Finished jobs leave at once, failed ones too: one that stayed would swallow every later job of its id. */
const jobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/**
 * A job of a process that died is taken up again after its lock has run out and two checks have missed it: some 20 seconds.
 * A lock is renewed at half its time, so the event loop may stand still for five seconds.
 */
const lockTimes = { lockDuration: 10_000, stalledInterval: 5000 } as const;

/** How long Redis may take to write down that the last job has ended. */
const closingMs = 1_000;

/** How many jobs go to Redis in one call, so that a call stays far within its deadline. */
const batchSize = 500;

/**
 * The work queue on Redis. A job's id is its record, so that a record waits once. A record that is added while its job runs
 * is woken once more; in the blink between the end of a job and its removal an add can be swallowed, and the sweeper of
 * the outbox adds it again.
 */
export function createBullmqQueue(options: BullmqQueueOptions): WorkQueue {
  const { clock, concurrency, log, name, redisUrl } = options;
  const connection = connectRedis(redisUrl, clock, log);
  const queue = new Queue<PushJob>(name, { connection: connection.redis, defaultJobOptions: jobOptions });
  queue.on('error', logErrors('queue.failed', connection, log));
  let waker: Waker | undefined;
  let worker: PatientWorker | undefined;
  let closing: Promise<void> | undefined;

  /**
   * BullMQ's own close waits for ever for running jobs and for Redis. The jobs run in this process, so it knows itself when they have ended;
   * what Redis does not take down then is taken up again at the next start.
   */
  const close = async (graceMs: number): Promise<void> => {
    const isDone = new AbortController();
    const closed = Promise.all([worker?.close(), queue.close()]);
    const jobsEnded = async () => {
      await waker?.settled();
      await clock.sleep(closingMs, isDone.signal);
    };
    await Promise.race([closed, jobsEnded(), clock.sleep(graceMs, isDone.signal)]);
    isDone.abort();
    connection.disconnect();
  };

  return {
    kind: 'bullmq',

    async start(wakeUp) {
      waker = createWaker(wakeUp, log);
      worker = startWorker(name, concurrency, connection, waker, log);
    },

    async add(keys) {
      const refusal = worker?.refusal;
      // Whoever adds something here would wait for nothing.
      if (refusal) await connection.call(() => Promise.reject(refusal));
      const asleep = keys.filter((key) => !waker?.wakeAgain(key));
      for (let first = 0; first < asleep.length; first += batchSize) {
        const jobs = asleep.slice(first, first + batchSize).map(pushJob);
        await connection.call(() => queue.addBulk(jobs));
      }
    },

    async isReachable() {
      const answer = await connection.call(() => connection.redis.ping()).catch(() => undefined);
      return answer !== undefined;
    },

    close(graceMs) {
      closing ??= close(graceMs);
      return closing;
    },
  };
}

function pushJob(key: RecordKey) {
  const text = recordKeyText(key);
  return { name: 'push', data: { key: text }, opts: { jobId: text } };
}

/** For how long a worker that Redis refused asks for no job. */
const refusedPauseMs = 1_000;

/** Redis answers and does not do what it is asked for, as with its memory or its disk full. */
class PatientWorker extends Worker<PushJob> {
  /** What Redis said when it refused, until it works again. */
  refusal: Error | undefined;

  /** BullMQ asks again at once, thousands of times a second. */
  protected override async moveToActive(token: string, name?: string) {
    try {
      const job = await super.moveToActive(token, name);
      this.refusal = undefined;
      return job;
    } catch (error) {
      await this.delay(refusedPauseMs);
      throw error;
    }
  }
}

function startWorker(
  name: string,
  concurrency: number,
  connection: RedisConnection,
  waker: Waker,
  log: Log,
): PatientWorker {
  const work = async (job: Job<PushJob>): Promise<void> => {
    const key = parseRecordKey(job.data.key);
    if (key) await waker.wake(key);
    else log.error('queue.job-unreadable', { job: job.id });
  };
  const connected = { connection: connection.redis, concurrency, ...lockTimes };
  const worker = new PatientWorker(name, work, connected);
  const tell = logErrors('queue.worker-failed', connection, log);
  worker.on('error', (error) => {
    const isRefusal = error.name === 'ReplyError';
    // What goes on is told once.
    if (!isRefusal || !worker.refusal) tell(error);
    if (isRefusal) worker.refusal = error;
  });
  worker.on('stalled', (job) => log.warn('queue.job-stalled', { job }));
  return worker;
}

/** BullMQ repeats every error of the connection; those have been told. Without a listener it would stop working. */
const logErrors = (event: string, connection: RedisConnection, log: Log) => (error: Error) => {
  if (!connection.isDown()) log.warn(event, { problem: error.message });
};
