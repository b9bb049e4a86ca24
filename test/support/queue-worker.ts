import { type RecordKey, recordKeyText } from '../../src/core/record.ts';

/** A worker that notes whom it was woken for and stays awake as long as a test holds it. */
export function createWorker() {
  const woken: string[] = [];
  const ended: string[] = [];
  const awake = new Map<string, number>();
  let mostAtOnce = 0;
  let hold: Promise<void> | undefined;
  let problem: Error | undefined;
  let wakeUpSeen = Promise.withResolvers<void>();
  const nextWakeUp = () => wakeUpSeen.promise;
  return {
    woken,
    ended,
    /** The most wake-ups of one record that ran at the same time. */
    mostAtOnce: () => mostAtOnce,
    /** Keeps wake-ups from ending until the answer is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      hold = promise;
      return resolve;
    },
    failOnce(error: Error) {
      problem = error;
    },
    /** Resolves when there has been a wake-up of the record. */
    async wokenFor(key: RecordKey): Promise<void> {
      while (!woken.includes(recordKeyText(key))) await nextWakeUp();
    },
    /** Resolves when there have been that many wake-ups. */
    async wokenTimes(count: number): Promise<string[]> {
      while (woken.length < count) await nextWakeUp();
      return woken.slice(0, count);
    },
    async wakeUp(key: RecordKey): Promise<void> {
      const text = recordKeyText(key);
      const atOnce = (awake.get(text) ?? 0) + 1;
      awake.set(text, atOnce);
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      woken.push(text);
      wakeUpSeen.resolve();
      wakeUpSeen = Promise.withResolvers<void>();
      await hold;
      ended.push(text);
      awake.set(text, (awake.get(text) ?? 0) - 1);
      const error = problem;
      problem = undefined;
      if (error) throw error;
    },
  };
}
