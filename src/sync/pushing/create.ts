import { emptyCatalog } from '../../core/fields/catalog.ts';
import { describeEntity } from '../../core/fields/field.ts';
import { describeAnswered, journalEntry } from '../../core/journal-entry.ts';
import type { Mirror } from '../../core/mirror.ts';
import type { WriteAnswer } from '../../core/ports.ts';
import { absorb } from '../../core/reading/observe.ts';
import { type Entity, type RecordId, type RecordKey, recordKeyText } from '../../core/record.ts';
import { emptyAgreement, type OutboxItem, type StoredRecord } from '../../core/state.ts';
import { listFew } from '../../core/text/cut-text.ts';
import { differingFields, equalValues, type FieldName, type Fields, pickFields } from '../../core/value.ts';
import type { Link } from '../link.ts';
import { readKnown } from '../reading/account.ts';
import { readContacts } from '../reading/contacts.ts';
import { readNameless, readPresent } from '../reading/lists.ts';
import { absorbPage } from '../reading/pull.ts';
import { follow } from './unanswered.ts';

/** What a push did: it wrote to the CRM, it noted something that the next cycle must see, or nothing. */
export type PushResult = 'written' | 'noted' | 'nothing';

/**
 * A create is done: record, agreement, journal and the link from the row's token to the record's id, in one transaction. Only what the
 * answer tells is known and agreed: a field that was sent and is not told may not have been kept.
 */
export function finishCreate(link: Link, item: OutboxItem, answer: WriteAnswer, cause: string): void {
  const { clock, log, mirror, times } = link;
  const { entity } = item.key;
  const key = { entity, id: answer.id };
  const fields = Object.keys(item.fields);
  log.info('record.pushed', { run: item.run, record: recordKeyText(key), kind: 'create', fields });
  mirror.transaction(() => {
    const seen = { entity, ...answer };
    const reception = { now: clock.now(), lagMs: times.lagMs };
    mirror.saveRecord(absorb(mirror.findRecord(key), seen, reception), 'created');
    const agreed = pickFields(item.fields, Object.keys(answer.fields));
    mirror.saveAgreement({ ...emptyAgreement(key, answer.at), fields: agreed });
    const told = describeAnswered(item.fields, answer.fields);
    const occasion = { now: answer.at, run: item.run };
    mirror.appendJournal([journalEntry(occasion, key, { kind: 'create', side: 'crm', ...told, cause })]);
    follow(mirror, item, 'created', { recordId: answer.id });
  });
}

/**
 * Keeps in the journal what the CRM set of itself when it created a record, as `made` tells right after that: so it is known later what
 * somebody filled in since.
 */
export function noteDefaults({ clock, mirror }: Link, { fields, key, run }: OutboxItem, made: Fields): void {
  const set = writableNames(mirror, key.entity).filter(
    (name) => fields[name] === undefined && (made[name] ?? null) !== null,
  );
  if (set.length === 0) return;
  const after = pickFields(made, set);
  const cause = 'set by the CRM when it was created';
  const occasion = { now: clock.now(), run };
  mirror.appendJournal([journalEntry(occasion, key, { kind: 'adopt', side: 'crm', after, cause })]);
}

/**
 * Agrees on the texts that were sent with a create, once the CRM shows what it `made` of them: where it writes one its own way, the row
 * follows, as after an update. One that it left empty is sent again; and what it shows of other kinds than text may be its default instead
 * of what was sent, about which a person is asked.
 */
export function agreeOnTexts({ mirror }: Link, { fields, key }: OutboxItem, made: Fields): void {
  const agreement = mirror.findAgreement(key);
  if (!agreement) return;
  const texts = describeEntity(key.entity, mirror.readCatalog() ?? emptyCatalog)
    .filter(
      ({ kind, name }) => kind === 'text' && [fields, made].every((each) => typeof each[name] === 'string'),
    )
    .map(({ name }) => name);
  const sent = pickFields(fields, texts);
  mirror.saveAgreement({ ...agreement, fields: { ...sent, ...agreement.fields } });
}

/**
 * Keeps beside the record what the CRM itself `made` of a value that was sent and agreed on as sent, or set where nothing was sent. Nobody
 * edited that there: whoever types on in the row before it is shown overrules nobody.
 */
export function noteAnswered({ mirror }: Link, { fields: sent, key }: OutboxItem, made: Fields): void {
  const [record, agreement] = [mirror.findRecord(key), mirror.findAgreement(key)];
  if (!record || !agreement) return;
  const before = Object.fromEntries(
    writableNames(mirror, key.entity)
      .filter((name) => (sent[name] === undefined) === (agreement.fields[name] === undefined))
      .map((name) => [name, sent[name] ?? null]),
  );
  // What it left empty it may not have kept.
  const rewritten = differingFields(before, made).filter((name) => made[name] !== null);
  if (rewritten.length === 0) return;
  const [replaced, answered] = [pickFields(before, rewritten), pickFields(made, rewritten)];
  mirror.saveRecord({ ...record, written: { at: agreement.changedAt, before: replaced, answered } });
}

const writableNames = (mirror: Mirror, entity: Entity): FieldName[] =>
  describeEntity(entity, mirror.readCatalog() ?? emptyCatalog).flatMap(({ isReadOnly, name }) =>
    isReadOnly ? [] : name,
  );

/** How often the newest records are looked through before a create that left no trace is sent again. */
const looksMax = 2;

/**
 * Finds out what became of a create whose outcome nobody knows: it is never sent again blindly. Exactly one newcomer that is equal in all
 * it was to have is adopted; any other newcomer may be it too, renamed by a colleague meanwhile, and goes to a person. When nothing
 * was found twice, a settle time apart, and a complete sweep begun since then did not find it either, it is sent again.
 */
export async function settleCreate(link: Link, item: OutboxItem): Promise<PushResult> {
  const { clock, mirror, times } = link;
  const settledAt = (item.sentAt ?? 0) + times.settleMs;
  // The list of a lead's contacts was read as a whole.
  const isWhole =
    item.key.entity === 'contact' ||
    mirror
      .readSweeps()
      .some((sweep) => sweep.entity === item.key.entity && sweep.isComplete && sweep.startedAt >= settledAt);
  // An element without an id may be its record.
  const isSwept = isWhole && !readNameless(mirror).has(item.key.entity);
  // A sweep that is waited for brings newcomers itself, and looks go before it: some creates would leave no request to it, or to edits.
  if (item.looks < looksMax || isSwept) await readNewcomers(link, item);
  const rivals = findRivals(link, item);
  const candidates = findCandidates(link, item, rivals);
  const equal = candidates.filter((record) => matches(item.fields, record.fields));
  if (equal.some((record) => isOfFuller(item, rivals, record))) {
    // What the other one does not take may be this one's.
    follow(mirror, item, 'postponed', { dueAt: clock.now() + times.settleMs });
    return 'nothing';
  }
  const [only] = equal;
  if (only && equal.length === 1) {
    const answer = { id: only.key.id, fields: only.fields, at: only.observedAt };
    finishCreate(link, item, answer, 'found in the CRM after an unknown outcome');
    return 'noted';
  }
  if (candidates.length > 0) {
    const message = reviewReason([...new Set([...equal, ...candidates])]);
    follow(mirror, item, 'ambiguous', { error: { code: 'CRM_UNKNOWN_OUTCOME', message } });
    return 'noted';
  }
  const isLastLook = item.looks + 1 >= looksMax;
  if (isLastLook && isSwept) {
    follow(mirror, item, 'neverCreated', { at: clock.now() });
    return 'noted';
  }
  const dueAt = clock.now() + (isLastLook ? times.refillMs : times.settleMs);
  follow(mirror, item, 'notFound', { dueAt });
  return 'nothing';
}

/** Reads where the record must be if it was created. */
async function readNewcomers(link: Link, { key: { entity }, fields }: OutboxItem): Promise<void> {
  if (entity === 'contact') await readContacts(link, String(fields['lead_id']), 'settle');
  else absorbPage(link, await readKnown(link, () => link.crm.listRecords(entity, 1, 'settle')));
}

const reviewReason = (candidates: readonly StoredRecord[]): string =>
  `The CRM did not say whether it created this record, and ${listFew(candidates.map(({ key }) => key.id))} may be it. ` +
  'Put that ID in place of the token if it is, or clear the token to create a new record.';

/**
 * Newcomers since the create was sent that no create of any side has made. They need not look like it: a colleague may have renamed it
 * since. One that has all that another create of unknown outcome was to have belongs to that one.
 */
function findCandidates({ mirror }: Link, item: OutboxItem, rivals: readonly OutboxItem[]): StoredRecord[] {
  const claimed = new Set<RecordId | undefined>(mirror.readAllSteps().map(({ recordId }) => recordId));
  const isOfRival = (record: StoredRecord) =>
    !matches(item.fields, record.fields) && rivals.some((rival) => matches(rival.fields, record.fields));
  return readPresent(mirror, item.key.entity).filter(
    (record) =>
      record.firstSeenAt >= (item.sentAt ?? 0) &&
      !claimed.has(record.key.id) &&
      !mirror.findAgreement(record.key) &&
      isBelowSameLead(item, record) &&
      !isOfRival(record) &&
      !wasCreated(mirror, record, item),
  );
}

/** Whether the history tells that a create has made the record: another side may have forgotten its step since. */
const wasCreated = (mirror: Mirror, { key }: StoredRecord, { sentAt = 0 }: OutboxItem): boolean =>
  mirror.searchJournal({ key, since: sentAt }).some(({ kind, side }) => kind === 'create' && side === 'crm');

/** The other creates of its kind, at all sides, of which nobody knows what they made. */
const findRivals = ({ mirror }: Link, item: OutboxItem): OutboxItem[] =>
  mirror
    .readAllSteps()
    .filter(({ kind, state }) => kind === 'create' && state === 'unknown')
    .filter(({ key }) => key.entity === item.key.entity && key.id !== item.key.id);

/** Whether the record has all that another create of unknown outcome was to have, and that is more: it is looked for as well. */
function isOfFuller({ fields }: OutboxItem, rivals: readonly OutboxItem[], record: StoredRecord): boolean {
  const count = Object.keys(fields).length;
  return rivals.some(
    ({ fields: other, sentAt = 0 }) =>
      sentAt <= record.firstSeenAt && Object.keys(other).length > count && matches(other, record.fields),
  );
}

/** A contact stays below the lead it was created for; anything else may have been moved since. */
const isBelowSameLead = ({ key, fields }: OutboxItem, record: StoredRecord): boolean =>
  key.entity !== 'contact' || record.fields['lead_id'] === fields['lead_id'];

/** Whether the record has every value that was sent. */
const matches = (sent: Fields, found: Fields): boolean =>
  Object.entries(sent).every(([name, value]) => {
    const other = found[name];
    return other !== undefined && equalValues(other, value);
  });

/**
 * What is on its way although nobody pushes it, as after a restart, has an unknown outcome. A create settles; an update or a delete is
 * read again before it is repeated, so it simply waits again.
 */
export function recoverOutbox(link: Link, isPushed: (key: RecordKey) => boolean): void {
  const { clock, mirror, times } = link;
  mirror.transaction(() => {
    for (const item of mirror.readOutbox()) {
      if (item.state !== 'sending' || isPushed(item.key)) continue;
      const settledAt = item.kind === 'create' ? (item.sentAt ?? 0) + times.settleMs : 0;
      follow(mirror, item, 'interrupted', { dueAt: Math.max(clock.now(), settledAt) });
    }
  });
}
