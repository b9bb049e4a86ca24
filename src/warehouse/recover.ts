import type { FeedRun } from '../core/feed.ts';
import type { Mirror } from '../core/mirror.ts';
import { doubtCreates } from './edits/doubt.ts';
import { warehouseFacts } from './facts.ts';
import type { WarehouseLink } from './link.ts';
import { newWarehouseError } from './port/errors.ts';

/**
 * Finds out what became of a write that got no reply, and compares the number of the last run with the one that was acknowledged. A database
 * that went back has lost the runs after its last one: their records are due again. All rows are compared then, and where the database is
 * ahead of the mirror, which was restored or is a new one: but only once it knows what the CRM has, or it would take all that it does not
 * know for deleted. Ahead of a mirror by which this process has written
 * already (`hasMet`), it is written to by another daemon with a copy of the mirror: fails with WAREHOUSE_KEPT.
 */
export async function recover(link: WarehouseLink, lastRun: number, hasMet: boolean): Promise<void> {
  const { clock, database, entities, log, mirror } = link;
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
  if (last === known) return;
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
    // How many rows there are is not known either.
    forgetWritten(mirror);
    if (last > known)
      for (const entity of entities) mirror.saveFact(warehouseFacts.behind(entity), clock.now());
  });
}

/** That it was committed is known, but not which rows it left and how many it added: its records stay due, and all rows are counted. */
function endUnanswered(mirror: Mirror, { keys }: FeedRun, number: number): void {
  mirror.feed.endRun(number, keys);
  mirror.dropFact(warehouseFacts.auditedAt);
}

/** Has all rows written anew by a mirror that is as it was earlier, and doubts what it may have sent since. `now` is epoch ms. */
export function rebaseTables(mirror: Mirror, now: number): void {
  mirror.transaction(() => {
    mirror.feed.noteAllDue();
    doubtCreates(mirror, { now, run: 'copy' });
  });
}

/** Forgets what was written beside the rows, so that it is written again, and that all rows were compared. */
export function forgetWritten(mirror: Mirror): void {
  mirror.dropFact(warehouseFacts.references);
  mirror.dropFact(warehouseFacts.auditedAt);
}
