import type { Entity, RecordKey } from './record.ts';
import type { Fields } from './value.ts';

/** A record that a side has to look at, because something else is known of it. Times are epoch ms. */
export interface Due {
  readonly key: RecordKey;
  /** Not to be looked at before. */
  readonly dueAt: number;
  readonly attempts: number;
  /** Why it could not be written the last time; empty for nothing. */
  readonly reason: string;
}

/** What the CRM had of a record for some time. Times are epoch ms. */
export interface Version {
  readonly key: RecordKey;
  readonly fields: Fields;
  /** When it was first seen. */
  readonly validFrom: number;
  /** When the one before it was last seen, as far as that is known. */
  readonly validAfter?: number | undefined;
  /** The side that brought it about, or `crm`. */
  readonly madeBy: string;
}

/** A version that is over. */
export interface EndedVersion extends Version {
  readonly validUntil: number;
  readonly ended: 'changed' | 'trashed' | 'left_out';
}

/** One write of a side that carries what was due. */
export interface FeedRun {
  readonly run: string;
  readonly keys: readonly RecordKey[];
  readonly at: number;
}

/**
 * What a side that follows the records has not written so far: which are due, and their versions that are over. Both are noted in the
 * transaction that saves the record.
 */
export interface Feed {
  /**
   * Records of these kinds whose time has come: leads first and the longest waiting first, and all that was put off behind the others. What
   * a write carries is among them until it is over.
   */
  takeDue(now: number, limit: number, entities: readonly Entity[]): readonly Due[];
  /** Records of a kind that are due, present, and of which no version is over: the first fill of a table carries nothing else. */
  takeFresh(entity: Entity, limit: number): readonly Due[];
  /** How many of the records that are due are gone. */
  countGone(): Readonly<Partial<Record<Entity, number>>>;
  /** How many of those were put off. */
  countGonePutOff(): Readonly<Partial<Record<Entity, number>>>;
  /** How many records of each kind are due, now or later. */
  countDue(): Readonly<Partial<Record<Entity, number>>>;
  /** When the next one is due, epoch ms; absent for none. */
  nextDueAt(): number | undefined;
  /** How many could not be written so far, with the first of them. */
  readStuck(limit: number): { readonly count: number; readonly shown: readonly Due[] };
  /** Makes records due at once. */
  noteDue(keys: Iterable<RecordKey>): void;
  /** Makes all records of the mirror due that are there. */
  noteAllDue(): void;
  /** Makes records due later, with the reason; those that are due already are put off. To be called when the write that carried them is over. */
  putOff(keys: readonly RecordKey[], dueAt: number, reason: string): void;
  isDue(key: RecordKey): boolean;
  /** Versions of the record that are over, oldest first. */
  readVersions(key: RecordKey): readonly EndedVersion[];
  /** Notes durably what a write is about to carry, under a name that is used once: all that is due now of these records. */
  beginRun(run: FeedRun): void;
  /** The write that was begun and is not over; absent for none. */
  pendingRun(): FeedRun | undefined;
  /** It is done, and has this number: what it carried is no longer due, unless it changed meanwhile, or is among what was left. */
  endRun(number: number, left?: readonly RecordKey[]): void;
  /** It never happened: all of it is still due. */
  dropRun(): void;
  /** The number of the last write that was done; 0 for none. */
  lastRun(): number;
  /** Takes the number for the last one, as the other end has it. */
  setLastRun(number: number): void;
  /** The records of all writes that were done after the number; `undefined` where not all of them are remembered. */
  keysAfter(number: number): readonly RecordKey[] | undefined;
  /** Forgets writes from before a time, epoch ms. */
  forgetRuns(before: number): void;
}
