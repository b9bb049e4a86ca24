import type { RecordKey } from '../record.ts';
import type { Agreement, JournalEntry, OutboxItem } from '../state.ts';
import type { Brake, Conflict, Hold, Plan, Refusal, TableStep } from './plan.ts';

/** A plan in the making: the parts of deciding add to it, nobody reads it before it is finished. */
export interface Draft {
  readonly outboxSaved: OutboxItem[];
  readonly outboxDropped: RecordKey[];
  readonly agreementsSaved: Agreement[];
  readonly agreementsDropped: RecordKey[];
  readonly journal: JournalEntry[];
  readonly table: TableStep[];
  readonly conflicts: Conflict[];
  readonly holds: Hold[];
  readonly brakes: Brake[];
  readonly refusals: Refusal[];
  /** Decisions of people that still wait for something. */
  readonly usedDecisions: Set<string>;
  restlessRows: number;
}

export const createDraft = (): Draft => ({
  outboxSaved: [],
  outboxDropped: [],
  agreementsSaved: [],
  agreementsDropped: [],
  journal: [],
  table: [],
  conflicts: [],
  holds: [],
  brakes: [],
  refusals: [],
  usedDecisions: new Set(),
  restlessRows: 0,
});

export const finishDraft = (
  draft: Draft,
  at: number,
  run: string,
  settledDecisions: readonly string[],
): Plan => ({
  at,
  run,
  outbox: { save: draft.outboxSaved, drop: draft.outboxDropped },
  agreements: { save: draft.agreementsSaved, drop: draft.agreementsDropped },
  journal: draft.journal,
  settledDecisions,
  table: draft.table,
  conflicts: draft.conflicts,
  holds: draft.holds,
  brakes: draft.brakes,
  refusals: draft.refusals,
  restlessRows: draft.restlessRows,
});
