import type { Suspect } from '../damage.ts';
import type { Entity, RecordId, RecordKey } from '../record.ts';
import type { Agreement, Decision, JournalEntry, OutboxItem } from '../state.ts';
import type { Brake, Conflict, Hold, Plan, Refusal, TableStep } from './plan.ts';

/** A plan in the making: the parts of deciding add to it, nobody reads it before it is finished. */
export interface Draft {
  readonly outboxSaved: OutboxItem[];
  readonly outboxDropped: RecordKey[];
  readonly agreementsSaved: Agreement[];
  readonly agreementsDropped: RecordKey[];
  readonly journal: JournalEntry[];
  readonly table: TableStep[];
  /** Suspects of which this read shows less. */
  readonly suspectsSaved: Suspect[];
  /** Suspects that are over. */
  readonly suspectsDropped: string[];
  readonly conflicts: Conflict[];
  readonly holds: Hold[];
  readonly brakes: Brake[];
  readonly withheld: Entity[];
  readonly refusals: Refusal[];
  /** Entities whose agreements may be found anew, because a person agreed. */
  readonly rebased: Entity[];
  /** Entities whose columns are where the configuration puts them, and nothing speaks against it. */
  readonly remapped: Entity[];
  /** What answers to brakes come to for each change that they were given for. */
  readonly noted: Decision[];
  /** What a person has just said of all records whose rows are gone from a tab, in answer to its brake. */
  readonly lossesLetGo: Map<Entity, 'trash' | 'restore'>;
  /** The records whose torn values a person has just let go. */
  readonly tornLetGo: Map<Entity, ReadonlySet<RecordId>>;
  /** Decisions of people that still wait for something. */
  readonly usedDecisions: Set<string>;
  /** Decisions that what happened since has outrun: they are over, and asked about anew. */
  readonly outrunDecisions: Set<string>;
  /** Scopes with a row in the tab of the questions under which nothing is decided, and may be soon. */
  readonly openScopes: Set<string>;
  restlessRows: number;
}

export const createDraft = (): Draft => ({
  outboxSaved: [],
  outboxDropped: [],
  agreementsSaved: [],
  agreementsDropped: [],
  journal: [],
  table: [],
  suspectsSaved: [],
  suspectsDropped: [],
  conflicts: [],
  holds: [],
  brakes: [],
  withheld: [],
  refusals: [],
  rebased: [],
  remapped: [],
  noted: [],
  lossesLetGo: new Map(),
  tornLetGo: new Map(),
  usedDecisions: new Set(),
  outrunDecisions: new Set(),
  openScopes: new Set(),
  restlessRows: 0,
});

export const finishDraft = (
  draft: Draft,
  at: number,
  run: string,
  rest: Pick<Plan, 'settledDecisions' | 'questions' | 'takesAccount'>,
): Plan => ({
  at,
  run,
  outbox: { save: draft.outboxSaved, drop: draft.outboxDropped },
  agreements: { save: draft.agreementsSaved, drop: draft.agreementsDropped },
  journal: draft.journal,
  answers: draft.noted,
  ...rest,
  table: draft.table,
  suspects: { save: draft.suspectsSaved, drop: draft.suspectsDropped },
  conflicts: draft.conflicts,
  holds: draft.holds,
  brakes: draft.brakes,
  withheld: draft.withheld,
  refusals: draft.refusals,
  rebased: draft.rebased,
  remapped: draft.remapped,
  restlessRows: draft.restlessRows,
});
