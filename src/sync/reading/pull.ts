import { isSyncError, SyncError } from '../../core/errors.ts';
import { facts } from '../../core/facts.ts';
import { type Catalog, fieldsInUse, keepFormerLabels } from '../../core/fields/catalog.ts';
import { customFieldName } from '../../core/fields/field.ts';
import { keepKnown, type ListedCatalog } from '../../core/fields/listed-catalog.ts';
import type { Lane, RecordList } from '../../core/ports.ts';
import { absorb, doubtLeftMs, noteMissed, noteUnlisted, sweepsToProve } from '../../core/reading/observe.ts';
import type { ListedEntity, RecordId, RecordKey } from '../../core/record.ts';
import type { StoredRecord, Sweep } from '../../core/state.ts';
import { differingFields, type FieldName, omit } from '../../core/value.ts';
import type { Link } from '../link.ts';
import { readKnown, readOwnCatalog, readUnexchanged, sampleOf, saveOwnCatalog } from './account.ts';
import { noteListed, readPresent, saveNameless } from './lists.ts';

/** Absences that are proven by direct reads after one sweep at most, so that proving never eats the budget. */
const proofsMax = 50;

/** Reads the catalog and keeps it, with the labels that rows may still show. */
export async function pullCatalog(link: Link, lane: Lane): Promise<void> {
  const { crm, mirror } = link;
  // What was interrupted has to be over before a field is known to be back.
  await forgetEmptied(link);
  const told = await readUnexchanged(link, () => crm.readCatalog(lane));
  const known = readOwnCatalog(mirror) ?? told;
  const isEmpty = lacksFields(told, known);
  // A second one like it is no slip.
  const isSurelyEmpty = isEmpty && mirror.readFact(facts.areFieldsEmpty) === true;
  const catalog = keepFormerLabels(keepKnown(told, known, isSurelyEmpty), known);
  mirror.transaction(() => {
    saveOwnCatalog(mirror, catalog);
    mirror.saveFact(facts.areFieldsEmpty, isEmpty);
    const emptied = newlyHeld(catalog, known);
    if (emptied.length > 0) mirror.saveFact(facts.emptiedFields, emptied);
  });
  await forgetEmptied(link);
}

const newlyHeld = ({ customFields }: Catalog, known: Catalog): FieldName[] => {
  const inUse = new Set(fieldsInUse(known).map(({ key }) => key));
  return customFields.flatMap(({ held, key }) =>
    held !== undefined && inUse.has(key) ? [customFieldName(key)] : [],
  );
};

/** So many records are looked at before others get their turn. */
const sliceMax = 250;

/**
 * Forgets which leads have nothing in these fields: since the CRM switched them off, and before that was known, every lead was read as having
 * nothing there. Once they are back that would count until each lead is read again.
 */
async function forgetEmptied({ clock, mirror }: Link): Promise<void> {
  const names = mirror.readFact(facts.emptiedFields);
  if (!names) return;
  const ids = mirror.readRecords('lead').map(({ key }) => key);
  for (let start = 0; start < ids.length; start += sliceMax) {
    if (start > 0) await clock.sleep(0);
    mirror.transaction(() => {
      for (const key of ids.slice(start, start + sliceMax)) {
        const record = mirror.findRecord(key);
        const emptied = names.filter((name) => record?.fields[name] === null);
        if (record && emptied.length > 0)
          mirror.saveRecord({ ...record, fields: omit(record.fields, emptied) });
      }
    });
  }
  mirror.dropFact(facts.emptiedFields);
}

const lacksFields = (
  { customFields, oddities = [], unusable = {} }: ListedCatalog,
  known: Catalog,
): boolean =>
  customFields.length + oddities.length + Object.keys(unusable).length === 0 && fieldsInUse(known).length > 0;

/**
 * Saves what a page said about its records. Returns which of them are new or changed, and the oldest of the last looks that did not have
 * them, epoch ms. A look at the list that would have had the new ones was at `listedAt`.
 */
export function absorbPage(link: Link, { records }: RecordList, listedAt = Number.POSITIVE_INFINITY) {
  const { clock, mirror, times } = link;
  const reception = { now: clock.now(), lagMs: times.lagMs };
  return mirror.transaction(() => {
    const changed: RecordId[] = [];
    let since = Number.POSITIVE_INFINITY;
    for (const seen of records) {
      const before = mirror.findRecord({ entity: seen.entity, id: seen.id });
      const after = absorb(before, seen, reception);
      mirror.saveRecord(after);
      if (before && !isNews(before, after)) continue;
      changed.push(seen.id);
      since = Math.min(since, before?.observedAt ?? listedAt);
    }
    return { changed, since };
  });
}

/** True if something else is known of a record, or a field of it is no longer known. */
const isNews = (before: StoredRecord, after: StoredRecord): boolean =>
  differingFields(before.fields, after.fields).length > 0 ||
  JSON.stringify(before.unread) !== JSON.stringify(after.unread);

/** How often a record is read again because something else was seen of it meanwhile. */
const rereadsMax = 3;

/**
 * Reads one record directly and keeps what it says. `undefined` when the CRM does not have it. Where a list said something else of it
 * while the answer was on its way nobody knows which of both is older, and it is read again; so it is, after a while, where it shows what
 * our last write replaced.
 */
export async function pullRecord(link: Link, key: RecordKey, lane: Lane): Promise<StoredRecord | undefined> {
  const { clock, crm, mirror, times } = link;
  for (let reread = 0; ; reread += 1) {
    const known = mirror.findRecord(key);
    const seen = await readKnown(link, () => crm.getRecord(key, lane));
    if (!seen) return undefined;
    const meanwhile = mirror.findRecord(key);
    const isDoubtful =
      meanwhile !== undefined &&
      meanwhile !== known &&
      differingFields(meanwhile.fields, seen.fields).length > 0;
    if (isDoubtful && reread < rereadsMax) continue;
    const reception = { now: clock.now(), lagMs: times.lagMs };
    const doubtMs = doubtLeftMs(meanwhile, seen, reception);
    if (doubtMs > 0 && reread < rereadsMax) {
      await clock.sleep(doubtMs);
      continue;
    }
    const record = absorb(meanwhile, seen, reception);
    mirror.saveRecord(record);
    return record;
  }
}

/**
 * Reads a page of a list. An empty list where records were known is a fault of the reading, not the deletion of all, unless none of some that
 * are asked for is there: then it is a list like any other, and each absence has to be proven.
 */
export async function pullPage(link: Link, entity: ListedEntity, page: number, lane: Lane) {
  const answer = await readKnown(link, () => link.crm.listRecords(entity, page, lane));
  // A page of nothing but trash has others behind it.
  if (page > 1 || answer.records.length > 0 || answer.nameless || answer.hasMore) return answer;
  const known = readPresent(link.mirror, entity);
  if (known.length <= 1 || !(await isAnyThere(link, known, lane))) return answer;
  const words = `The CRM lists no ${entity} records, but ${known.length} were known.`;
  throw new SyncError('CRM_UNREADABLE', words);
}

async function isAnyThere(link: Link, known: readonly StoredRecord[], lane: Lane): Promise<boolean> {
  for (const { key } of sampleOf(known)) {
    if (await readKnown(link, () => link.crm.getRecord(key, lane))) return true;
  }
  return false;
}

/** Shows how far a sweep has come, for as long as no sweep of the entity was ever complete. */
export function noteProgress({ mirror }: Link, sweep: Sweep): void {
  const last = mirror.readSweeps().find(({ entity }) => entity === sweep.entity);
  if (!last?.isComplete) mirror.saveSweep(sweep);
}

/**
 * Ends a sweep that read every page. The records that the list is proven to lack have missed one more sweep, and are returned; nothing is
 * proven where a page failed meanwhile.
 */
export function finishSweep(
  link: Link,
  sweep: Sweep,
  isProven: ((id: RecordId) => boolean) | undefined,
  nameless: readonly string[],
) {
  const { clock, log, mirror } = link;
  const { entity, pages, startedAt } = sweep;
  const ended = mirror.transaction(() => {
    const known = readPresent(mirror, entity);
    // A record that moved on to the next page meanwhile was read twice, and is one; one that moved past the pages that were read is there.
    const isThere = ({ key, lastSeenAt }: StoredRecord) =>
      lastSeenAt >= startedAt || isProven?.(key.id) === false;
    const records = known.filter(isThere).length;
    const finished = { ...sweep, records, isComplete: true, finishedAt: clock.now() };
    mirror.saveSweep(finished);
    noteListed(mirror, entity, records + nameless.length);
    saveNameless(mirror, entity, nameless);
    const missed = isProven ? noteMissed(known, startedAt, isProven) : [];
    for (const record of missed) mirror.saveRecord(record);
    return { finished, missed };
  });
  const isUnbroken = isProven !== undefined;
  log.debug('sweep.finished', { entity, pages, records: ended.finished.records, isUnbroken });
  return ended;
}

/**
 * Asks directly for records that missed enough sweeps. A list may also leave out many that are there, for good, as those that are done: of
 * those that were found there when they were asked for, only the one is asked for again whose turn was the longest ago, before the others.
 */
export function proveGone(link: Link, missed: readonly StoredRecord[]): Promise<void> {
  const absent = missed.filter(({ missedSweeps }) => missedSweeps >= sweepsToProve);
  const unlisted = missed.filter(({ missedSweeps }) => missedSweeps < 0);
  const [longest] = unlisted.toSorted((left, right) => left.missedSweeps - right.missedSweeps);
  return proveEachGone(link, [...(longest ? [longest] : []), ...inTurn(absent).slice(0, proofsMax)]);
}

/**
 * After each sweep others are first: those on which the CRM fails time after time would else keep all others from ever being asked for.
 * Each sweep goes on by as many as it asks for at least, which is where all of them fail, and the unlisted one as well.
 */
function inTurn(absent: readonly StoredRecord[]): StoredRecord[] {
  const sweeps = absent.reduce((most, { missedSweeps }) => Math.max(most, missedSweeps), 0);
  const first = (sweeps * (failedProofsMax - 1)) % Math.max(1, absent.length);
  return [...absent.slice(first), ...absent.slice(0, first)];
}

/** A few records that the CRM fails on say nothing about the others; more of them do. */
const failedProofsMax = 3;

/**
 * Asks for each record directly. One about which the CRM answers nonsense, or nothing, must not keep the others from being proven gone, time
 * after time; what failed first is thrown when they are.
 */
export async function proveEachGone(link: Link, records: readonly StoredRecord[]): Promise<void> {
  const failures: unknown[] = [];
  for (const { key } of records) {
    try {
      await proveRecordGone(link, key);
    } catch (error) {
      failures.push(error);
      endTurn(link, key);
      const isOfRecord = isSyncError(error, 'CRM_UNREADABLE', 'CRM_REFUSED', 'CRM_UNREACHABLE');
      if (!isOfRecord || failures.length === failedProofsMax) break;
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** A record that was found there before has had its turn, although the CRM failed on it now: the next sweep asks for another one. */
function endTurn({ mirror }: Link, key: RecordKey): void {
  const record = mirror.findRecord(key);
  if (record && record.missedSweeps < 0) mirror.saveRecord(noteUnlisted(record));
}

/** Asks for a record directly: a 404 proves that it is gone. */
async function proveRecordGone(link: Link, key: RecordKey): Promise<void> {
  const isThere = (await pullRecord(link, key, 'sweep')) !== undefined;
  const { clock, log, mirror } = link;
  const record = mirror.findRecord(key);
  const gone = { presence: 'gone', heardAt: clock.now() } as const;
  if (record) mirror.saveRecord(isThere ? noteUnlisted(record) : { ...record, ...gone });
  if (!isThere) log.info('record.gone', { entity: key.entity, id: key.id });
}
