import { isSyncError, SyncError } from '../../core/errors.ts';
import { type Fact, facts } from '../../core/facts.ts';
import type { Catalog } from '../../core/fields/catalog.ts';
import type { HistoryEntry } from '../../core/history.ts';
import type { Mirror } from '../../core/mirror.ts';
import type { Crm } from '../../core/ports.ts';
import { isListed } from '../../core/record.ts';
import type { StoredRecord } from '../../core/state.ts';
import { differingFields } from '../../core/value.ts';
import type { Link } from '../link.ts';
import { forgetStep } from '../pushing/unanswered.ts';
import { readPresent } from './lists.ts';

type AccountLink = Pick<Link, 'keys' | 'mirror'>;

const isAmong = (
  names: readonly string[],
  { mirror }: AccountLink,
  fact: Fact<readonly string[]>,
): boolean => {
  const kept = new Set(mirror.readFact(fact));
  return names.every((name) => kept.has(name));
};

const namesNow = ({ keys }: AccountLink): readonly string[] => keys?.().map(({ name }) => name) ?? [];

/**
 * Why the CRM may show the records of another account than before. The CRM tells no account by name, but a key belongs to one for as long
 * as it lives: so a doubt begins with a key that was not used before, and ends when a record that is known was read with it. `isOther`: it
 * is another account for certain, so that a person can answer; else it is still being found out.
 */
export function findAccountDoubt(link: AccountLink) {
  const names = namesNow(link);
  if (isAmong(names, link, facts.knownKeys) || knownRecords(link).length === 0) return undefined;
  return isAmong(names, link, facts.otherKeys)
    ? { reason: otherReason, isOther: true }
    : { reason: newReason, isOther: false };
}

const newReason = 'The key of the CRM is a new one. Whether it opens the same account is being found out.';

const otherReason =
  'A key of the CRM opens another account than before: no record that was asked for is there. Put the old key back, or approve to go on ' +
  'with the account that it opens now. Its records are then read and compared, and nothing is written before that is approved as well.';

/** So many records are asked for at most. One that is there is enough, and some may have been deleted meanwhile. */
const samplesMax = 5;

/** To be called before anything is read: where no record is known yet, what is read belongs to the keys of now. */
export function noteAccount(link: AccountLink): void {
  const names = namesNow(link);
  if (!isAmong(names, link, facts.knownKeys) && !findAccountDoubt(link))
    link.mirror.saveFact(facts.knownKeys, names);
}

/**
 * Finds out whether the keys open the known account, if that is in doubt. Returns whether there is something new to decide from. Throws
 * what reading throws, a refusal only where no key is left that may read.
 */
export async function recognizeAccount(link: AccountLink): Promise<boolean> {
  noteAccount(link);
  if (findAccountDoubt(link)?.isOther !== false) return false;
  const found = await readUnexchanged(link, () => askAccount(link));
  if (found instanceof SyncError) throw found;
  link.mirror.saveFact(found === 'known' ? facts.knownKeys : facts.otherKeys, namesNow(link));
  return true;
}

/** Asks the CRM whether the keys open the known account; returns the refusal where no key may read. Throws what reading throws. */
export async function askAccount(link: AccountLink): Promise<'known' | 'other' | SyncError> {
  const samples = sampleOf(knownRecords(link));
  let refusal: SyncError | undefined;
  let isAnyKnown = false;
  for (const { crm, name } of link.keys?.() ?? []) {
    const found = isAmong([name], link, facts.knownKeys) ? 'known' : await findAny(crm, samples);
    if (found === 'other') return 'other';
    if (found === 'known') isAnyKnown = true;
    else refusal = found;
  }
  // A key that may read nothing is taken for one of the same account when another key is.
  return refusal && !isAnyKnown ? refusal : 'known';
}

/** Whether any of the records is there, or why none could be read. */
async function findAny(
  crm: Pick<Crm, 'getRecord'>,
  samples: readonly StoredRecord[],
): Promise<'known' | 'other' | SyncError> {
  let refusal: SyncError | undefined;
  let isAnyAnswered = false;
  for (const record of samples) {
    try {
      const seen = await crm.getRecord(record.key, 'newest');
      if (seen && isSameRecord(record, seen.fields)) return 'known';
      isAnyAnswered = true;
    } catch (error) {
      if (isSyncError(error, 'CRM_UNAUTHORIZED')) return error;
      // The other kinds of record may be readable.
      if (!isSyncError(error, 'CRM_UNREADABLE', 'CRM_FORBIDDEN')) throw error;
      refusal = error;
    }
  }
  return refusal && !isAnyAnswered ? refusal : 'other';
}

const knownRecords = ({ mirror }: AccountLink): readonly StoredRecord[] =>
  readPresent(mirror).filter(({ key }) => isListed(key.entity));

/** Some records from among all of them. */
export function sampleOf(records: readonly StoredRecord[]): StoredRecord[] {
  const count = Math.min(samplesMax, records.length);
  return Array.from({ length: count }, (_, index) =>
    Math.floor((index * (records.length - 1)) / Math.max(1, count - 1)),
  ).flatMap((place) => records[place] ?? []);
}

/** Two accounts may give the same id, but hardly in the same second. */
function isSameRecord({ fields }: StoredRecord, seen: StoredRecord['fields']): boolean {
  const [before, now] = [fields['created_at'], seen['created_at']];
  return before && now ? before === now : differingFields(fields, seen).length === 0;
}

/** Fails with DAEMON_REFUSED while the CRM may show another account: nothing of it is to be read then. */
export function expectKnownAccount(link: AccountLink): void {
  const doubt = findAccountDoubt(link);
  if (doubt) throw new SyncError('DAEMON_REFUSED', doubt.reason);
}

/** Fails with CRM_UNREACHABLE where a key is exchanged while something is read: parts of the answer may be of another account. */
export async function readUnexchanged<Answer>(
  link: AccountLink,
  read: () => Promise<Answer>,
): Promise<Answer> {
  const before = namesNow(link).join(' ');
  const answer = await read();
  if (namesNow(link).join(' ') === before) return answer;
  throw new SyncError(
    'CRM_UNREACHABLE',
    'A key of the CRM was exchanged while it was read; it is read again soon.',
  );
}

/** Reads what may go into the mirror: from the known account only, from the first request to the last answer. */
export async function readKnown<Answer>(link: AccountLink, read: () => Promise<Answer>): Promise<Answer> {
  expectKnownAccount(link);
  return readUnexchanged(link, read);
}

/**
 * Goes on with the account that the keys open now. What is known of the records of the one before says nothing about this one, so all of
 * them are gone until they are seen again, and what each side agreed, was answered and had on its way is forgotten. To be called in a
 * transaction.
 */
export function takeAccount(link: AccountLink & Pick<Link, 'clock'>): void {
  const { clock, mirror } = link;
  for (const side of mirror.allSides()) forgetSide(side, clock.now());
  const forgotten = { fields: {}, presence: 'gone', heardAt: clock.now() } as const;
  for (const record of mirror.readRecords()) mirror.saveRecord({ ...record, ...forgotten });
  const [last] = mirror.searchJournal({ limit: 1 });
  mirror.saveFact(facts.lastLineOfOther, last?.id ?? 0);
  mirror.saveFact(facts.isOtherCatalog, true);
  mirror.saveFact(facts.knownKeys, namesNow(link));
}

function forgetSide(mirror: Mirror, at: number): void {
  // The creates that were over have made records of the other account.
  for (const { key } of mirror.readOutbox()) forgetStep(mirror, key, at);
  for (const { key } of mirror.readAgreements()) mirror.dropAgreement(key);
  for (const { scope } of mirror.readDecisions()) mirror.dropDecision(scope);
}

/** The catalog as last read from the account that is known, or `undefined` before it was read. */
export const readOwnCatalog = (mirror: Mirror): Catalog | undefined =>
  mirror.readFact(facts.isOtherCatalog) ? undefined : mirror.readCatalog();

/** Keeps the catalog of the account that is known. To be called in a transaction. */
export function saveOwnCatalog(mirror: Mirror, catalog: Catalog): void {
  mirror.saveCatalog(catalog);
  mirror.saveFact(facts.isOtherCatalog, false);
}

/** Whether a line of the journal is about a record of another account: the one that has its id now is not that. */
export const isOfOtherAccount = (mirror: Mirror, { id }: HistoryEntry): boolean =>
  id <= (mirror.readFact(facts.lastLineOfOther) ?? 0);
