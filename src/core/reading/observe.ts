import type { ObservedRecord, RecordId, Unread } from '../record.ts';
import type { StoredRecord, Written } from '../state.ts';
import { equalValues, type FieldName, type Fields, omit, type Value } from '../value.ts';

/** When an answer is taken in (epoch ms, after it arrived), and how long listings may lag behind our own writes. */
export interface Reception {
  readonly now: number;
  readonly lagMs: number;
}

/**
 * What is known of a record after an observation. Two answers do not count as news: one to a request that was sent before our last
 * write was acknowledged, and, for `lagMs` after that write, a field that still shows exactly what the write replaced, or one shortly
 * before it.
 * A field that the answer lacks keeps its last value: missing is not empty.
 */
export function absorb(
  stored: StoredRecord | undefined,
  seen: ObservedRecord,
  { now, lagMs }: Reception,
): StoredRecord {
  const { entity, id, at } = seen;
  if (!stored || isOfOtherAccount(stored)) {
    const key = { entity, id };
    return {
      key,
      fields: seen.fields,
      ...(seen.unread ? { unread: seen.unread } : {}),
      observedAt: at,
      heardAt: now,
      firstSeenAt: now,
      lastSeenAt: at,
      missedSweeps: 0,
      presence: 'present',
    };
  }
  const { written } = stored;
  // A listing may lag behind our own delete as well.
  if (stored.presence === 'gone' && written && at < written.at + lagMs) return stored;
  const sighted: StoredRecord = {
    ...stored,
    lastSeenAt: Math.max(stored.lastSeenAt, at),
    missedSweeps: 0,
    presence: 'present',
    ...(stored.presence === 'gone' ? { heardAt: now } : {}),
  };
  if (at < stored.observedAt || (written && at < written.at)) return sighted;
  const news: Record<FieldName, Value> = {};
  const isLagging = written !== undefined && at < written.at + lagMs;
  for (const [name, value] of Object.entries(seen.fields)) {
    if (isLagging && wasReplaced(written, name, value)) continue;
    if (!isWrittenAlike(stored.fields[name], value)) news[name] = value;
  }
  // Most readings bring nothing new.
  if (!seen.unread && !stored.unread && Object.keys(news).length === 0)
    return { ...sighted, observedAt: at, heardAt: now };
  const made = findMade(stored, news);
  const told = written && made ? { written: { ...written, answered: { ...written.answered, ...made } } } : {};
  const known = takeIn(sighted, { ...seen, fields: news }, Object.keys(seen.fields));
  return { ...known, ...told, observedAt: at, heardAt: now };
}

/** Whether both are written alike, members of lists in the same order. */
const isWrittenAlike = (known: unknown, later: unknown): boolean =>
  known === later || JSON.stringify(known) === JSON.stringify(later);

/** In each such span of the clock, the first look that brought nothing new is written down all the same. */
const lookMs = 60 * 60 * 1_000;

const lasting = ['fields', 'unread', 'firstSeenAt', 'missedSweeps', 'presence', 'madeBy', 'written'] as const;

/**
 * Whether a record was only seen once more, as most are: a crash may take that back until its page is read again. That it was seen for the
 * first time since it was created, or since our last write, is more.
 */
export function isSeenAgain(known: StoredRecord, later: StoredRecord): boolean {
  const { firstSeenAt, lastSeenAt, observedAt, written } = known;
  return (
    observedAt > Math.max(firstSeenAt, written?.at ?? 0) &&
    Math.floor(lastSeenAt / lookMs) === Math.floor(later.lastSeenAt / lookMs) &&
    lasting.every((part) => isWrittenAlike(known[part], later[part]))
  );
}

/**
 * The record with what an answer says of its fields; `understood` names those that are known by it. Of a field that cannot be understood the
 * last value may no longer hold: an edit that was compared with it could replace a change that was never seen.
 */
export function takeIn<Known extends Pick<StoredRecord, 'fields' | 'unread'>>(
  stored: Known,
  { fields: news, unread = {} }: Pick<ObservedRecord, 'fields' | 'unread'>,
  understood: Iterable<FieldName> = Object.keys(news),
): Known {
  const left = omit(stored.unread ?? {}, understood);
  const unreadNow: Unread = { ...left, ...unread };
  // Where nothing is new the fields are the same object as before.
  const isNew =
    Object.keys(news).length > 0 || Object.keys(unread).some((name) => stored.fields[name] !== undefined);
  const fields = isNew ? omit({ ...stored.fields, ...news }, Object.keys(unread)) : stored.fields;
  const { unread: _before, ...rest } = stored;
  return { ...rest, fields, ...(Object.keys(unreadNow).length > 0 ? { unread: unreadNow } : {}) } as Known;
}

/**
 * What the CRM made of texts that our last write sent, where its answer told nothing of them: those of the news that say the same in other
 * letters, blanks and signs. Nobody edited them there.
 */
function findMade({ fields, written }: StoredRecord, news: Fields): Fields | undefined {
  const made = Object.entries(news).filter(
    ([name, value]) => written?.before[name] !== undefined && isOtherForm(value, fields[name] ?? null),
  );
  return made.length > 0 ? Object.fromEntries(made) : undefined;
}

/** Whether a text is another form of one that was sent, as without the blank at its end: a phone number without its dashes, an address in small letters. */
function isOtherForm(told: Value, sent: Value): boolean {
  if (typeof told !== 'string' || typeof sent !== 'string') return false;
  const said = bareText(sent);
  return said !== '' && bareText(told) === said;
}

/** Letters and digits alone, whatever their case. */
const bareText = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');

/** Whether all that is known of a record is that another account had one of its id: this one is seen for the first time. */
const isOfOtherAccount = ({ fields, presence }: StoredRecord): boolean =>
  presence === 'gone' && Object.keys(fields).length === 0;

/**
 * For how long (ms) nobody can know of an answer whether it lags behind our last write, or somebody has put back what that replaced;
 * 0 where it is no question.
 */
export function doubtLeftMs(
  stored: StoredRecord | undefined,
  { at, fields }: ObservedRecord,
  { now, lagMs }: Reception,
): number {
  const written = stored?.written;
  if (!written || at < written.at || at >= written.at + lagMs) return 0;
  const isBack = ([name, value]: [FieldName, Value]) =>
    wasReplaced(written, name, value) && !equalValues(value, stored.fields[name] ?? null);
  // An answer to what was asked right before the lag ended may come after its end, and is no clearer for that.
  return Object.entries(fields).some(isBack) ? Math.max(1, written.at + lagMs - now) : 0;
}

/** Whether a field had the value right before our last write, or one shortly before it. */
export const wasReplaced = ({ before, earlier = {} }: Written, name: FieldName, value: Value): boolean =>
  [before[name], earlier[name]].some((replaced) => replaced !== undefined && equalValues(value, replaced));

/**
 * What is kept of a write. One that follows another within the lag leaves in doubt what that one replaced as well: a listing may be behind
 * both, also where somebody put right at once what they had typed.
 */
export function noteReplaced(last: Written | undefined, written: Written, lagMs: number): Written {
  const isRecent = last !== undefined && written.at < last.at + lagMs;
  return isRecent ? { ...written, earlier: { ...last.earlier, ...last.before } } : written;
}

/** Complete sweeps that must lack a record before it is asked for directly. */
export const sweepsToProve = 2;

/**
 * The records that a complete sweep, begun at `startedAt`, did not contain although it would have shown them: each has missed one more.
 */
export function noteMissed(
  records: readonly StoredRecord[],
  startedAt: number,
  isProven: (id: RecordId) => boolean = () => true,
): StoredRecord[] {
  return records
    .filter(
      ({ key, presence, lastSeenAt }) => presence === 'present' && lastSeenAt < startedAt && isProven(key.id),
    )
    .map((record) => ({ ...record, missedSweeps: record.missedSweeps + (record.missedSweeps < 0 ? -1 : 1) }));
}

/** A record that was there when it was asked for although sweeps lack it: nothing follows from that any more. */
export const noteUnlisted = (record: StoredRecord): StoredRecord => ({ ...record, missedSweeps: -1 });
