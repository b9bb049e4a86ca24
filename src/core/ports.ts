import type { ListedCatalog } from './fields/listed-catalog.ts';
import type { Entity, ListedEntity, ObservedRecord, RecordId, RecordKey, Unread } from './record.ts';
import type { Fields } from './value.ts';

/** Time. Durations come from `monotonicMs`, which never jumps; instants from `now`. */
export interface Clock {
  /** Wall clock, epoch ms. */
  now(): number;
  /** Milliseconds since some fixed moment; unaffected by clock changes. */
  monotonicMs(): number;
  /** Resolves after the time (clamped to what timers can do), or at once when aborted; it never rejects. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

/** Says whether this process may write for a link. Only reading needs no leave. */
export interface Fence {
  /** For how long from now, in ms, it is sure that no other process runs the link; 0 or less when it is not. */
  sureMs(): number;
}

/** Who may use the request budget first: the order of this list. */
export const lanes = ['settle', 'edit', 'newest', 'sweep'] as const;
export type Lane = (typeof lanes)[number];

/** What a list, or a page of one, shows. */
export interface RecordList {
  readonly records: readonly ObservedRecord[];
  /** Elements without an id that can be used, each in words that say where it is: any record that is missing may be one of them. Absent for none. */
  readonly nameless?: readonly string[];
}

/** One page of a listing. */
export interface RecordPage extends RecordList {
  /** Whether more pages follow this one. */
  readonly hasMore: boolean;
  /** How many records the listing has, where the CRM says so and more follow. */
  readonly total?: number;
}

/** What a create or an update brought back: the fields the CRM said, or none where it says nothing. */
export interface WriteAnswer {
  readonly id: RecordId;
  readonly fields: Fields;
  /** What of it cannot be understood; absent for nothing. */
  readonly unread?: Unread;
  /** When the answer arrived, epoch ms. */
  readonly at: number;
}

/** Follows a write that may wait for long, for whoever has to know when it leaves, or may not mean it any more by then. */
export interface Sending {
  /** Ends the wait for a turn: then nothing is sent, and the call rejects with the signal's reason. */
  readonly wait?: AbortSignal;
  /** Called each time when it is about to leave. With what this throws the call rejects, and nothing is sent. */
  begin(): void;
  /** Called when the CRM refused it for its rate or its key, so that it surely did nothing, and it waits for another turn. */
  takeBack(): void;
}

/**
 * The CRM. Every call waits for the request budget in its lane. Errors are `SyncError`s: CRM_UNAUTHORIZED, CRM_FORBIDDEN,
 * CRM_NOT_FOUND, CRM_REFUSED (with the CRM's words), CRM_LIMITED, CRM_UNREACHABLE (surely not done), CRM_UNKNOWN_OUTCOME
 * (only from writes: it may have been done) and CRM_UNREADABLE.
 */
export interface Crm {
  readCatalog(lane: Lane): Promise<ListedCatalog>;
  /**
   * Newest first where the CRM can order, without what it says is in the trash. `page` counts from 1. A listing that can not be understood is
   * CRM_UNREADABLE.
   */
  listRecords(entity: ListedEntity, page: number, lane: Lane): Promise<RecordPage>;
  /** All contacts of a lead. CRM_NOT_FOUND when the CRM does not have the lead. */
  listContacts(leadId: RecordId, lane: Lane): Promise<RecordList>;
  /** A record by id, or `undefined` when the CRM says that it does not exist (404) or is in the trash, or answers another one in its place. */
  getRecord(key: RecordKey, lane: Lane): Promise<ObservedRecord | undefined>;
  createRecord(entity: Entity, fields: Fields, sending?: Sending): Promise<WriteAnswer>;
  /**
   * Sends the given fields only. What is `known` of the record from a read just now saves another one where the CRM may replace fields
   * that belong together.
   */
  updateRecord(key: RecordKey, fields: Fields, known?: Fields, sending?: Sending): Promise<WriteAnswer>;
  /** Moves the record to the CRM's trash, a contact to nowhere; a record that is already gone counts as done. */
  deleteRecord(key: RecordKey, sending?: Sending): Promise<void>;
}

/** What the worker made of a wake-up. The queue never retries by itself: the outbox knows what is due. */
export type WakeUp = (key: RecordKey) => Promise<void>;

/**
 * Wakes a worker for a record. Jobs carry the key and nothing else; they may be lost, doubled or late without harm, because
 * the worker reads what to do from the outbox and a sweeper adds what was lost.
 */
export interface WorkQueue {
  /** Which implementation this is, for status and logs. */
  readonly kind: 'bullmq' | 'inprocess';
  start(wakeUp: WakeUp): Promise<void>;
  /** Adds wake-ups; a key that already waits is not added twice. Fails with QUEUE_UNREACHABLE within two seconds when it can not. */
  add(keys: readonly RecordKey[]): Promise<void>;
  /** Whether the queue answers now. */
  isReachable(): Promise<boolean>;
  /** Takes no new jobs and waits for running ones, at most `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** Structured log lines: an event name and flat fields, never values of records or secrets. */
export type Log = Readonly<Record<'debug' | 'info' | 'warn' | 'error', LogLine>>;
type LogLine = (event: string, fields?: Readonly<Record<string, unknown>>) => void;

/** A slot of the request budget as it is kept over restarts. Times are epoch ms. */
export interface KeySlot {
  readonly id: number;
  /** The name of the key that its request was sent with. */
  readonly key: string;
  /** When the slot is free again. */
  readonly freeAt: number;
}

/** Where the budget keeps its last window, so that a restart can not overspend. */
export interface BudgetLog {
  /** The slots of all keys. */
  readSlots(): readonly KeySlot[];
  /** Notes a slot before its request is sent. Answers its id. */
  addSlot(key: string, freeAt: number): number;
  /** Lets a slot free earlier. A crash may take that back where the slot is not shared with others. */
  moveSlot(id: number, freeAt: number): void;
  /** Forgets slots that were free before `now`. */
  forgetSlots(now: number): void;
  /** Where others take slots from the same limits at the same time. */
  readonly shared?: SharedSlots;
}

/** Slots that several budgets take, also those of other processes. */
export interface SharedSlots {
  /** Does the work while nobody else takes a slot; all of it is kept, or nothing. */
  alone<Result>(work: () => Result): Result;
  /** The slots of everybody that are not free at `now`. */
  readTaken(now: number): readonly KeySlot[];
}
