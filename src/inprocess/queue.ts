import PQueue from 'p-queue';
import { SyncError } from '../core/errors.ts';
import type { Clock, Log, WorkQueue } from '../core/ports.ts';
import { recordKeyText } from '../core/record.ts';
import { createWaker, type Waker } from '../core/wake.ts';

/** So many are added before anything else gets its turn. */
const batchSize = 1_000;

export interface InProcessQueueOptions {
  /** How many records are worked on at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The work queue for a daemon without Redis. What waits is lost with the process; the outbox knows it. */
export function createInProcessQueue({ concurrency, clock, log }: InProcessQueueOptions): WorkQueue {
  const jobs = new PQueue({ concurrency, autoStart: false });
  const waiting = new Set<string>();
  let waker: Waker | undefined;
  let isClosed = false;

  return {
    kind: 'inprocess',

    async start(wakeUp) {
      waker = createWaker(wakeUp, log);
      jobs.start();
    },

    async add(keys) {
      if (isClosed) throw new SyncError('QUEUE_UNREACHABLE', 'The queue is closed.');
      for (const [place, key] of keys.entries()) {
        if (place > 0 && place % batchSize === 0) await clock.sleep(0);
        if (isClosed) return;
        const text = recordKeyText(key);
        if (waiting.has(text)) continue;
        waiting.add(text);
        void jobs.add(async () => {
          waiting.delete(text);
          await waker?.wake(key);
        });
      }
    },

    isReachable: async () => !isClosed,

    async close(graceMs) {
      isClosed = true;
      jobs.pause();
      jobs.clear();
      const isDone = new AbortController();
      await Promise.race([jobs.onPendingZero(), clock.sleep(graceMs, isDone.signal)]);
      isDone.abort();
    },
  };
}
