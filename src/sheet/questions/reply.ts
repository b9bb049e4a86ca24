import { quoteText } from '../../core/text/cut-text.ts';
import { listOr } from '../../core/text/list-words.ts';
import { type Answer, answerLabels, answersTo, readAnswer } from '../../core/waiting/answer.ts';
import { scopeEntity } from '../../core/waiting/scopes.ts';
import type { Question } from '../plans/plan.ts';
import { bareCell, type Cell, describeCell, emptyCell, equalCells } from '../port/cell.ts';
import type { ObservedRow, ObservedTable, ReadTab } from '../port/table.ts';
import { chooseField, sinceField } from './question-tab.ts';

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
export type Reply =
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
