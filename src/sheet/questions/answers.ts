import { once } from '../../core/once.ts';
import type { Decision } from '../../core/state.ts';
import { quoteText } from '../../core/text/cut-text.ts';
import { listOr } from '../../core/text/list-words.ts';
import {
  type Answer,
  answerLabels,
  answersTo,
  decisionOf,
  readAnswer,
  readBrakeAnswer,
} from '../../core/waiting/answer.ts';
import { scopeEntity } from '../../core/waiting/scopes.ts';
import { readSideAnswer, writeSideAnswer } from '../../core/waiting/typed-answer.ts';
import type { Conflict } from '../../core/waiting/waiting.ts';
import type { Question } from '../plans/plan.ts';
import { bareCell, type Cell, describeCell, emptyCell, equalCells } from '../port/cell.ts';
import type { ObservedRow, ObservedTable, ReadTab } from '../port/table.ts';
import { chooseField, sinceField } from './question-tab.ts';

/** Asks a question, which takes some work; `undefined` for what nobody can answer. */
export type Ask = () => Question | undefined;

/** What an answer was given for. Until it is carried out its question is no longer there to say so. */
interface Subject {
  /** What a brake shows. */
  readonly shown?: string;
  /** What both sides have. */
  readonly conflict?: Conflict;
}

/** What a user answered. */
export interface Answered {
  readonly choice: string;
  /** What a brake showed then, where that is known. */
  readonly seen?: string;
  /** Epoch ms. */
  readonly at: number;
}

/** An answer that a user just gave, with what is to be kept of it. */
export interface Chosen extends Answered {
  readonly decision: Decision;
}

export type Answers = ReturnType<typeof createAnswers>;

/** What users answered. `tab` is the one of the questions, where it can be read; `now` is when a chosen answer counts as given, epoch ms. */
export function createAnswers(
  decisions: readonly Decision[],
  tab: Pick<ReadTab, 'rows'> | undefined,
  now: number,
) {
  const kept = new Map(decisions.map((decision) => [decision.scope, decision]));
  const rows = once(() => {
    const filled = (tab?.rows ?? []).filter((row) => chosenIn(row).kind !== 'empty');
    return Map.groupBy(filled, scopeOf);
  });
  const find = (scope: string) => {
    const decision = kept.get(scope);
    return decision && readDecision(decision);
  };
  return {
    /** What is kept under a scope. */
    find,
    /** The same in one word. */
    choice: (scope: string) => find(scope)?.choice,
    /**
     * What a user chose in the tab of the questions beside exactly this question. An answer that was kept before is none any more: where that
     * were of use, the question would not be asked.
     */
    choose(scope: string, ask: Ask, { conflict, shown }: Subject = {}): Chosen | undefined {
      const filled = rows().get(scope);
      const question = filled && ask();
      if (!filled || !question) return undefined;
      const asking = filled.filter((row) => asks(row, question));
      const reply = readReply(question, asking);
      if (reply.kind !== 'answer') return undefined;
      const decision = forValues(decisionOf(scope, reply.answer, now, shown), conflict);
      if (decision.choice === kept.get(scope)?.choice) return undefined;
      return { ...readDecision(decision), decision };
    },
  };
}

const readDecision = ({ at, choice, scope }: Decision): Answered => {
  const { answer, seen } = scope.startsWith('brake:')
    ? readBrakeAnswer(choice)
    : { answer: choice, seen: undefined };
  return { at, choice: answer, ...(seen === undefined ? {} : { seen }) };
};

/** An answer to a conflict carries the values of both sides. */
function forValues(decision: Decision, conflict: Conflict | undefined): Decision {
  const side = readSideAnswer(decision.choice)?.side;
  return conflict && side ? { ...decision, choice: writeSideAnswer(side, conflict) } : decision;
}

/** The rows of the questions as they were read; none where there is no such tab. */
export const readQuestionTab = ({ tabs: { question } }: ObservedTable): ReadTab | undefined =>
  question?.state === 'read' ? question : undefined;

/** The scope in a row's ID cell. People may write rows of their own between the questions: those have none and are left alone. */
export const scopeOf = ({ id }: ObservedRow): string | undefined =>
  id.kind === 'text' && scopeEntity(id.text) !== undefined ? id.text : undefined;

/**
 * Whether the row asks the question in the words of now: an answer to anything else is not an answer to it. The format that somebody gave
 * a number is no word of it.
 */
export const asks = (row: ObservedRow, question: Question): boolean =>
  scopeOf(row) === question.scope &&
  Object.entries(row.cells).every(
    ([name, cell]) =>
      name === chooseField ||
      name === sinceField ||
      equalCells(bareCell(cell), question.cells[name] ?? emptyCell),
  );

/** What the rows of a question say: nothing yet, one answer that fits, or something that is no answer to it. */
type Reply =
  | { readonly kind: 'none' }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'unclear'; readonly reason: string };

export const chosenIn = (row: ObservedRow): Cell => row.cells[chooseField] ?? emptyCell;

/** Copies of a row ask the same question, and must not answer it differently. */
export function readReply({ scope }: Question, rows: readonly ObservedRow[]): Reply {
  const chosen = rows.map(chosenIn).filter(({ kind }) => kind !== 'empty');
  const texts = [...new Set(chosen.map(describeCell))];
  const [text, other] = texts;
  if (text === undefined) return { kind: 'none' };
  const labels = answersTo(scope).map((answer) => answerLabels[answer]);
  const fitting = labels.length > 0 ? `Choose ${listOr(labels)}.` : 'There is nothing to choose.';
  if (other !== undefined)
    return {
      kind: 'unclear',
      reason: `Two rows of this question say ${quoteText(text)} and ${quoteText(other)}. ${fitting}`,
    };
  const answer = readAnswer(scope, text);
  return answer
    ? { kind: 'answer', answer }
    : { kind: 'unclear', reason: `${quoteText(text)} is no answer here. ${fitting}` };
}
