import { splitContactId } from '../fields/contact-id.ts';
import type { RecordId } from '../record.ts';
import type { ContactRead, StoredRecord } from '../state.ts';

/** The version of a lead whose contacts are to be read soon, whatever it looks like. */
export const staleVersion = '';

/** A text that differs when the lead changed. Its fields have the CRM's `updated_at` among them, where the CRM tells it. */
export const versionOf = ({ fields, presence }: StoredRecord): string =>
  `${presence} ${JSON.stringify(fields)}`;

/** Whose turn it is where leads change faster than they are read: those that changed, or all of them. */
export type ContactTurn = 'changed' | 'any';

/**
 * The leads in the order in which their contacts are read, kept and brought up to date with what changed. A lead that is gone is asked after
 * as long as contacts of it are still believed to be there.
 */
export class ContactQueue {
  #records: readonly StoredRecord[] = [];
  #reads: readonly ContactRead[] = [];
  readonly #leads = new Map<RecordId, StoredRecord>();
  readonly #readOf = new Map<RecordId, ContactRead>();
  /** The contacts that are there, by their lead. */
  readonly #contacts = new Map<RecordId, Map<RecordId, StoredRecord>>();
  #contactCount = 0;
  readonly #present = new Set<RecordId>();
  /** Those that are there and were never read. */
  readonly #unread = new Set<RecordId>();
  /** The leads whose last reading failed, and when that was, epoch ms. */
  readonly #failedAt = new Map<RecordId, number>();
  /** The leads to ask for that have not had a turn, in the order in which they are known. */
  readonly #untried = new Set<RecordId>();
  /** All others to ask for; where they are in order, first comes the one whose turn was the longest ago. */
  #tried = new Set<RecordId>();
  #isInOrder = true;
  /** The latest turn of any of them, epoch ms. */
  #lastTurnAt = Number.NEGATIVE_INFINITY;
  /** Those of them that changed since they were read. */
  readonly #changed = new Set<RecordId>();

  /** Takes over all records and reads. What did not change has to be the same object, so that it costs a glance. */
  update(records: readonly StoredRecord[], reads: readonly ContactRead[]): void {
    const seen = findChanged(this.#records, records, isSameKey);
    const read = findChanged(this.#reads, reads, (one, other) => one.leadId === other.leadId);
    if (!seen || !read) {
      this.#forgetAll();
      return this.update(records, reads);
    }
    [this.#records, this.#reads] = [records, reads];
    for (const each of read) this.#noteRead(each);
    for (const id of new Set([...seen.flatMap((each) => this.#noteRecord(each)), ...read.map(leadOfRead)]))
      this.#place(id);
  }

  /**
   * The lead whose contacts are to be read next: the one whose turn was the longest ago, among those that changed since if it is their turn
   * and there are any. Leads that were never read come before all that were.
   */
  next(turn: ContactTurn): StoredRecord | undefined {
    const isOfChanged = turn === 'changed' && this.#changed.size > 0;
    const tried = this.#inOrder();
    const changed = isOfChanged ? tried.values().find((id) => this.#changed.has(id)) : undefined;
    const [oldest] = this.#untried.size > 0 ? this.#untried : tried;
    return this.#leads.get(changed ?? oldest ?? '');
  }

  /** A lead whose reading failed has had its turn: if the CRM fails on it each time, it would else keep all others from theirs. */
  noteFailure(leadId: RecordId, at: number): void {
    this.#failedAt.set(leadId, at);
    this.#tried.delete(leadId);
    this.#place(leadId);
  }

  /** The contacts of a lead that are there. */
  contactsOf(leadId: RecordId): StoredRecord[] {
    return [...(this.#contacts.get(leadId)?.values() ?? [])];
  }

  /** How many leads and contacts are there, how many of these leads were read, and the oldest of those readings, epoch ms. */
  countAll() {
    const wasRead = (id: RecordId) => this.#present.has(id) && this.#readOf.has(id);
    const first = this.#inOrder()
      .values()
      .find((id) => wasRead(id) && !this.#failedAt.has(id));
    const times = [first, ...this.#failedAt.keys()].flatMap((id = '') =>
      wasRead(id) ? (this.#readOf.get(id)?.at ?? []) : [],
    );
    return {
      contacts: this.#contactCount,
      leads: this.#present.size,
      leadsRead: this.#present.size - this.#unread.size,
      oldestAt: times.reduce((oldest, at) => Math.min(oldest, at), Number.POSITIVE_INFINITY),
    };
  }

  #forgetAll(): void {
    const kept = [this.#leads, this.#readOf, this.#contacts, this.#present, this.#unread];
    for (const each of [...kept, this.#untried, this.#tried, this.#changed]) each.clear();
    [this.#records, this.#reads, this.#contactCount] = [[], [], 0];
    [this.#isInOrder, this.#lastTurnAt] = [true, Number.NEGATIVE_INFINITY];
  }

  #noteRead(read: ContactRead): void {
    const { at, leadId } = read;
    this.#readOf.set(leadId, read);
    this.#tried.delete(leadId);
    if (at >= (this.#failedAt.get(leadId) ?? at)) this.#failedAt.delete(leadId);
  }

  /** Returns the leads about which it says something new. */
  #noteRecord(record: StoredRecord): RecordId[] {
    const { fields, key, presence } = record;
    if (key.entity === 'contact') return [this.#noteContact(record)];
    if (key.entity !== 'lead') return [];
    const known = this.#leads.get(key.id);
    this.#leads.set(key.id, record);
    return known?.fields === fields && known.presence === presence ? [] : [key.id];
  }

  #noteContact(contact: StoredRecord): RecordId {
    const { id } = contact.key;
    const { leadId } = splitContactId(id);
    const contacts = this.#contacts.get(leadId) ?? new Map<RecordId, StoredRecord>();
    this.#contactCount -= contacts.size;
    if (contact.presence === 'present') contacts.set(id, contact);
    else contacts.delete(id);
    this.#contactCount += contacts.size;
    if (contacts.size > 0) this.#contacts.set(leadId, contacts);
    else this.#contacts.delete(leadId);
    return leadId;
  }

  /** Puts a lead among those that it belongs to. */
  #place(id: RecordId): void {
    const [lead, read] = [this.#leads.get(id), this.#readOf.get(id)];
    if (!lead) return;
    const isPresent = lead.presence === 'present';
    const isAsked = isPresent || this.#contacts.has(id);
    const isTried = read !== undefined || this.#failedAt.has(id);
    if (isAsked && isTried && !this.#tried.has(id)) {
      const at = this.#turnOf(id);
      if (at < this.#lastTurnAt) this.#isInOrder = false;
      else this.#lastTurnAt = at;
    }
    putIf(isPresent, this.#present, id);
    putIf(isPresent && !read, this.#unread, id);
    putIf(isAsked && !isTried, this.#untried, id);
    putIf(isAsked && isTried, this.#tried, id);
    putIf(isAsked && read !== undefined && read.leadVersion !== versionOf(lead), this.#changed, id);
  }

  #inOrder(): ReadonlySet<RecordId> {
    if (!this.#isInOrder) {
      const turns = [...this.#tried].map((id) => ({ id, at: this.#turnOf(id) }));
      this.#tried = new Set(turns.toSorted((one, other) => one.at - other.at).map(({ id }) => id));
      this.#isInOrder = true;
    }
    return this.#tried;
  }

  #turnOf(id: RecordId): number {
    const never = Number.NEGATIVE_INFINITY;
    return Math.max(this.#readOf.get(id)?.at ?? never, this.#failedAt.get(id) ?? never);
  }
}

/** The items that are others than before; `undefined` where something was taken out of the list, or it is in another order. */
function findChanged<Item>(
  before: readonly Item[],
  list: readonly Item[],
  isSame: (one: Item, other: Item) => boolean,
): Item[] | undefined {
  if (list.length < before.length) return undefined;
  const changed: Item[] = [];
  if (list === before) return changed;
  for (let place = 0; place < list.length; place += 1) {
    const old = before[place];
    const item = list[place];
    // Nearly all are the same objects.
    if (old === item || item === undefined) continue;
    if (old && !isSame(old, item)) return undefined;
    changed.push(item);
  }
  return changed;
}

const isSameKey = ({ key: one }: StoredRecord, { key: other }: StoredRecord): boolean =>
  one.entity === other.entity && one.id === other.id;

const leadOfRead = ({ leadId }: ContactRead): RecordId => leadId;

function putIf(isIn: boolean, set: Set<RecordId>, id: RecordId): void {
  if (isIn) set.add(id);
  else set.delete(id);
}
