import { type Entity, type RecordKey, recordKeyText } from '../../core/record.ts';
import type { OutboxItem } from '../../core/state.ts';
import { isAboutAny, scopeEntity } from '../../core/waiting/scopes.ts';
import type { Hold } from '../../core/waiting/waiting.ts';
import { Standing } from '../index/standing.ts';
import type { DecideInput, Plan } from '../plans/plan.ts';
import { recordTabs, type TabLayout } from '../port/layout.ts';
import type { ObservedTable } from '../port/table.ts';
import { readQuestionTab } from '../questions/answers.ts';
import { planQuestionRows } from '../questions/question-rows.ts';
import { findNotices, findQuestions } from '../questions/questions.ts';
import { forgetRemapped, isAccountTaken, remapScope } from './brakes/met-anew.ts';
import { brakeTab } from './brakes/tab-brakes.ts';
import { classifyTab } from './classify.ts';
import { findOver } from './damage/damaged.ts';
import { judgeTab, judgeWhole } from './judge.ts';
import { countLeftOut } from './lifecycle/outside.ts';
import { forgetFreshColumns, holdMissingColumns } from './rows/columns.ts';
import { limitLeaves } from './rows/leaving.ts';
import { indexTab, indexTable, type TableIndex } from './tab-index.ts';
import { collect, type Verdict } from './verdict.ts';

/**
 * Decides everything that has to be done so that both sides become the same, what users answered in the table included. Pure: equal
 * input gives an equal plan, and a dry run is this function without what follows. Every row and every record is classified, then the brakes
 * look at the merged values, then all that no brake stops is judged, and the plan is made of the verdicts.
 */
export function decide(input: DecideInput): Plan {
  const standing = new Standing();
  standing.update(input);
  return decideFrom(input, standing);
}

/** The same, without deciding again what `standing` knows to be in step; it was brought up to date with the input, and learns what is from now on. */
export function decideFrom(input: DecideInput, standing: Standing): Plan {
  const table = indexTable(input, standing);
  const tabs = recordTabs(table.input.layout).map((layout) => readTab(table, layout));
  const classified = tabs.flatMap(({ tab }) => tab ?? []);
  const leads = classified.find(({ index }) => index.entity === 'lead');
  const brakedLeads = leads && brakeTab(leads, false);
  const areLeadsStopped =
    input.table.tabs.lead.state === 'held' || (brakedLeads?.verdict.brakes?.length ?? 0) > 0;
  const verdicts = tabs.flatMap(({ tab, verdict }): Verdict[] => {
    if (!tab) return [verdict];
    const braked = tab === leads && brakedLeads ? brakedLeads : brakeTab(tab, areLeadsStopped);
    const whole = [verdict, tab.index.only.verdict, ...judgeWhole(tab), braked.verdict];
    if (braked.isStopped) return [...whole, countLeftOut(tab.index, tab.present.union(tab.named))];
    const judged = judgeTab(tab, braked);
    standing.noteInStep(tab.index.entity, judged.inStep);
    standing.noteBehind(tab.index.entity, judged.behind);
    standing.noteOutside(collect(judged.verdicts, 'outside'));
    return [...whole, ...judged.verdicts];
  });
  const plan = assemble(table, limitLeaves(verdicts, input.now));
  standing.endDecision(input);
  return plan;
}

/** A tab that can be read, and what is said of it at once. */
function readTab(table: TableIndex, layout: TabLayout<Entity>) {
  const { entity } = layout;
  const { known, table: observed } = table.input;
  const read = observed.tabs[entity];
  if (read.state === 'held') {
    // Whether the rows of deletes that wait are still gone, and whether that still means a delete, is decided anew once the tab can be read.
    const isWaitingDelete = ({ isUndo, key, kind, state }: OutboxItem) =>
      key.entity === entity && kind === 'delete' && !isUndo && state === 'waiting';
    const outboxDropped = known.outbox.filter(isWaitingDelete).map(({ key }) => key);
    return { verdict: { holds: [{ entity, reason: read.reason }], outboxDropped } };
  }
  const agreed = table.groundOf(entity).agreements;
  const isRemapAgreedTo = table.answers.find(remapScope(entity)) !== undefined;
  const agreedThere = forgetRemapped(agreed, known.remaps.get(entity), isRemapAgreedTo);
  const agreements = forgetFreshColumns(read, agreedThere);
  const agreementsSaved =
    agreements === agreed
      ? []
      : [...agreements].flatMap(([id, next]) => (agreed.get(id) === next ? [] : [next]));
  const index = indexTab(table, layout, read, agreements);
  return { tab: classifyTab(index), verdict: { agreementsSaved, holds: holdMissingColumns(index) } };
}

/** Makes the plan of finished verdicts. */
function assemble(index: TableIndex, verdicts: readonly Verdict[]): Plan {
  const { input } = index;
  const holds = [...collect(verdicts, 'holds'), ...holdQuestionTab(input.table)];
  const waiting = {
    brakes: collect(verdicts, 'brakes'),
    conflicts: collect(verdicts, 'conflicts'),
    holds,
    refusals: collect(verdicts, 'refusals'),
  };
  const questions = findQuestions(index.questions, waiting);
  const suspects = collect(verdicts, 'suspectsSaved');
  const { isAnswered, isOpen, settled } = weighDecisions(index, verdicts);
  const task = {
    questions: [...questions, ...findNotices(input, holds)],
    mayReturn: isOpen,
    timeZone: input.table.timeZone,
    now: input.now,
    appendsMax: input.policy.appendsMax,
  };
  const tab = readQuestionTab(input.table);
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
    answers: collect(verdicts, 'answers'),
    settledDecisions: settled,
    suspects: {
      save: suspects,
      drop: [...collect(verdicts, 'suspectsDropped'), ...findOver(input, suspects)],
    },
    table: [...collect(verdicts, 'table'), ...(tab ? planQuestionRows({ tab, ...task }) : [])],
    ...waiting,
    withheld: collect(verdicts, 'withheld'),
    questions,
    rebased: collect(verdicts, 'rebased'),
    remapped: collect(verdicts, 'remapped'),
    ruled: collect(verdicts, 'ruled'),
    leftOut: Object.fromEntries(collect(verdicts, 'leftOut').map(({ count, entity }) => [entity, count])),
    changesAt: collect(verdicts, 'changesAt').reduce(
      (first, at) => Math.min(first, at),
      Number.POSITIVE_INFINITY,
    ),
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
function weighDecisions({ answers: kept, input }: TableIndex, verdicts: readonly Verdict[]) {
  const { known, table } = input;
  const scopes = new Set(collect(verdicts, 'scopes'));
  const records = new Set(collect(verdicts, 'kept').map(recordKeyText));
  const matters = (scope: string) => scopes.has(scope) || isAboutAny(scope, records);
  const spent = new Set(collect(verdicts, 'spent'));
  const chosen = new Set(collect(verdicts, 'answers').map(({ scope }) => scope));
  const tabs = recordTabs(input.layout).filter(({ entity }) => table.tabs[entity].state === 'held');
  const isHeld = (scope: string) => tabs.some(({ entity }) => entity === scopeEntity(scope));
  const isInUse = (scope: string) => isHeld(scope) || (matters(scope) && !spent.has(scope));
  const before = known.decisions.map(({ scope }) => scope).filter((scope) => !chosen.has(scope));
  const isAnswered = (scope: string) => chosen.has(scope) || kept.find(scope) !== undefined;
  return {
    isAnswered,
    settled: [...before, ...chosen].filter((scope) => !isInUse(scope)),
    isOpen: (scope: string) => isHeld(scope) || (matters(scope) && !isAnswered(scope)),
  };
}
