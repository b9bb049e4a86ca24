import type { FeedRun } from '../core/feed.ts';
import type { Mirror } from '../core/mirror.ts';
import { warehouseFacts } from './facts.ts';
import type { WarehouseLink } from './link.ts';
import { newWarehouseError } from './port/errors.ts';

/** What was found out of a database that is met: whether it is as it was left. */
export type Recovery = 'same' | 'went-back' | 'unknown';

/**
 * Finds out what became of a write that got no reply, and compares the number of the last run with the one that was acknowledged. A database
 * that went back has lost the runs after its last one: their records are due again. Where these are no longer remembered, or the database
 * is ahead of the mirror, the outcome is `unknown`. All rows are compared in either case. Ahead of a mirror by which this process has written
 * already (`hasMet`), it is written to by another daemon with a copy of the mirror: fails with WAREHOUSE_KEPT.
 */
export async function recover(link: WarehouseLink, lastRun: number, hasMet: boolean): Promise<Recovery> {
  const { database, log, mirror } = link;
  const { feed } = mirror;
  let last = lastRun;
  const pending = feed.pendingRun();
  if (pending) {
    const number = await database.findRun(pending.run);
    mirror.transaction(() =>
      number === undefined ? feed.dropRun() : endUnanswered(mirror, pending, number),
    );
    log.info('warehouse.run-found', { run: pending.run, isDone: number !== undefined });
    // It may have been committed only after the number of the last run was read.
    if (number !== undefined) last = Math.max(last, number);
  }
  const known = feed.lastRun();
  if (last === known) return 'same';
  if (last > known && hasMet)
    throw newWarehouseError(
      'WAREHOUSE_KEPT',
      `Another daemon, with a copy of this mirror, writes to ${database.name}: its last run is ${last}, and that of this one ${known}.`,
    );
  const keys = last < known ? feed.keysAfter(last) : undefined;
  log.warn('warehouse.went-back', { lastRun: last, known, records: keys?.length });
  mirror.transaction(() => {
    if (keys) feed.noteDue(keys);
    feed.setLastRun(last);
    // How many rows there are is not known either, so all are compared.
    forgetWritten(mirror);
  });
  return keys ? 'went-back' : 'unknown';
}

/** That it was committed is known, but not which rows it left and how many it added: its records stay due, and all rows are counted. */
function endUnanswered(mirror: Mirror, { keys }: FeedRun, number: number): void {
  mirror.feed.endRun(number, keys);
  mirror.dropFact(warehouseFacts.auditedAt);
}

/** Forgets what was written beside the rows, so that it is written again, and that all rows were compared. */
export function forgetWritten(mirror: Mirror): void {
  mirror.dropFact(warehouseFacts.references);
  mirror.dropFact(warehouseFacts.auditedAt);
}
