import type { Catalog } from '../catalog.ts';
import type { Names } from '../codec.ts';
import type { Remap } from '../column-map.ts';
import type { Contest } from '../contest.ts';
import type { Suspect } from '../damage.ts';
import type { FieldDefinition } from '../field.ts';
import type { Layout, TabLayout } from '../layout.ts';
import type { Policy } from '../policy.ts';
import {
  type Entity,
  entities,
  parseRecordKey,
  type RecordId,
  type RecordKey,
  recordKeyText,
} from '../record.ts';
import type { Agreement, Decision, KnownRecord, OutboxItem } from '../state.ts';
import type { ObservedRow, ObservedTable, ReadTab } from '../table.ts';
import type { FieldName } from '../value.ts';
import type { Draft } from './draft.ts';
import type { Cascades } from './lifecycle/cascade.ts';

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

/** What the parts of deciding share about one tab. */
export interface TabContext {
  readonly input: DecideInput;
  readonly entity: Entity;
  readonly layout: TabLayout;
  readonly tab: ReadTab;
  readonly fields: ReadonlyMap<FieldName, FieldDefinition>;
  readonly names: Names;
  readonly draft: Draft;
  readonly cascades: Cascades;
  /** Title of the tab in which people can answer; absent where there is none now. */
  readonly questionsTitle: string | undefined;
  readonly records: ReadonlyMap<string, KnownRecord>;
  readonly agreements: ReadonlyMap<string, Agreement>;
  readonly outbox: ReadonlyMap<string, OutboxItem>;
  /** A person's answer, or `undefined`; asking marks it as still in use. */
  readonly decision: (scope: string) => string | undefined;
  /** The same without marking it. */
  readonly peek: (scope: string) => string | undefined;
  /** What a brake showed when a person answered it, where that is known. */
  readonly seenOf: (scope: string) => string | undefined;
  /** When a person answered, epoch ms. */
  readonly answeredAt: (scope: string) => number | undefined;
}

/**
 * Scopes of decisions: `vanished:lead-42`, `conflict:lead-42:title`, `copy:lead-42:1a2b3c`, `swap:lead-42`, `refused:lead-42`,
 * `loop:lead-42`, `brake:lead:emptied`, `meant:lead-42:title`, `gone:lead-42`, `damage:lead-42:run.0`; `held:lead` is only told.
 */
export const vanishedScope = (key: RecordKey): string => `vanished:${recordKeyText(key)}`;
export const conflictScope = (key: RecordKey, field: FieldName): string =>
  `conflict:${recordKeyText(key)}:${field}`;
/** `look` names what the copy shows: an answer is for that and nothing else. */
export const copyScope = (key: RecordKey, look: string): string => `copy:${recordKeyText(key)}:${look}`;
export const loopScope = (key: RecordKey): string => `loop:${recordKeyText(key)}`;
export const refusedScope = (key: RecordKey): string => `refused:${recordKeyText(key)}`;
/** Of an edit that was let go with others when a brake stopped them all. */
export const meantScope = (key: RecordKey, field: FieldName): string =>
  `meant:${recordKeyText(key)}:${field}`;
/** Of a record gone from the CRM that was let go with others when a brake stopped them all. */
export const goneScope = (key: RecordKey): string => `gone:${recordKeyText(key)}`;
/** Of what a write did to the row with this ID, or to one without. */
export const damageScope = (entity: Entity, id: RecordId, suspect: string): string =>
  `damage:${id === '' ? entity : recordKeyText({ entity, id })}:${suspect}`;
export const swapScope = (key: RecordKey): string => `swap:${recordKeyText(key)}`;

/** The entity that something under the scope is about; `undefined` for a text that is no scope. */
export function scopeEntity(scope: string): Entity | undefined {
  const subject = scope.split(':')[1] ?? '';
  return parseRecordKey(subject)?.entity ?? entities.find((entity) => entity === subject);
}

/**
 * Takes the place of the answer to a brake once that is turned into one for each change, until all of those are done; and stands for a row
 * that was let go without a word about its record.
 */
export const noted = 'noted';

/** Whether a row is left until it rests, because somebody may still be typing there: then it is counted among those that do. */
export function isLeftToRest({ draft, entity, input }: TabContext, row: ObservedRow): boolean {
  const isRestless = input.isRestless(entity, row);
  if (isRestless) draft.restlessRows += 1;
  return isRestless;
}

/** Keeps what people decided about a record for later, where nothing can be decided about it now. */
export function keepDecisions({ decision, layout }: TabContext, key: RecordKey): void {
  decision(vanishedScope(key));
  decision(refusedScope(key));
  decision(loopScope(key));
  for (const { field } of layout.columns) decision(conflictScope(key, field));
}
