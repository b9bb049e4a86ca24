import { escapeIdentifier } from 'pg';
import { backoffMs } from '../core/backoff.ts';
import type { Clock, Log } from '../core/ports.ts';
import type { Address } from './address.ts';
import { openSession } from './connection.ts';

const backoff = { firstMs: 500, maxMs: 30_000 } as const;

/** A connection of its own on which the database tells of edits. It is made anew when it is lost; what was missed meanwhile is told once. */
export function createListener(address: Address, channel: string, clock: Clock, log: Log) {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const listenOnce = async (listener: () => void, onListening: () => void): Promise<void> => {
    await using session = await openSession(address, clock);
    const { client } = session;
    const isOver = new Promise<void>((resolve) => {
      for (const event of ['error', 'end'] as const) client.on(event, () => resolve());
      stopping.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('notification', listener);
    await session.run(`LISTEN ${escapeIdentifier(channel)}`);
    onListening();
    listener();
    await isOver;
  };

  const run = async (listener: () => void): Promise<void> => {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      try {
        await listenOnce(listener, () => {
          failures = 0;
        });
      } catch (error) {
        log.debug('warehouse.not-listening', { message: String(error) });
      }
      if (!stopping.signal.aborted) await clock.sleep(backoffMs(backoff, failures + 1, 0.5), stopping.signal);
    }
  };

  return {
    start(listener: () => void): void {
      running = run(listener);
    },
    async end(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
