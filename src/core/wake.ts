import { explainError } from './errors.ts';
import type { Log, WakeUp } from './ports.ts';
import { type RecordKey, recordKeyText } from './record.ts';

/**
 * Runs wake-ups: one at a time for a record, and none of them ever fails the queue that carries it. A wake-up that rejects is a bug, and is
 * logged as one: the outbox still knows what is due, so nothing is lost.
 */
export function createWaker(wakeUp: WakeUp, log: Log) {
  const running = new Map<string, Promise<void>>();
  const asked = new Set<string>();

  const run = async (key: RecordKey, text: string): Promise<void> => {
    do {
      asked.delete(text);
      try {
        await wakeUp(key);
      } catch (error) {
        log.error('queue.wake-up-failed', { record: text, problem: explainError(error) });
      }
    } while (asked.has(text));
    running.delete(text);
  };

  /** Whether a wake-up of the record runs. If so, it runs once more when it is done. */
  const wakeAgain = (key: RecordKey): boolean => {
    const text = recordKeyText(key);
    if (running.has(text)) asked.add(text);
    return running.has(text);
  };

  return {
    wakeAgain,

    /** Wakes the worker for the record. While a wake-up of it runs, that one runs once more instead. It never rejects. */
    async wake(key: RecordKey): Promise<void> {
      if (wakeAgain(key)) return;
      const text = recordKeyText(key);
      const ended = run(key, text);
      running.set(text, ended);
      await ended;
    },

    /** Resolves when the wake-ups that run now have ended. */
    settled: async () => void (await Promise.all(running.values())),
  };
}

export type Waker = ReturnType<typeof createWaker>;
