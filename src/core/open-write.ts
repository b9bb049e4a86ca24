import type { Cell } from './cell.ts';
import type { RecordKey } from './record.ts';
import type { JournalEntry } from './state.ts';
import type { AppendStep, DeleteStep, Keeping, KeptRow, PlannedPlaces, RowStep, SetStep } from './table.ts';
import type { FieldName, Fields } from './value.ts';

/**
 * Google ends a request after three minutes: https://developers.google.com/workspace/sheets/api/limits. Until then an unanswered one
 * may land.
 */
export const lateLandingMs = 180_000;

/**
 * A write to the table that is not over: it is durable before it is sent, and is forgotten once it was confirmed, or once what it did to
 * other rows is mended. Whoever finds it after a crash or a lost answer asks the table what it did.
 */
export interface OpenWrite {
  /** The run that planned it, perhaps with a mark behind it. */
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  /**
   * `answered`: what it did is known, and only what is to be mended is left of it. `landed`: it was carried out, and which rows these deletes
   * took only the next read tells, because a filter hid them. `unknown`: no reply came, or it says nothing of these steps.
   */
  readonly outcome: 'unknown' | 'landed' | 'answered';
  /** An unknown write may still land until then, epoch ms. */
  readonly settlesAt: number;
  readonly keeping: Keeping;
  /** Rows of the table that it needs for what it keeps, from `keeping.from` on. */
  readonly height: number;
  /** Where the columns stood when it was planned. */
  readonly places: PlannedPlaces;
  readonly sets: readonly SentSet[];
  readonly deletes: readonly SentDelete[];
  readonly appends: readonly SentAppend[];
}

/** Whether no reply has told what a write did, and it may land yet. */
export const mayStillLand = ({ outcome, settlesAt }: OpenWrite, now: number): boolean =>
  outcome === 'unknown' && now < settlesAt;

/** Names a step of a write that is still open. */
export interface Mending {
  readonly write: string;
  readonly slot: number;
  /** Where it gives a row back: how many are like that one now. */
  readonly beside?: number;
}

/** What becomes true once a step of a write is confirmed. */
export interface Consequences {
  /** The record the row carries; absent for rows that belong to none yet. */
  readonly key?: RecordKey;
  /** Values that become agreed when the write is confirmed. */
  readonly offers: Fields;
  readonly notice: string;
  /** The offered fields that the notice is about; all where absent. */
  readonly noticed?: readonly FieldName[];
  /** What the journal says once the write is confirmed; absent when only the Sync column or the look of a value changes. */
  readonly journal?: JournalEntry;
  /** The row is claimed: these are the values of the record that will be created from it. */
  readonly creates?: Fields;
  /** The record is forgotten once its row is gone. */
  readonly forgets?: true;
  /** It makes good what this step did to another row. */
  readonly mends?: Mending;
}

/** A step that was sent to a row which was there. */
interface Sent {
  /** Its number among the steps whose rows are kept. */
  readonly slot: number;
  /** The managed cells of the row as it was read before; absent where nobody cares. */
  readonly was?: Readonly<Record<FieldName, Cell>>;
  /** Other rows showed the same ID then, so that it does not tell which of them was meant. */
  readonly isShared?: true;
  /** It had no ID of its own, and no other row showed more than half of what stood in it: so a row that shows most of it is this one. */
  readonly isAlone?: true;
  /** What becomes true once it is known to have done what it should. */
  readonly confirms?: Consequences;
  /** The row that it reached, once that is known, and known to need mending. */
  readonly kept?: KeptRow;
}

export type SentSet = Sent & Omit<SetStep, 'kind'>;

export type SentDelete = Sent &
  DeleteStep & {
    /** What it took was sent back when so many rows were like it, copies of it for instance; nobody knows yet whether that landed. */
    readonly sentBackBeside?: number;
  };

/** What of a set is left to be watched once the rest of it is mended: these fields. */
export const watchFields = (sent: SentSet, names: readonly FieldName[]): readonly SentSet[] => {
  const { id: _id, others: _others, sync: _sync, confirms: _confirms, ...rest } = sent;
  const cells = Object.entries(sent.cells).filter(([name]) => names.includes(name));
  return cells.length === 0 ? [] : [{ ...rest, cells: Object.fromEntries(cells) }];
};

/** A row that was sent to be added; its number is below zero. Once anything of the write has landed there is nothing left to find out about it. */
export type SentAppend = Pick<Sent, 'slot' | 'confirms'> & AppendStep;

/** The steps of a write by their numbers. */
export const stepsOf = ({ appends, deletes, sets }: OpenWrite): ReadonlyMap<number, RowStep> =>
  new Map<number, RowStep>([
    ...sets.map((sent) => [sent.slot, { ...sent, kind: 'set' }] as const),
    ...deletes.map((sent) => [sent.slot, sent] as const),
    ...appends.map((sent) => [sent.slot, sent] as const),
  ]);

/** Whether any step of a write is still open. */
export const hasOpenSteps = ({ appends, deletes, sets }: OpenWrite): boolean =>
  sets.length + deletes.length + appends.length > 0;

/** The write with those of its steps alone that are still open. */
export const keepSteps = (
  write: OpenWrite,
  isOpen: (step: SentSet | SentDelete | SentAppend) => boolean,
): OpenWrite => ({
  ...write,
  sets: write.sets.filter(isOpen),
  deletes: write.deletes.filter(isOpen),
  appends: write.appends.filter(isOpen),
});

/** The first row of the table that none of these writes needs for what it keeps. */
export const freeRow = (writes: readonly OpenWrite[]): number =>
  Math.max(0, ...writes.map(({ height, keeping }) => keeping.from + height));
