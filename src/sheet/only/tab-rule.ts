import { describeEntity } from '../../core/fields/field.ts';
import { once } from '../../core/once.ts';
import { type Entity, perEntity, type RecordId } from '../../core/record.ts';
import type { Agreement, Decision, KnownRecord } from '../../core/state.ts';
import { listOr } from '../../core/text/list-words.ts';
import type { Value } from '../../core/value.ts';
import { brakeOf, shownOf } from '../../core/waiting/brakes.ts';
import type { Brake, Hold, StoppedChange } from '../../core/waiting/waiting.ts';
import type { Names } from '../cells/codec.ts';
import { quoteValue } from '../cells/sync-text.ts';
import type { Loose } from '../index/standing.ts';
import type { DecideInput } from '../plans/plan.ts';
import { describeCell } from '../port/cell.ts';
import { columnOf, type TabLayout } from '../port/layout.ts';
import type { ObservedRow, ReadTab } from '../port/table.ts';
import type { Answers } from '../questions/answers.ts';
import type { QuestionWriter } from '../questions/questions.ts';
import { type Fit, type FitSurroundings, judgeFit, lastsUntil } from './fit.ts';
import {
  areRulesAlike,
  type Condition,
  everything,
  isSection,
  listOf,
  type OnlyRule,
  type Rule,
} from './rule.ts';

/** What a tab's rule says of its records. */
export interface TabRuling {
  /** Whether a record fits the tab. */
  readonly fitOf: (record: KnownRecord) => Fit;
  /** Whether the lack of a row says nothing about the record: it does not fit, or may not, or its row was about to leave. */
  readonly isOut: (agreement: Agreement) => boolean;
  /** Stops the tab until a user agrees to another rule. */
  readonly brakes: readonly Brake[];
  /** Whether the tab follows the rule of the configuration from here on, unless it is stopped. */
  readonly isNew: boolean;
  readonly verdict: RuleVerdict;
}

/** What is said of the rule itself, in the terms of a verdict. */
interface RuleVerdict {
  readonly holds?: readonly Hold[];
  readonly scopes?: readonly string[];
  readonly spent?: readonly string[];
  readonly answers?: readonly Decision[];
  readonly changesAt?: readonly number[];
}

/** All that a ruling follows from. */
export interface RuledTab {
  readonly entity: Entity;
  readonly input: DecideInput;
  readonly layout: TabLayout<Entity>;
  /** The rows that are in step, and the tab with all others. */
  readonly inStep: ReadonlyMap<RecordId, ObservedRow>;
  readonly tab: ReadTab;
  readonly names: Names;
  readonly answers: Answers;
  readonly questions: QuestionWriter;
  readonly records: ReadonlyMap<RecordId, KnownRecord>;
  readonly loose: Loose;
  readonly agreements: ReadonlyMap<RecordId, Agreement>;
  readonly findLead: (id: RecordId) => KnownRecord | undefined;
}

const fitsAlways: Fit = { kind: 'fits', until: Number.POSITIVE_INFINITY };
const neverKnown: Fit = { kind: 'unknown', until: Number.POSITIVE_INFINITY };

/**
 * Finds by which rule a tab has its records now. A rule that cannot be understood leaves the one before in force, and nothing comes or goes
 * where there was none. Another rule is followed once all records are known, at once where that moves few rows, and otherwise once a user
 * agreed; until then comes what fits both, and goes what fits neither.
 */
export function ruleTab(tab: RuledTab): TabRuling {
  const { entity, input } = tab;
  const rule = input.known.rules.get(entity);
  if (!rule) return rulingOf(tab, () => fitsAlways);
  const { applied, wanted } = rule;
  if (wanted.kind === 'fault') {
    const holds = [{ entity, reason: faultReason(tab, wanted.fault, applied !== undefined) }];
    return rulingOf(tab, applied ? fitBy(tab, applied.conditions) : () => neverKnown, { holds });
  }
  const { conditions } = wanted.rule;
  if (applied && areRulesAlike(applied, wanted.rule)) {
    const hasNewNames = JSON.stringify(applied.named) !== JSON.stringify(wanted.rule.named);
    const isNew = hasNewNames || conditions.length === 0;
    return { ...rulingOf(tab, fitBy(tab, conditions)), isNew };
  }
  return changeRule(tab, applied ?? everything, wanted.rule);
}

const rulingOf = (
  tab: RuledTab,
  fitOf: TabRuling['fitOf'],
  verdict: RuleVerdict = {},
  brakes: readonly Brake[] = [],
): TabRuling => ({
  fitOf,
  isOut({ key, leave }) {
    const record = tab.records.get(key.id);
    return leave !== undefined || (record !== undefined && mayBeOut(fitOf(record)));
  },
  brakes,
  isNew: false,
  verdict: { ...verdict, changesAt: tab.input.known.rules.has(tab.entity) ? [firstChange(tab, fitOf)] : [] },
});

/** Whether a record does not fit, or is not known to fit any longer. */
const mayBeOut = (fit: Fit): boolean =>
  fit.kind === 'unfit' || (fit.kind === 'unknown' && fit.mayBeOut === true);

/** When time alone makes the first record fit no longer, epoch ms. Of one in step that is known with its row. */
const firstChange = ({ loose }: RuledTab, fitOf: TabRuling['fitOf']): number =>
  loose.records.reduce(
    (first, record) => (record.presence === 'gone' ? first : Math.min(first, lastsUntil(fitOf(record)))),
    Number.POSITIVE_INFINITY,
  );

/** Judges records by the conditions, each once. */
function fitBy(tab: RuledTab, conditions: readonly Condition[]): TabRuling['fitOf'] {
  const known = new Map<KnownRecord, Fit>();
  const around = surroundingsOf(tab);
  return (record) => {
    const fit = known.get(record) ?? judgeFit(conditions, record, around);
    known.set(record, fit);
    return fit;
  };
}

function surroundingsOf({ entity, findLead, input, layout, names }: RuledTab): FitSurroundings {
  const { catalog } = input.known;
  const fieldsOf = perEntity((of) =>
    once(() => new Map(describeEntity(of, catalog).map((each) => [each.name, each]))),
  );
  const stages = once(
    () => new Set<Value>(catalog.pipelines.flatMap((pipeline) => pipeline.stages.map(({ id }) => id))),
  );
  return {
    now: input.now,
    findLead,
    isStage: (id) => stages().has(id),
    findField(of: Entity, name) {
      const field = fieldsOf[of]().get(name);
      const header = of === entity ? columnOf(layout, name)?.header : undefined;
      return field && header !== undefined ? { ...field, header } : field;
    },
    show: (field, value) => quoteValue(field, value, names),
  };
}

/**
 * A rule that is new. Where it moves few rows, or a user agreed, the next decision follows it; this one moves nothing by it, and so has no need to
 * decide all rows.
 */
function changeRule(tab: RuledTab, before: Rule, after: Rule): TabRuling {
  const { answers, entity, input, questions } = tab;
  const [old, next] = [fitBy(tab, before.conditions), fitBy(tab, after.conditions)];
  const both: TabRuling['fitOf'] = (record) => fitBoth(old(record), next(record));
  const { accountDoubt, rebases, sweptEntities } = input.known;
  const isRead = ['lead' as const, entity].every((each) => sweptEntities.has(each));
  const isSure = isRead && accountDoubt === undefined && !rebases.has(entity);
  if (!isSure) return rulingOf(tab, both);
  const changes = findMoves(tab, old, next);
  const leaves = changes.filter(({ what }) => what === 'leaves').length;
  const comes = changes.length - leaves;
  if (Math.max(leaves, comes) <= countAllowed(tab)) return { ...rulingOf(tab, both), isNew: true };
  const wanted = wantedText(input.policy.tabs[entity].only);
  const brake = brakeOf(entity, 'only', moveReason(tab, wanted, { leaves, comes }), changes);
  const { scope } = brake;
  const kept = answers.find(scope);
  // Of a busy CRM the counts are never the same for long: an answer is for the rule.
  const isMeant = kept !== undefined && (kept.seen ?? wanted).includes(wanted);
  const ask = () => questions.ofBrake(brake);
  const chosen = isMeant ? undefined : answers.choose(scope, ask, { shown: shownOf(brake) });
  if (isMeant || chosen) {
    const verdict = { scopes: [scope], ...(chosen ? { answers: [chosen.decision] } : {}) };
    return { ...rulingOf(tab, both, verdict), isNew: true };
  }
  return rulingOf(tab, both, { scopes: [scope], ...(kept ? { spent: [scope] } : {}) }, [brake]);
}

/** What one fits and the other does not neither comes nor goes. */
function fitBoth(one: Fit, other: Fit): Fit {
  if (one.kind === 'unfit' && other.kind === 'unfit') return other;
  const until = Math.min(lastsUntil(one), lastsUntil(other));
  if (one.kind === 'fits' && other.kind === 'fits') return { kind: 'fits', until };
  return { kind: 'unknown', until, mayBeOut: mayBeOut(one) || mayBeOut(other) };
}

/**
 * The rows that would leave, and the records that would get one, with those of which the CRM has not reported what the rule goes by, for example
 * where a field is new.
 */
function findMoves(
  { agreements, inStep, records, tab }: RuledTab,
  old: TabRuling['fitOf'],
  next: TabRuling['fitOf'],
): StoppedChange[] {
  const others = new Set(tab.rows.map(({ id }) => describeCell(id)));
  return [...records.values()].flatMap((record): StoppedChange[] => {
    const { id } = record.key;
    if (record.presence === 'gone') return [];
    const [{ kind: before }, after] = [old(record), next(record)];
    const mayBe = (kind: Fit['kind']) =>
      after.kind === kind ||
      (before !== 'unknown' && after.kind === 'unknown' && after.isUnreported === true);
    if (inStep.has(id) || others.has(id))
      return before !== 'unfit' && mayBe('unfit') ? [{ id, what: 'leaves' }] : [];
    const wasOut = before === 'unfit' || agreements.get(id)?.leave !== undefined;
    return wasOut && mayBe('fits') ? [{ id, what: 'comes' }] : [];
  });
}

/** As many rows may leave, or come, as may be deleted at once. */
function countAllowed({ agreements, input }: RuledTab): number {
  const { deletesMin, deletesShare } = input.policy.brakes;
  const rows = [...agreements.values()].filter(({ leave }) => leave?.state !== 'left').length;
  return Math.max(deletesMin, Math.floor(rows * deletesShare));
}

const moveReason = (
  tab: RuledTab,
  wanted: string,
  { comes, leaves }: { readonly comes: number; readonly leaves: number },
): string =>
  `The rule of “${tab.layout.title}” or what the CRM lists for it has changed: ${leaves} rows would leave and ${comes} records would come; ${countAllowed(tab)} may at once. ` +
  wanted;

/** What a question says of the rule: the answer to it is meant for this rule alone. */
const wantedText = (rule: OnlyRule | undefined): string =>
  `The tab is to have ${describeRule(rule)}. Approve follows it; what leaves stays in the CRM.`;

function describeRule(rule: OnlyRule | undefined): string {
  if (rule === undefined || Object.keys(rule).length === 0) return 'all records';
  const describe = (part: OnlyRule): string =>
    Object.entries(part)
      .map(([name, wanted]) =>
        isSection(wanted)
          ? `${name} (${describe(wanted)})`
          : `${name} ${listOr(listOf(wanted).map((said) => (said === null ? '(empty)' : String(said))))}`,
      )
      .join(', ');
  return `only ${describe(rule)}`;
}

const faultReason = ({ layout }: RuledTab, fault: string, hasRule: boolean): string =>
  `The rule “only” of “${layout.title}” cannot be followed. ${fault} Correct it in the configuration, or what it names in the CRM. ` +
  (hasRule
    ? 'Until then the tab goes by the rule from before.'
    : 'Until then no record gets a row here, and no row leaves; edits of rows go on.');
