import { Alerts } from '../alerts/alerts.ts';
import { createWebhook } from '../alerts/webhook.ts';
import { backoffMs } from '../core/backoff.ts';
import { facts } from '../core/facts.ts';
import type { Mirror } from '../core/mirror.ts';
import type { Log } from '../core/ports.ts';
import type { LinkSide } from '../http/link-side.ts';
import { startHttp } from '../http/server.ts';
import type { Condition } from '../sync/conditions.ts';
import { Engine } from '../sync/engine.ts';
import { Health } from '../sync/health.ts';
import { Watch } from '../sync/watch.ts';
import { systemClock } from './clock.ts';
import { linkNameOf, openLink, type RereadKeys, type Surroundings } from './link.ts';
import { post } from './proxies.ts';
import type { Settings } from './settings.ts';
import { version } from './version.ts';

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
  const http = await startHttp({ ...settings.http, ...running.side, version });
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

/** A link with everything that works on it. */
export type RunningLink = ReturnType<typeof openRunningLink>;

/** Opens the mirror and the adapters of a link. */
export function openRunningLink(settings: Settings, log: Log, surroundings: Surroundings) {
  const { link, sides, backUp, budgetUsage, close } = openLink(settings, log, surroundings);
  const engine = new Engine(link, sides);
  const pauseMs = () => budgetUsage().parkedMs;
  const health = new Health({ engine, limits: settings.health, pauseMs });
  const watch = new Watch(engine, health, budgetUsage);
  const alerts = createAlerts(settings, log);
  let loops: Promise<unknown> = Promise.resolve();
  return {
    /** What its HTTP side shows and commands. */
    side: { engine, health, watch, backUp } satisfies LinkSide,
    async start(): Promise<void> {
      const { crashes, waitMs } = noteStart(link.mirror, link.clock.now());
      if (waitMs > 0) log.warn('daemon.crashed-before', { crashes, waitMs });
      await engine.start(waitMs);
      const onLook = (conditions: readonly Condition[]) => {
        alerts?.note(conditions);
        watch.look();
      };
      loops = Promise.all([health.run(onLook), alerts?.start()]);
    },
    /** Takes no new work and ends what runs within the time. */
    async stop(graceMs: number): Promise<void> {
      health.stop();
      void alerts?.stop();
      await engine.stop(graceMs);
      await loops;
      link.mirror.dropFact(facts.run);
    },
    /** Closes what was opened; to be called after everything that looks at it has ended. */
    close,
  };
}

/** Makes the alerts of a link; `undefined` where its settings name no receiver. */
export function createAlerts(settings: Settings, log: Log): Alerts | undefined {
  const { format, webhookUrl: url } = settings.alerts;
  if (url === undefined) return undefined;
  const title = settings.link ? `crm-sheet-sync ${settings.link.name}` : 'crm-sheet-sync';
  const send = createWebhook({ url, format, title, clock: systemClock, post });
  return new Alerts({ link: linkNameOf(settings), send, clock: systemClock, log, random: Math.random });
}

/** A run that ends badly so soon after it began has probably met what it will meet again. */
const soonMs = 60_000;

/** One crash proves nothing; from the second in a row on, each start waits twice as long as the one before. */
const waits = { firstMs: 1_000, maxMs: 60_000 };

/**
 * Notes that a run begins, durably. Returns how many runs before it, one right after another, ended badly soon after they began, and for
 * how long this one is to ask for nothing. `now` is epoch ms.
 */
function noteStart(mirror: Mirror, now: number): { readonly crashes: number; readonly waitMs: number } {
  const [crashesBefore, begunAt] = mirror.readFact(facts.run) ?? [0, Number.NEGATIVE_INFINITY];
  const crashes = now - begunAt < soonMs ? crashesBefore + 1 : 0;
  const waitMs = crashes < 2 ? 0 : backoffMs(waits, crashes - 1, 1);
  mirror.saveFact(facts.run, [crashes, now + waitMs]);
  return { crashes, waitMs };
}
