import { type Entity, type RecordKey, recordKeyText } from '../../core/record.ts';
import type { Decision, OutboxItem } from '../../core/state.ts';
import { isAboutAny, scopeEntity } from '../../core/waiting/scopes.ts';
import type { Hold } from '../../core/waiting/waiting.ts';
import type { DecideInput, Plan, Question, TableStep } from '../plans/plan.ts';
import { recordTabs, type TabLayout } from '../port/layout.ts';
import type { ObservedTable, ReadTab } from '../port/table.ts';
import { readQuestionTab } from '../questions/answers.ts';
import { planQuestionRows } from '../questions/question-rows.ts';
import { findNotices, findQuestions } from '../questions/questions.ts';
import { forgetRemapped, isAccountTaken, remapScope } from './brakes/met-anew.ts';
import { type Braked, brakeTab } from './brakes/tab-brakes.ts';
import { type ClassifiedTab, classifyTab } from './classify.ts';
import { findOver } from './damage/damaged.ts';
import { judgeTab, judgeWhole } from './judge.ts';
import { forgetFreshColumns, holdMissingColumns } from './rows/columns.ts';
import { byId, indexTab, indexTable, type TableIndex } from './tab-index.ts';
import { collect, type Verdict } from './verdict.ts';

/**
 * Decides everything that has to be done so that both sides become the same, what users answered in the table included. Pure: equal
 * input gives an equal plan, and a dry run is this function without what follows. Every row and every record is classified, then the brakes
 * look at the merged values, then all that no brake stops is judged, and the plan is made of the verdicts.
 */
export function decide(input: DecideInput): Plan {
  const table = indexTable(input);
  const tabs = recordTabs(table.input.layout).map((layout) => readTab(table, layout));
  const classified = tabs.flatMap(({ tab }) => tab ?? []);
  const leads = classified.find(({ index }) => index.entity === 'lead');
  const brakedLeads = leads && brakeTab(leads, false);
  const areLeadsStopped =
    input.table.tabs.lead.state === 'held' || (brakedLeads?.verdict.brakes?.length ?? 0) > 0;
  const verdicts = tabs.flatMap(({ tab, verdict }) => {
    if (!tab) return [verdict];
    const braked = tab === leads && brakedLeads ? brakedLeads : brakeTab(tab, areLeadsStopped);
    return [verdict, ...judge(tab, braked)];
  });
  return assemble(table, verdicts);
}

const judge = (tab: ClassifiedTab, braked: Braked): Verdict[] => [
  ...judgeWhole(tab),
  braked.verdict,
  ...(braked.isStopped ? [] : judgeTab(tab, braked)),
];

/** A tab that can be read, and what is said of it at once. */
function readTab(
  table: TableIndex,
  layout: TabLayout<Entity>,
): { readonly tab?: ClassifiedTab; readonly verdict: Verdict } {
  const { entity } = layout;
  const { known, table: observed } = table.input;
  const read = observed.tabs[entity];
  if (read.state === 'held') {
    const outboxDropped = waitingDeletes(entity, known.outbox);
    return { verdict: { holds: [{ entity, reason: read.reason }], outboxDropped } };
  }
  const agreed = byId(entity, known.agreements);
  const agreements = lastingAgreements(table, entity, read, agreed);
  const agreementsSaved = [...agreements].flatMap(([id, next]) => (agreed.get(id) === next ? [] : [next]));
  return {
    tab: classifyTab(indexTab(table, layout, read, agreements)),
    verdict: { agreementsSaved, holds: holdMissingColumns(layout, read, agreements) },
  };
}

/** Deletes that wait: whether their rows are still gone, and whether that still means a delete, is decided anew once the tab can be read. */
const waitingDeletes = (entity: Entity, outbox: readonly OutboxItem[]): RecordKey[] =>
  outbox
    .filter(
      ({ isUndo, key, kind, state }) =>
        key.entity === entity && kind === 'delete' && !isUndo && state === 'waiting',
    )
    .map(({ key }) => key);

/** What is agreed in the columns that are where they were. */
function lastingAgreements(
  { answers, input }: TableIndex,
  entity: Entity,
  tab: ReadTab,
  agreed: ReturnType<typeof byId<DecideInput['known']['agreements'][number]>>,
) {
  const isRemapAgreedTo = answers.find(remapScope(entity)) !== undefined;
  return forgetFreshColumns(tab, forgetRemapped(agreed, input.known.remaps.get(entity), isRemapAgreedTo));
}

/** Makes the plan of finished verdicts. */
export function assemble(index: TableIndex, verdicts: readonly Verdict[]): Plan {
  const { input } = index;
  const holds = [...collect(verdicts, 'holds'), ...holdQuestionTab(input.table)];
  const waiting = {
    brakes: collect(verdicts, 'brakes'),
    conflicts: collect(verdicts, 'conflicts'),
    holds,
    refusals: collect(verdicts, 'refusals'),
  };
  const questions = findQuestions(index.questions, waiting);
  const answers = collect(verdicts, 'answers');
  const suspects = collect(verdicts, 'suspectsSaved');
  const { isOpen, settled } = weighDecisions(index, verdicts, answers);
  const isAnswered = (scope: string) =>
    index.answers.find(scope) !== undefined || answers.some((answer) => answer.scope === scope);
  return {
    at: input.now,
    run: input.run,
    outbox: {
      save: collect(verdicts, 'outboxSaved'),
      drop: distinctKeys(collect(verdicts, 'outboxDropped')),
    },
    agreements: {
      save: collect(verdicts, 'agreementsSaved'),
      drop: collect(verdicts, 'agreementsDropped'),
    },
    journal: collect(verdicts, 'journal'),
    answers,
    settledDecisions: settled,
    suspects: {
      save: suspects,
      drop: [...collect(verdicts, 'suspectsDropped'), ...findOver(input, suspects)],
    },
    table: [...collect(verdicts, 'table'), ...planQuestions(index, questions, holds, isOpen)],
    ...waiting,
    withheld: collect(verdicts, 'withheld'),
    questions,
    rebased: collect(verdicts, 'rebased'),
    remapped: collect(verdicts, 'remapped'),
    takesAccount: isAccountTaken(input, isAnswered),
    restlessRows: collect(verdicts, 'unsettled').length,
  };
}

const distinctKeys = (keys: readonly RecordKey[]): RecordKey[] => [
  ...new Map(keys.map((key) => [recordKeyText(key), key])).values(),
];

/** Users may do without a tab of questions. In one that is there and can not be read they would choose, and nothing came of it. */
const holdQuestionTab = ({ tabs: { question } }: ObservedTable): Hold[] =>
  question?.state === 'held' && !question.isAbsent ? [{ entity: 'question', reason: question.reason }] : [];

/** Tells decisions that are over from those that are in use, and finds under which scopes something may be asked again soon. */
function weighDecisions(
  { answers: kept, input }: TableIndex,
  verdicts: readonly Verdict[],
  answers: readonly Decision[],
) {
  const { known, table } = input;
  const scopes = new Set(collect(verdicts, 'scopes'));
  const records = new Set(collect(verdicts, 'kept').map(recordKeyText));
  const matters = (scope: string) => scopes.has(scope) || isAboutAny(scope, records);
  const spent = new Set(collect(verdicts, 'spent'));
  const chosen = new Set(answers.map(({ scope }) => scope));
  const held = new Set(
    recordTabs(input.layout).flatMap(({ entity }) => (table.tabs[entity].state === 'held' ? [entity] : [])),
  );
  const isHeld = (scope: string) => {
    const entity = scopeEntity(scope);
    return entity !== undefined && held.has(entity);
  };
  const isInUse = (scope: string) => isHeld(scope) || (matters(scope) && !spent.has(scope));
  const before = known.decisions.map(({ scope }) => scope).filter((scope) => !chosen.has(scope));
  return {
    settled: [...before, ...chosen].filter((scope) => !isInUse(scope)),
    isOpen: (scope: string) =>
      isHeld(scope) || (matters(scope) && !chosen.has(scope) && kept.find(scope) === undefined),
  };
}

function planQuestions(
  { input }: TableIndex,
  questions: readonly Question[],
  holds: readonly Hold[],
  mayReturn: (scope: string) => boolean,
): TableStep[] {
  const { now, policy, table } = input;
  const tab = readQuestionTab(table);
  if (!tab) return [];
  const asked = [...questions, ...findNotices(input, holds)];
  const rules = { timeZone: table.timeZone, now, appendsMax: policy.appendsMax };
  return planQuestionRows({ questions: asked, mayReturn, tab, ...rules });
}
