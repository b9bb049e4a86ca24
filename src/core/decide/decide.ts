import { readBrakeAnswer } from '../answer.ts';
import { createNames } from '../codec.ts';
import { describeEntity } from '../field.ts';
import { recordTabs, type TabLayout } from '../layout.ts';
import type { Entity, RecordKey } from '../record.ts';
import type { Agreement, Decision, OutboxItem } from '../state.ts';
import type { ObservedTable, ReadTab } from '../table.ts';
import { isAccountTaken } from './brakes/other-account.ts';
import { forgetRemapped, remapScope } from './brakes/remapped.ts';
import { type DecideInput, scopeEntity } from './context.ts';
import { findOver } from './damage/damaged.ts';
import { createDraft, type Draft, finishDraft } from './draft.ts';
import { createCascades } from './lifecycle/cascade.ts';
import type { Hold, Plan } from './plan.ts';
import { findAnswers, planQuestionRows, readQuestionTab, scopeOf } from './questions/question-rows.ts';
import { findNotices, findQuestions } from './questions/questions.ts';
import { forgetFreshColumns, holdMissingColumns, showLayout } from './rows/columns.ts';
import { comingLeads, leadChoices, typedNamesIn } from './rows/lead-names.ts';
import { decideTab } from './tab.ts';

/**
 * Decides everything that has to be done so that both sides become the same, what people answered in the table included. Pure: equal
 * input gives an equal plan, and a dry run is this function without what follows.
 */
export function decide(input: DecideInput): Plan {
  const { known, now, table } = input;
  const plan = decideOnce(input);
  const tab = readQuestionTab(table);
  // What counts as an answer depends on what is asked, and that is known only now.
  const answers = tab ? findAnswers(tab, plan, known.decisions, now) : [];
  if (answers.length === 0) return plan;
  const answered = new Set(answers.map(({ scope }) => scope));
  const others = known.decisions.filter(({ scope }) => !answered.has(scope));
  const decided = decideOnce({ ...input, known: { ...known, decisions: [...others, ...answers] } });
  return { ...decided, answers: [...answers, ...decided.answers] };
}

function decideOnce(given: DecideInput): Plan {
  const { known, table } = given;
  const input = { ...given, layout: showLayout(given.layout, table) };
  const draft = createDraft();
  const leads = leadChoices(known.records, known.agreements);
  const names = {
    ...createNames(known.catalog, leads, table.timeZone, comingLeads(known, table)),
    ...typedNamesIn(known, table),
  };
  const questionTab = readQuestionTab(table);
  const standing = new Set((questionTab?.rows ?? []).map(scopeOf));
  const answers = new Map(
    known.decisions.map(({ at, choice, scope }) => [scope, { ...readChoice(scope, choice), at }]),
  );
  const decision = (scope: string) => {
    const choice = answers.get(scope)?.answer;
    if (choice !== undefined) draft.usedDecisions.add(scope);
    else if (standing.has(scope)) draft.openScopes.add(scope);
    return choice;
  };
  const cascades = createCascades(known.records, known.outbox);
  const held = new Set<Entity | undefined>();
  for (const layout of recordTabs(input.layout)) {
    const { entity } = layout;
    const tab = table.tabs[entity];
    if (tab.state === 'held') {
      held.add(entity);
      draft.holds.push({ entity, reason: tab.reason });
      draft.outboxDropped.push(...waitingDeletes(entity, known.outbox));
      continue;
    }
    const agreements = lastingAgreements(input, layout, tab, draft);
    draft.holds.push(...holdMissingColumns(layout, tab, agreements));
    decideTab({
      input,
      entity,
      layout,
      tab,
      fields: new Map(describeEntity(entity, known.catalog).map((field) => [field.name, field])),
      names,
      draft,
      cascades,
      questionsTitle: questionTab && input.policy.questionsTitle,
      records: ofEntity(entity, known.records),
      agreements,
      outbox: ofEntity(entity, known.outbox),
      decision,
      peek: (scope) => answers.get(scope)?.answer,
      seenOf: (scope) => answers.get(scope)?.seen,
      answeredAt: (scope) => answers.get(scope)?.at,
    });
  }
  draft.suspectsDropped.push(...findOver(input, draft));
  draft.holds.push(...holdQuestionTab(table));
  const isHeld = (scope: string) => held.has(scopeEntity(scope));
  const questions = findQuestions(input, draft, names);
  const mayReturn = (scope: string) => draft.openScopes.has(scope) || isHeld(scope);
  if (questionTab) {
    const told = [...questions, ...findNotices(input, draft)];
    const { now, policy } = input;
    const rules = { timeZone: table.timeZone, now, appendsMax: policy.appendsMax };
    draft.table.push(...planQuestionRows({ questions: told, mayReturn, tab: questionTab, ...rules }));
  }
  const takesAccount = isAccountTaken(input, decision);
  const isInUse = (scope: string) => draft.usedDecisions.has(scope) && !draft.outrunDecisions.has(scope);
  const isSettled = ({ scope }: Decision) => !isInUse(scope) && !isHeld(scope);
  const settled = known.decisions.filter(isSettled).map(({ scope }) => scope);
  const rest = { settledDecisions: settled, questions, takesAccount };
  return finishDraft(draft, input.now, input.run, rest);
}

/** People may do without a tab of questions. In one that is there and can not be read they would choose, and nothing came of it. */
const holdQuestionTab = ({ tabs: { question } }: ObservedTable): Hold[] =>
  question?.state === 'held' && !question.isAbsent ? [{ entity: 'question', reason: question.reason }] : [];

/** Deletes that wait: whether their rows are still gone, and whether that still means a delete, is decided anew once the tab can be read. */
const waitingDeletes = (entity: Entity, outbox: readonly OutboxItem[]): RecordKey[] =>
  outbox
    .filter(
      ({ isUndo, key, kind, state }) =>
        key.entity === entity && kind === 'delete' && !isUndo && state === 'waiting',
    )
    .map(({ key }) => key);

const readChoice = (scope: string, choice: string): ReturnType<typeof readBrakeAnswer> =>
  scope.startsWith('brake:') ? readBrakeAnswer(choice) : { answer: choice };

const ofEntity = <Item extends { readonly key: RecordKey }>(entity: Entity, items: readonly Item[]) =>
  new Map(items.filter((item) => item.key.entity === entity).map((item) => [item.key.id, item]));

/** What is agreed in the columns that are where they were. */
function lastingAgreements(
  { known }: DecideInput,
  { entity }: TabLayout<Entity>,
  tab: ReadTab,
  draft: Draft,
): ReadonlyMap<string, Agreement> {
  const isRemapAgreedTo = known.decisions.some(({ scope }) => scope === remapScope(entity));
  const agreements = ofEntity(entity, known.agreements);
  const lasting = forgetRemapped(agreements, known.remaps.get(entity), isRemapAgreedTo, draft);
  return forgetFreshColumns(tab, lasting, draft);
}
