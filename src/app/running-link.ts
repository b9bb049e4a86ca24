import type { Log } from '../core/ports.ts';
import type { LinkSide } from '../http/server.ts';
import { Engine } from '../sync/engine.ts';
import { Health } from '../sync/health.ts';
import { noteEnd, noteStart } from '../sync/run-note.ts';
import { Watch } from '../sync/watch.ts';
import { openLink, type Surroundings } from './link.ts';
import { createAlerts } from './link-alerts.ts';
import type { Settings } from './settings.ts';

/** A link with everything that works on it. */
export interface RunningLink {
  /** What its HTTP side shows and commands. */
  readonly side: LinkSide;
  /** Starts to work. */
  start(): Promise<void>;
  /** Takes no new work and ends what runs within the time. */
  stop(graceMs: number): Promise<void>;
  /** Closes what was opened; to be called after everything that looks at it has ended. */
  close(): void;
}

/** Opens the mirror and the adapters of a link. What was opened is closed again by {@link RunningLink.close}. */
export function openRunningLink(settings: Settings, log: Log, surroundings: Surroundings): RunningLink {
  const { link, backUp, budgetUsage, close } = openLink(settings, log, surroundings);
  const engine = new Engine(link);
  const pauseMs = () => budgetUsage().parkedMs;
  const health = new Health({ engine, limits: settings.health, pauseMs });
  const watch = new Watch(engine, health, budgetUsage);
  const alerts = createAlerts(settings, log);
  let loops: Promise<unknown> = Promise.resolve();
  return {
    side: { engine, health, watch, backUp },
    async start() {
      const { crashes, waitMs } = noteStart(link.mirror, link.clock.now());
      if (waitMs > 0) log.warn('daemon.crashed-before', { crashes, waitMs });
      await engine.start(waitMs);
      loops = Promise.all([watch.run(), health.run((conditions) => alerts?.note(conditions)), alerts?.run()]);
    },
    async stop(graceMs) {
      health.stop();
      alerts?.stop();
      await engine.stop(graceMs);
      watch.stop();
      await loops;
      noteEnd(link.mirror);
    },
    close,
  };
}
