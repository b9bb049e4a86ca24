import type { Engine } from '../../src/sync/engine.ts';
import { Watch } from '../../src/sync/watch.ts';
import { healthOf } from './health.ts';

const none = { settle: 0, edit: 0, newest: 0, sweep: 0 };

/** Sees an engine whose request budget nobody uses. */
export const watchIdle = (engine: Engine): Watch =>
  new Watch(engine, healthOf(engine), () => ({
    requests: 100,
    windowMs: 60_000,
    taken: 0,
    waiting: none,
    sent: none,
    parkedMs: 0,
    limitReplies: 0,
  }));
