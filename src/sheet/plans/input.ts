import type { Catalog } from '../../core/fields/catalog.ts';
import type { Entity, RecordId, RecordKey } from '../../core/record.ts';
import type { Agreement, Decision, KnownRecord, OutboxItem } from '../../core/state.ts';
import type { Contest } from '../../core/waiting/contest.ts';
import type { Remap } from '../column-moves.ts';
import type { Policy } from '../policy.ts';
import type { Suspect } from '../port/damage.ts';
import type { Layout } from '../port/layout.ts';
import type { ObservedRow, ObservedTable } from '../port/table.ts';

/** Everything that is known when a plan is made. */
export interface Known {
  readonly records: readonly KnownRecord[];
  readonly agreements: readonly Agreement[];
  readonly outbox: readonly OutboxItem[];
  readonly decisions: readonly Decision[];
  /** What writes did to other rows than their own: nothing is concluded from what they may have damaged. */
  readonly suspects: readonly Suspect[];
  readonly claims: UnconfirmedClaims;
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
export interface UnconfirmedClaims {
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
