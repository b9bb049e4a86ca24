import type { Catalog } from '../../core/fields/catalog.ts';
import type { Consequences } from '../../core/open-write.ts';
import type { Entity, RecordId, RecordKey } from '../../core/record.ts';
import type { Agreement, Decision, JournalEntry, KnownRecord, OutboxItem } from '../../core/state.ts';
import type { Contest } from '../../core/waiting/contest.ts';
import type { Brake, Conflict, Hold, Refusal } from '../../core/waiting/waiting.ts';
import type { Remap } from '../column-map.ts';
import type { TabRule } from '../only/rule.ts';
import type { Policy } from '../policy.ts';
import type { Cell } from '../port/cell.ts';
import type { Suspect } from '../port/damage.ts';
import type { Layout } from '../port/layout.ts';
import type { ObservedRow, ObservedTable, RowStep } from '../port/table.ts';

/** A write to the table, and what becomes true once it is confirmed. */
export interface TableStep extends Partial<Consequences> {
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
  /** Entities whose tab has its records by the rule of the configuration from here on. */
  readonly ruled: readonly Entity[];
  /** How many records have no row because they do not fit the rule of their tab; a tab that cannot be read is absent. */
  readonly leftOut: Readonly<Partial<Record<Entity, number>>>;
  /** When time alone changes what is decided, epoch ms; infinite where it never does. */
  readonly changesAt: number;
  /** A person agreed that the account which the CRM shows is the one to work with from here on. */
  readonly takesAccount: boolean;
  /** Rows that changed since the read before: taken once they rest. */
  readonly restlessRows: number;
}

/** Whether the plan would change nothing on either side, and no tab follows another rule, which may move its rows. */
export const isQuiet = ({ outbox, ruled, table }: Plan): boolean =>
  [table, outbox.save, ruled].every(({ length }) => length === 0);

/** Everything that is known when a plan is made. */
export interface Known {
  readonly records: readonly KnownRecord[];
  readonly agreements: readonly Agreement[];
  readonly outbox: readonly OutboxItem[];
  readonly decisions: readonly Decision[];
  /** What writes did to other rows than their own: nothing is concluded from what they may have damaged. */
  readonly suspects: readonly Suspect[];
  readonly claims: UnconfirmedClaims;
  /** What a write without a reply may still give a row: records by `recordKeyText`, and what is put back by the id of its suspect. */
  readonly arriving: ReadonlySet<string>;
  readonly catalog: Catalog;
  /** Elements of the CRM's lists that have no id which can be used, in words: any record that is missing may be one of them. */
  readonly nameless: ReadonlyMap<Entity, readonly string[]>;
  /** Entities of which at least one sweep of the CRM was complete: only then an unknown ID means something. */
  readonly sweptEntities: ReadonlySet<Entity>;
  /** Entities of which the CRM is sure to list nothing, where no record of them is known. */
  readonly emptyLists: ReadonlySet<Entity>;
  /** Entities whose agreements have to be found anew, with the reason. */
  readonly rebases: ReadonlyMap<Entity, string>;
  /** Tabs whose columns the configuration puts elsewhere than before. */
  readonly remaps: ReadonlyMap<Entity, Remap>;
  /** Tabs that have, or had until now, some of the records alone. */
  readonly rules: ReadonlyMap<Entity, TabRule>;
  /** Why the CRM may be another account than the one that is known; `undefined` when it is the known one. */
  readonly accountDoubt: AccountDoubt | undefined;
  /** Fields over which the two sides fight, by the text of their record's key. */
  readonly contests: ReadonlyMap<string, Contest>;
}

/** Nobody knows, or nobody agreed, whose records the CRM shows now. */
export interface AccountDoubt {
  readonly reason: string;
  /** It is another account for certain, so that a person can answer; else it is still being found out. */
  readonly isOther: boolean;
}

/** Claim tokens of which no write was confirmed: no create follows from one. */
interface UnconfirmedClaims {
  /** Of writes that have no reply so far. */
  readonly open: ReadonlySet<RecordId>;
  /** Of writes that are over: a row that shows one is as if it had no ID. */
  readonly void: ReadonlySet<RecordId>;
}

export interface DecideInput {
  readonly known: Known;
  readonly table: ObservedTable;
  /** Whether a row did not stand like this in the read before: somebody may still be typing. */
  readonly isRestless: (entity: Entity, row: ObservedRow) => boolean;
  /** Whether the record had no row in the read before either. */
  readonly wasMissing: (key: RecordKey) => boolean;
  /**
   * When the table was last read with a row of the record, epoch ms, or the run began: whoever deleted the row may have seen nothing of what
   * was learned since.
   */
  readonly shownUntil: (key: RecordKey) => number;
  readonly layout: Layout;
  readonly policy: Policy;
  readonly now: number;
  readonly run: string;
  /** A fresh claim token for a new row. */
  readonly newToken: () => string;
  /** Whether this mirror gave the token out: of any other nobody knows what became. */
  readonly isOwnToken: (token: string) => boolean;
}
