import { isSyncError, SyncError } from '../core/errors.ts';
import { absorb, noteMissed, sweepsToProve } from '../core/observe.ts';
import type { Lane, RecordPage } from '../core/ports.ts';
import type { Entity, RecordKey } from '../core/record.ts';
import type { StoredRecord, Sweep } from '../core/state.ts';
import type { Link } from './link.ts';

/** No listing is longer than this; one that seems to be does not end. */
const pagesMax = 20_000;

/** Absences that are proven by direct reads after one sweep at most, so that proving never eats the budget. */
const proofsMax = 50;

/** Reads the catalog and keeps it. */
export async function pullCatalog(link: Link, lane: Lane): Promise<void> {
  link.mirror.saveCatalog(await link.crm.readCatalog(lane));
}

/** Saves what a page said about its records. */
export function absorbPage(link: Link, page: RecordPage): void {
  const { clock, mirror, times } = link;
  const reception = { now: clock.now(), lagMs: times.lagMs };
  mirror.transaction(() => {
    for (const seen of page.records) {
      mirror.saveRecord(absorb(mirror.findRecord({ entity: seen.entity, id: seen.id }), seen, reception));
    }
  });
}

/** Reads one record directly and keeps what it says. `undefined` when the CRM does not have it. */
export async function pullRecord(link: Link, key: RecordKey, lane: Lane): Promise<StoredRecord | undefined> {
  const seen = await link.crm.getRecord(key, lane);
  if (!seen) return undefined;
  const reception = { now: link.clock.now(), lagMs: link.times.lagMs };
  const record = absorb(link.mirror.findRecord(key), seen, reception);
  link.mirror.saveRecord(record);
  return record;
}

/**
 * Reads all records of an entity, page by page. Only a sweep that came to its end counts: then records it lacked have missed one, and
 * those that missed enough are asked for directly; a 404 proves that they are gone. Answers the sweep; an error leaves it incomplete
 * and is thrown.
 */
export async function sweepEntity(link: Link, entity: Entity, lane: Lane): Promise<Sweep> {
  const { clock, mirror, log } = link;
  const begun: Sweep = { entity, startedAt: clock.now(), isComplete: false, pages: 0, records: 0 };
  let sweep = begun;
  try {
    for (let page = 1, hasMore = true; hasMore; page += 1) {
      if (page > pagesMax)
        throw new SyncError('CRM_UNREADABLE', `The list of ${entity} records does not end.`);
      const answer = await link.crm.listRecords(entity, page, lane);
      absorbPage(link, answer);
      hasMore = answer.hasMore;
      sweep = { ...sweep, pages: page, records: sweep.records + answer.records.length };
    }
    checkNotEmptied(link, sweep);
    sweep = { ...sweep, isComplete: true, finishedAt: clock.now() };
    const missed = mirror.transaction(() => {
      mirror.saveSweep(sweep);
      const records = noteMissed(mirror.readRecords(entity), sweep.startedAt);
      for (const record of records) mirror.saveRecord(record);
      return records;
    });
    await proveGone(link, missed, lane);
  } catch (error) {
    const problem = isSyncError(error) ? error.message : String(error);
    mirror.saveSweep({ ...sweep, isComplete: false, finishedAt: clock.now(), problem });
    throw error;
  }
  log.debug('sweep.finished', { entity, pages: sweep.pages, records: sweep.records });
  return sweep;
}

/** An empty list where records were known is a fault of the reading, not the deletion of all. */
function checkNotEmptied(link: Link, sweep: Sweep): void {
  if (sweep.records > 0) return;
  const known = link.mirror.readRecords(sweep.entity).filter(({ presence }) => presence === 'present').length;
  if (known > 1) {
    throw new SyncError(
      'CRM_UNREADABLE',
      `The CRM lists no ${sweep.entity} records, but ${known} were known.`,
    );
  }
}

async function proveGone(link: Link, missed: readonly StoredRecord[], lane: Lane): Promise<void> {
  const absent = missed.filter(({ missedSweeps }) => missedSweeps >= sweepsToProve).slice(0, proofsMax);
  for (const { key } of absent) {
    if (await pullRecord(link, key, lane)) continue;
    const record = link.mirror.findRecord(key);
    if (record) link.mirror.saveRecord({ ...record, presence: 'gone' });
    link.log.info('record.gone', { entity: key.entity, id: key.id });
  }
}
