import { explainError } from './errors.ts';
import type { Log, WakeUp } from './ports.ts';
import { type RecordKey, recordKeyText } from './record.ts';

/** Runs wake-ups: one at a time for a record, and none of them ever fails the queue that carries it. */
export interface Waker {
  /** Wakes the worker for the record. While a wake-up of it runs, that one runs once more instead. It never rejects. */
  wake(key: RecordKey): Promise<void>;
  /** Whether a wake-up of the record runs. If so, it runs once more when it is done. */
  wakeAgain(key: RecordKey): boolean;
}

/** A wake-up that rejects is a bug, and is logged as one: the outbox still knows what is due, so nothing is lost. */
export function createWaker(wakeUp: WakeUp, log: Log): Waker {
  const running = new Set<string>();
  const asked = new Set<string>();

  const wakeAgain = (key: RecordKey): boolean => {
    const text = recordKeyText(key);
    if (running.has(text)) asked.add(text);
    return running.has(text);
  };

  const wake = async (key: RecordKey): Promise<void> => {
    if (wakeAgain(key)) return;
    const text = recordKeyText(key);
    running.add(text);
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

  return { wake, wakeAgain };
}
