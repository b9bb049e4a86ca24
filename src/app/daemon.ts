import type { Log } from '../core/ports.ts';
import { startHttp } from '../http/server.ts';
import type { RereadKeys } from './link.ts';
import { openRunningLink } from './running-link.ts';
import type { Settings } from './settings.ts';

/** A running daemon. */
export interface Daemon {
  /** Address of its HTTP side. */
  readonly url: string;
  /** Takes no new work, ends what runs within the grace time, and closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

/** Part of the grace time that is left for closing after the loops have ended. */
const closingMs = 2_000;

/** For how long a stop waits for what is under way. */
export const graceOf = ({ stopGraceMs }: Settings): number => Math.max(1_000, stopGraceMs - closingMs);

/**
 * Starts the daemon of one link: mirror and adapters first, then its HTTP side, then the engine. What was opened is closed when a later step
 * fails.
 */
export async function startDaemon(settings: Settings, log: Log, rereadKeys: RereadKeys): Promise<Daemon> {
  await using opening = new AsyncDisposableStack();
  const running = opening.adopt(openRunningLink(settings, log, { rereadKeys }), ({ close }) => close());
  const http = await startHttp({ ...settings.http, ...running.side });
  opening.defer(() => http.close());
  await running.start();
  const opened = opening.move();
  const { link } = running.side.engine;
  log.info('daemon.started', { url: http.url, queue: link.queue.kind, link: link.name });
  return {
    url: http.url,
    stop: once(async () => {
      log.info('daemon.stopping', {});
      await running.stop(graceOf(settings));
      await opened.disposeAsync();
      log.info('daemon.stopped', {});
    }),
  };
}

/** Does the work at the first call; every further one waits for the same end. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
