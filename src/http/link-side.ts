import type { Engine } from '../sync/engine.ts';
import type { Health } from '../sync/health.ts';
import type { Watch } from '../sync/watch.ts';

/** A link as its HTTP side sees it. */
export interface LinkSide {
  readonly engine: Engine;
  readonly health: Health;
  /** Sees how the link and its request budget go. */
  readonly watch: Watch;
  /** Copies the mirror. Returns the file. */
  readonly backUp: () => string;
}
