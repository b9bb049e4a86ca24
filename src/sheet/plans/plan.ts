import type { Consequences } from '../../core/open-write.ts';
import type { Entity, RecordKey } from '../../core/record.ts';
import type { Agreement, Decision, JournalEntry, OutboxItem } from '../../core/state.ts';
import type { Brake, Conflict, Hold, Refusal } from '../../core/waiting/waiting.ts';
import type { Cell } from '../port/cell.ts';
import type { Suspect } from '../port/damage.ts';
import type { RowStep } from '../port/table.ts';

/** A write to the table, and what becomes true once it is confirmed. */
export interface TableStep extends Consequences {
  readonly write: RowStep;
}

/** Something that waits for a person, in the words in which it is asked: a brake, a conflict, or a hold or refusal that has a scope. */
export interface Question {
  readonly scope: string;
  /** What it is about, by the columns of the tab of the questions. */
  readonly cells: Readonly<Record<string, Cell>>;
}

/**
 * What to do, computed from what is known; it is never stored and never corrected, only computed again.
 * Its parts for SQLite are committed in one transaction before its table steps are written.
 */
export interface Plan {
  readonly at: number;
  readonly run: string;
  readonly outbox: { readonly save: readonly OutboxItem[]; readonly drop: readonly RecordKey[] };
  readonly agreements: { readonly save: readonly Agreement[]; readonly drop: readonly RecordKey[] };
  readonly journal: readonly JournalEntry[];
  /**
   * What people answered in the table, and what answers to brakes come to for each change. The plan is made with it, so it is kept
   * with it.
   */
  readonly answers: readonly Decision[];
  readonly settledDecisions: readonly string[];
  /** Suspects of which this read showed less, and the ids of those that are over. */
  readonly suspects: { readonly save: readonly Suspect[]; readonly drop: readonly string[] };
  readonly table: readonly TableStep[];
  readonly conflicts: readonly Conflict[];
  readonly holds: readonly Hold[];
  readonly brakes: readonly Brake[];
  /** Nothing of these may be sent to the CRM, also not what was decided before: a brake holds, or would if the table were at rest. */
  readonly withheld: readonly Entity[];
  readonly refusals: readonly Refusal[];
  /** Everything of the above that a person can answer. */
  readonly questions: readonly Question[];
  /** Entities whose agreements are found anew from here on. */
  readonly rebased: readonly Entity[];
  /** Entities whose columns are where the configuration puts them from here on. */
  readonly remapped: readonly Entity[];
  /** A person agreed that the account which the CRM shows is the one to work with from here on. */
  readonly takesAccount: boolean;
  /** Rows that changed since the read before: taken once they rest. */
  readonly restlessRows: number;
}

/** Whether the plan would change nothing on either side. */
export const isQuiet = (plan: Plan): boolean => plan.table.length === 0 && plan.outbox.save.length === 0;
