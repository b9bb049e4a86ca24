import type { Instance, OwnInstance } from '../../src/sheet/port/instance.ts';

/** How often marks move, and when one counts as dead; as the daemon has it. */
export const markTimes = { markMs: 60_000, goneMs: 150_000 };

/** An instance that has nothing but a name, and can prove of no other one that it has ended. */
export const namedInstance = (
  id: string,
  isOver: (other: Instance) => boolean = () => false,
): OwnInstance => ({
  instance: { id, host: `host-${id}`, pid: 1, since: Date.UTC(2026, 0, 1) },
  isOver,
});
