import type { Entity, RecordId, RecordKey } from '../../core/record.ts';
import type { Agreement, Decision, JournalEntry, KnownRecord, OutboxItem } from '../../core/state.ts';
import type { Brake, Conflict, Hold, Refusal } from '../../core/waiting/waiting.ts';
import type { TableStep } from '../plans/plan.ts';
import type { Suspect } from '../port/damage.ts';
import type { Answers, Ask, Chosen } from '../questions/answers.ts';

/** A record that is to get a row, and why. */
export interface DueRow {
  readonly record: KnownRecord;
  readonly cause: string;
}

/** Of what a verdict may say any number. */
export interface Findings {
  outboxSaved: OutboxItem;
  outboxDropped: RecordKey;
  agreementsSaved: Agreement;
  agreementsDropped: RecordKey;
  journal: JournalEntry;
  table: TableStep;
  /** Suspects of which this read shows less. */
  suspectsSaved: Suspect;
  /** Suspects that are over. */
  suspectsDropped: string;
  conflicts: Conflict;
  holds: Hold;
  refusals: Refusal;
  brakes: Brake;
  withheld: Entity;
  /** Entities whose agreements may be found anew, because a user agreed. */
  rebased: Entity;
  /** Entities whose columns are where the configuration puts them, and nothing speaks against it. */
  remapped: Entity;
  /** Entities whose tab follows the rule of the configuration from here on. */
  ruled: Entity;
  /** How many records of a tab have no row because they do not fit, once for each tab that is read. */
  leftOut: { readonly entity: Entity; readonly count: number };
  /** Those of them about which nothing has to be decided until they change. */
  outside: RecordKey;
  /** When time alone changes a verdict, epoch ms. */
  changesAt: number;
  /** What users chose beside questions in their tab, and before that what an answer to a brake comes to for each change it was given for. */
  answers: Decision;
  /** Scopes that still matter: what was decided under them is kept, and their questions stay where they are. */
  scopes: string;
  /** Records of which all that users decided stays decided, because nothing can be decided about them now. */
  kept: RecordKey;
  /** Decisions that are over although their scope matters: carried out once, or outrun by what happened since. */
  spent: string;
  /** Rows and records that changed since the read before: decided once they rest. */
  unsettled: RecordId;
  /** Records without a row whose row this may be: they have not vanished. */
  resembled: RecordId;
  /** Records that are to get a row, as many as a cycle may add. */
  due: DueRow;
  /** Records whose row may be the one of another record: any other row may be theirs. */
  unsure: RecordId;
}

/** What deciding one row, one record or one brake comes to. */
export type Verdict = { readonly [Name in keyof Findings]?: readonly Findings[Name][] };

export const nothing: Verdict = {};

export const isNothing = (verdict: Verdict): boolean =>
  Object.values(verdict).every(({ length }) => length === 0);

/** Joins what was found about one thing. */
export function join(...verdicts: readonly Verdict[]): Verdict {
  const joined: Record<string, readonly unknown[]> = {};
  for (const verdict of verdicts) {
    if (verdict === nothing) continue;
    for (const [name, items] of Object.entries(verdict)) joined[name] = joined[name]?.concat(items) ?? items;
  }
  return joined;
}

/** All of one kind that the verdicts say, in their order. */
export const collect = <Name extends keyof Findings>(
  verdicts: readonly Verdict[],
  name: Name,
): Findings[Name][] => {
  const found: Findings[Name][] = [];
  // Most verdicts say nothing of most kinds, of which there are many.
  for (const { [name]: own } of verdicts) if (own) for (const each of own) found.push(each);
  return found;
};

/** What a chosen answer leaves to be kept. */
export const keepChosen = (scope: string, chosen: Chosen | undefined): Verdict =>
  chosen ? { scopes: [scope], answers: [chosen.decision] } : { scopes: [scope] };

/** What was answered under a scope, kept before or chosen just now beside the question that is asked where nothing was. */
export function answerTo(answers: Answers, scope: string, ask: Ask) {
  const kept = answers.find(scope);
  const chosen = kept ? undefined : answers.choose(scope, ask);
  return { answered: kept ?? chosen, verdict: keepChosen(scope, chosen) };
}
