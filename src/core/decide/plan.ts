import type { Cell } from '../cell.ts';
import type { Suspect } from '../damage.ts';
import type { TabKind } from '../layout.ts';
import type { Consequences } from '../open-write.ts';
import type { Entity, RecordId, RecordKey } from '../record.ts';
import type { Agreement, Decision, JournalEntry, OutboxItem } from '../state.ts';
import type { RowStep } from '../table.ts';
import type { FieldName, Value } from '../value.ts';

/** A write to the table, and what becomes true once it is confirmed. */
export interface TableStep extends Consequences {
  readonly write: RowStep;
}

/** Both sides changed one field differently and a person must choose. */
export interface Conflict {
  readonly key: RecordKey;
  readonly field: FieldName;
  readonly agreed: Value;
  readonly crm: Value;
  readonly table: Value;
}

/** No writes for a record, a column or a tab until the cause is gone. `decision` names the scope a person can decide. */
export interface Hold {
  /** The tab of the questions is left alone as a whole. */
  readonly entity: TabKind;
  readonly id?: string;
  readonly position?: number;
  readonly reason: string;
  readonly decision?: string;
  /** A column that people may want and need not have: all goes on without it. */
  readonly isOffer?: true;
  /** The CRM shows something of the record that cannot be understood. It is corrected there, not in the sheet. */
  readonly isUnread?: true;
}

/** Whether what is held waits for a person: a column that is only offered is there for who wants it. */
export const isNeeded = ({ isOffer }: { readonly isOffer?: unknown }): boolean => !isOffer;

/** Whether a tab or a column is left alone, until somebody mends what the reason says. */
export const isOfTab = ({
  decision,
  id,
  isOffer,
  position,
}: { readonly [Name in 'decision' | 'id' | 'isOffer' | 'position']?: unknown }): boolean =>
  decision === undefined && id === undefined && position === undefined && !isOffer;

/** A tab where a step would be too large to be meant; zero writes until a person approves `scope`. */
export interface Brake {
  readonly scope: string;
  readonly entity: Entity;
  readonly reason: string;
  readonly changes: StoppedChanges;
}

/** The changes that a brake stops: the first of them, and how many there are. */
export interface StoppedChanges {
  readonly count: number;
  readonly shown: readonly StoppedChange[];
}

/**
 * A change that a brake stops: a field that people edited in the table, that the CRM emptied, or in which both sides differ; or a record
 * whose row is gone, or that is gone from the CRM itself.
 */
export interface StoppedChange {
  readonly id: RecordId;
  readonly what: 'edited' | 'emptied' | 'row gone' | 'record gone' | 'differs';
  readonly field?: FieldName;
  readonly before?: Value;
  readonly after?: Value;
}

/** Something that waits for a person, in the words in which it is asked: a brake, a conflict, or a hold or refusal that has a scope. */
export interface Question {
  readonly scope: string;
  /** What it is about, by the columns of the tab of the questions. */
  readonly cells: Readonly<Record<string, Cell>>;
}

/** What can not be sent, or was not taken by the CRM; the reason is shown beside the row. */
export interface Refusal {
  readonly entity: Entity;
  readonly id?: string;
  /** Absent where the row is gone. */
  readonly position?: number;
  readonly reason: string;
  /** The scope under which a person can answer what the CRM did not take; absent where the row has to be mended. */
  readonly decision?: string;
  /** A person wants both sides to stay as they are. */
  readonly isIgnored?: true;
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
