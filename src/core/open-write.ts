import { type RecordId, type RecordKey, recordKeyText } from './record.ts';
import type { JournalEntry } from './state.ts';
import type { FieldName, Fields } from './value.ts';

/** For so long a write without a reply may still land, at any side: no service that is known ends a request later. */
export const lateLandingMs = 180_000;

/** What an adapter has to know of a write until it is over. Only that adapter understands it. */
export type Receipt = string;

/** What becomes true once a step of a write is confirmed. */
export interface Consequences {
  /** The record the row carries; absent for rows that belong to none yet. */
  readonly key?: RecordKey;
  /** Values that become agreed when the write is confirmed. */
  readonly offers: Fields;
  readonly notice: string;
  /** The offered fields that the notice is about; all where absent. */
  readonly noticed?: readonly FieldName[];
  /** What the journal says once the write is confirmed; absent when no value of the record changes. */
  readonly journal?: JournalEntry;
  /** The row is claimed: these are the values of the record that will be created from it. */
  readonly creates?: Fields;
  /** The record is forgotten once its row is gone. */
  readonly forgets?: true;
  /** The record stays, and a rule keeps it out of the side once its row is gone. */
  readonly leaves?: true;
  /** The suspect that is over with it, because a user chose to restore what was there. */
  readonly closes?: string;
}

/** A write to the table that is not over. It is durable before it is sent; after a crash or a lost reply its adapter finds out what it did. */
export interface OpenWrite {
  /** The run that planned it. */
  readonly id: string;
  /** When it was decided, epoch ms. */
  readonly at: number;
  /** What was sent last may still land until then, epoch ms. */
  readonly settlesAt: number;
  readonly receipt: Receipt;
  /** By the number of its step. */
  readonly confirms: readonly (readonly [number, Consequences])[];
  /** The claim tokens that it writes: until it is confirmed no create follows from one. */
  readonly tokens: readonly RecordId[];
  /** What it is known to have done to other rows, and is being undone. */
  readonly damage: readonly unknown[];
}

/**
 * What writes without a reply may still give a row: records by `recordKeyText`, and what is put back by the id of its suspect. Given another one
 * meanwhile, it would have two.
 */
export const arrivingBy = (writes: readonly Pick<OpenWrite, 'confirms'>[]): ReadonlySet<string> =>
  new Set(
    writes.flatMap(({ confirms }) =>
      confirms.flatMap(([, { closes, key }]) => [key ? recordKeyText(key) : [], closes ?? []].flat()),
    ),
  );

/** A damage that deciding has to know of: what it may have changed is no evidence of what a user means. */
export interface Suspect {
  /** The run of the write, a point and a number. */
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  /** Only its side understands it. */
  readonly damage: unknown;
  /**
   * `pending`: sent back, without a reply so far. `escalated`: it could not be undone, and a user is asked. `undone`: watched for some time,
   * because a user's own undo may bring it back.
   */
  readonly state: 'pending' | 'escalated' | 'undone';
  /** How many reads in a row showed nothing of it; of an escalated one alone. */
  readonly clearReads: number;
}
