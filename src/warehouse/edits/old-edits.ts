import { warehouseFacts } from '../facts.ts';
import type { EditTerms, WarehouseLink } from '../link.ts';
import type { OldEdits, WriteReply } from '../port/port.ts';

/**
 * The mirror knows edits for this much longer than the database keeps them: one that was restored from a backup shows them as new, and they would be
 * sent again.
 */
const rememberedDays = 30;

/**
 * An edit that inserted a row stays for this much longer in the database, because it keeps the temporary id from being used again. As long as the
 * mirror knows the edit, it takes that id for the record which was created then.
 */
const insertDays = 60;

/** So many are deleted with one write, which takes some 20 ms. */
const deletedMax = 2_000;

const everyMs = 60 * 60 * 1_000;

const dayMs = 24 * 60 * 60 * 1_000;

/** For how long the mirror knows an edit that is over. */
export const rememberedMs = ({ keepDays }: EditTerms): number => (keepDays + rememberedDays) * dayMs;

/** Whether the database may have deleted an edit that was taken at this time, epoch ms. */
export const mayBeDeleted = (at: number, now: number, { keepDays }: EditTerms): boolean =>
  at < now - keepDays * dayMs;

/** What the next write is to delete; `undefined` for nothing. It goes with a write that comes anyway: without one no edit comes either. */
export function oldEditsDue({ clock, editing, mirror }: WarehouseLink): OldEdits | undefined {
  if (!editing) return undefined;
  const last = mirror.readFact(warehouseFacts.forgotEditsAt);
  if (last !== undefined && Math.abs(clock.now() - last) < everyMs) return undefined;
  const { keepDays } = editing;
  return { days: keepDays, insertDays: keepDays + insertDays, limit: deletedMax };
}

/** Notes that old edits were deleted, unless there are more. To be called in a transaction. */
export function noteForgotten({ clock, mirror }: WarehouseLink, { forgotten }: WriteReply): void {
  if (forgotten !== undefined && forgotten < deletedMax)
    mirror.saveFact(warehouseFacts.forgotEditsAt, clock.now());
}
