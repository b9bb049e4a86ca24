import type { ErrorCode } from '../core/errors.ts';
import type { Mirror } from '../core/mirror.ts';
import type { Entity, RecordKey } from '../core/record.ts';
import type { OutboxItem } from '../core/state.ts';
import type { FieldName, Value } from '../core/value.ts';
import type { Answer } from '../core/waiting/answer.ts';
import type { Brake, Conflict, Hold, Refusal } from '../core/waiting/waiting.ts';

/** Something that a person can answer, in the words in which it is asked. */
export interface Question {
  readonly scope: string;
  readonly what: string;
  /** What it is about, by name: the record, the field, what each side has. */
  readonly about: Readonly<Record<string, string>>;
  readonly answers: readonly Answer[];
  /** What an answer is for, kept with it: something else may be shown by the time it is carried out. */
  readonly shown?: string | undefined;
}

/** What a side came to in a cycle. What it found is told in words and counts; what it did is on its way or done. */
export interface SideReport {
  /** When it was decided, epoch ms. */
  readonly at: number;
  readonly brakes: readonly Brake[];
  readonly holds: readonly Hold[];
  readonly conflicts: readonly Conflict[];
  readonly refusals: readonly Refusal[];
  /** All of the above that a person can answer. */
  readonly questions: readonly Question[];
  /** Rows that changed just now: taken once they rest. */
  readonly restlessRows: number;
  /** Whether there is anything to write, to the CRM or to the side. */
  readonly hasWork: boolean;
  /** Whether some of it was let through. */
  readonly hasActed: boolean;
  /** Records and new rows of which something waits for a plan to be applied. */
  readonly unapplied: number;
  /** What became of what was to be written to the side. */
  readonly toSide: 'nothing' | 'written' | 'waiting';
  /** Whether as much was written as one cycle may write: the rest follows at once. */
  readonly hasMore?: boolean;
}

/** What the next cycle would do. Whatever else a side says of it is shown as it is. */
export interface SidePlan {
  readonly run: string;
  /** The side it is of, where it says so. */
  readonly side?: string;
  /** All of it in words, in lines; nothing where there is nothing to do and to say. */
  readonly told: readonly string[];
}

/** Something that one of two plans does or says otherwise than the other, in words; absent where a plan has nothing there. */
export interface PlanDifference {
  /** A record, a field of it on one side, or the scope of a brake. */
  readonly place: string;
  readonly planned?: string | undefined;
  readonly now?: string | undefined;
}

/** How often a side is looked at. */
export interface SidePace {
  /** Two cycles never start closer together. */
  readonly gapMs: number;
  /** The pause when nothing happens. */
  readonly pollMs: number;
  /** What that pause may grow to while nothing happens for hours; absent where it stays the same. */
  readonly quietPollMs?: number;
  /** The pause while rows do not rest. */
  readonly restlessMs: number;
}

/** What comparing all rows of a side with the CRM's records came to, by kind of record. */
export interface SideComparison {
  /** When it began, epoch ms. */
  readonly at: number;
  readonly tables: readonly {
    readonly entity: Entity;
    readonly rows: number;
    /** Records without a row. */
    readonly missing: number;
    /** Rows without a record. */
    readonly extra: number;
    /** Rows with other values than the CRM has. */
    readonly different: number;
  }[];
}

/** What was done at a side since the start. */
export interface SideTally {
  readonly tableSteps: number;
  /** Steps that met moved rows or columns: what they did there was undone, or could not be. */
  readonly undoneWrites: number;
  readonly escalatedWrites: number;
}

export type TypedReading =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * A system that is kept the same with the CRM. It merges what it has with the CRM's records and what is agreed, knows no other side, and is
 * called by one runner, one call of `cycle`, `plan` and `apply` at a time.
 */
export interface Side {
  /** Names it among the problems, and its stores in the mirror. */
  readonly name: string;
  /** What a sentence calls it. */
  readonly title: string;
  /** Where people open it; absent where no browser can. */
  readonly url?: string | undefined;
  /** The mirror with its own stores. */
  readonly mirror: Mirror;
  readonly pace: SidePace;
  readonly tally: SideTally;
  /** Of the last cycle that came to a decision; absent before the first. */
  readonly report: SideReport | undefined;
  /**
   * Finds out what unfinished writes did, looks, decides, and does what may be done. Throws what keeps it from that; then either nothing was
   * decided, and the report is the one of before, or not all of it was done.
   */
  cycle(): Promise<unknown>;
  /** What the next cycle would do, by the same decision, without doing it. It is kept for {@link apply} under its run. */
  plan(): Promise<SidePlan>;
  /**
   * Does exactly what a kept plan says, under its run, if that is what would be done now. Returns what is different: then nothing was done.
   * `undefined` when no such plan is kept.
   */
  apply(run: string): Promise<readonly PlanDifference[] | undefined>;
  /** Compares all rows with the CRM's records, and writes what differs; absent where every cycle does. */
  compare?(): Promise<SideComparison>;
  /** How many records it shows, of each kind that it keeps the same. */
  countRows(): Readonly<Partial<Record<Entity, number>>>;
  /**
   * How many records it has no row for because its own rule leaves them out, of each kind of which it knows that so far; absent where it shows
   * all.
   */
  countLeftOut?(): Readonly<Partial<Record<Entity, number>>>;
  /** True if what is known of the side keeps a step from being sent to the CRM now; before the first decision everything is kept. */
  isWithheld(item: OutboxItem): boolean;
  /** When the last look began that did not have the change that waits for the record, monotonic ms; `undefined` where nobody knows. */
  lookedBefore(key: RecordKey): number | undefined;
  /** Reads a text like one that is typed there into the field of a conflict. */
  readTyped(conflict: Conflict & { readonly field: FieldName }, text: string): TypedReading;
  /** Where questions can be answered, for the end of a sentence. */
  readonly askedAt: string;
  /** What else an operator should know of it, each with the code of its kind. */
  notices(): readonly { readonly code: ErrorCode; readonly words: string }[];
  /** Calls `onNews` whenever there may be something new at the side; absent where only a look tells. */
  listen?(onNews: () => void): void;
  /** Throws why the side may not be written by this process. */
  expectWriter(): void;
  /** Leaves the side to the next process; to be called after the last cycle. */
  leave(): Promise<void>;
}
