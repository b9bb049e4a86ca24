import { type RecordKey, recordKeyText } from '../../core/record.ts';
import type { Decision } from '../../core/state.ts';
import { isAboutAny, scopeEntity } from '../../core/waiting/scopes.ts';
import type { Hold } from '../../core/waiting/waiting.ts';
import type { Plan, Question, TableStep } from '../plans/plan.ts';
import { recordTabs } from '../port/layout.ts';
import type { ObservedTable } from '../port/table.ts';
import { planQuestionRows } from '../questions/question-rows.ts';
import { findNotices, findQuestions } from '../questions/questions.ts';
import { readQuestionTab } from '../questions/reply.ts';
import { isAccountTaken } from './brakes/other-account.ts';
import { findOver } from './damage/damaged.ts';
import type { TableIndex } from './tab-index.ts';
import { collect, type Verdict } from './verdict.ts';

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
