import { Alerts } from '../alerts/alerts.ts';
import { createWebhook } from '../alerts/webhook.ts';
import type { Log } from '../core/ports.ts';
import { startHttp } from '../http/server.ts';
import { Engine } from '../sync/engine.ts';
import { Health } from '../sync/health.ts';
import type { Link } from '../sync/link.ts';
import { noteEnd, noteStart } from '../sync/run-note.ts';
import { Watch } from '../sync/watch.ts';
import { openLink, type RereadKeys } from './link.ts';
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

/** Starts the daemon: mirror and adapters first, then its HTTP side, then the engine. What was opened is closed when a later step fails. */
export async function startDaemon(settings: Settings, log: Log, rereadKeys: RereadKeys): Promise<Daemon> {
  const { link, backUp, budgetUsage, close } = openLink(settings, log, rereadKeys);
  const engine = new Engine(link);
  const pauseMs = () => budgetUsage().parkedMs;
  const health = new Health({ engine, limits: settings.health, pauseMs });
  const watch = new Watch(engine, health, budgetUsage);
  const http = await startHttp({ ...settings.http, engine, health, backUp, watch }).catch(
    (error: unknown) => {
      close();
      throw error;
    },
  );
  const { crashes, waitMs } = noteStart(link.mirror, link.clock.now());
  if (waitMs > 0) log.warn('daemon.crashed-before', { crashes, waitMs });
  await engine.start(waitMs).catch(async (error: unknown) => {
    await http.close();
    close();
    throw error;
  });
  const alerts = createAlerts(settings, link);
  const loops = Promise.all([
    watch.run(),
    health.run((conditions) => alerts?.note(conditions)),
    alerts?.run(),
  ]);
  log.info('daemon.started', { url: http.url, queue: link.queue.kind, link: link.name });
  const stop = async () => {
    log.info('daemon.stopping', {});
    health.stop();
    alerts?.stop();
    await engine.stop(Math.max(1_000, settings.stopGraceMs - closingMs));
    await http.close();
    watch.stop();
    await loops;
    noteEnd(link.mirror);
    close();
    log.info('daemon.stopped', {});
  };
  let stopped: Promise<void> | undefined;
  return {
    url: http.url,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Tells the receiver that the settings name, if they name one. */
function createAlerts({ alerts: { webhookUrl: url } }: Settings, link: Link): Alerts | undefined {
  if (url === undefined) return undefined;
  const { clock, log, name, random } = link;
  return new Alerts({ link: name, send: createWebhook({ url, clock }), clock, log, random });
}
