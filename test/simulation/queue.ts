import type { Log, WorkQueue } from '../../src/core/ports.ts';
import { recordKeyText } from '../../src/core/record.ts';
import { createWaker, type Waker } from '../../src/core/wake.ts';
import type { Wire } from './wire.ts';

/** A work queue whose jobs start when the simulation says so, in any order. */
export function createSimulatedQueue(wire: Wire, log: Log): WorkQueue {
  const waiting = new Set<string>();
  let waker: Waker | undefined;
  return {
    kind: 'inprocess',
    async start(wakeUp) {
      waker = createWaker(wakeUp, log);
    },
    async add(keys) {
      for (const key of keys) {
        const text = recordKeyText(key);
        if (waiting.has(text)) continue;
        waiting.add(text);
        void wire.send(`job ${text}`, () => waiting.delete(text)).then(() => waker?.wake(key));
      }
    },
    isReachable: async () => true,
    close: async () => undefined,
  };
}
