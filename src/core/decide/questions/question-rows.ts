import { type Answer, answerLabels, answersTo, decisionOf, readAnswer } from '../../answer.ts';
import {
  bareCell,
  type Cell,
  describeCell,
  emptyCell,
  equalCells,
  numberCell,
  textCell,
} from '../../cell.ts';
import { quoteText } from '../../cut-text.ts';
import { instantToSerial } from '../../dates.ts';
import { chooseField, sinceField } from '../../question-tab.ts';
import type { Decision } from '../../state.ts';
import type { ObservedRow, ObservedTable, ReadTab } from '../../table.ts';
import { readSideAnswer, writeSideAnswer } from '../../typed-answer.ts';
import { shownUnder } from '../brakes/brakes.ts';
import { conflictScope, scopeEntity } from '../context.ts';
import type { Conflict, Plan, Question, TableStep } from '../plan.ts';
import { listOr } from './list-words.ts';

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
const asks = (row: ObservedRow, question: Question): boolean =>
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

const chosenIn = (row: ObservedRow): Cell => row.cells[chooseField] ?? emptyCell;

/** Copies of a row ask the same question, and must not answer it differently. */
function readReply({ scope }: Question, rows: readonly ObservedRow[]): Reply {
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

/**
 * What people answered in the table to questions that are asked; what was decided already is left out. Until an answer is carried out its
 * question is no longer there to say what it was given for, so one to a conflict carries the values of both sides.
 */
export function findAnswers(
  tab: ReadTab,
  { brakes, conflicts, questions }: Pick<Plan, 'brakes' | 'conflicts' | 'questions'>,
  known: readonly Decision[],
  at: number,
): Decision[] {
  const choices = new Map(known.map(({ scope, choice }) => [scope, choice]));
  const disputed = new Map(
    conflicts.map((conflict) => [conflictScope(conflict.key, conflict.field), conflict]),
  );
  const rows = Map.groupBy(tab.rows, scopeOf);
  return questions.flatMap((question) => {
    const { scope } = question;
    const reply = readReply(
      question,
      (rows.get(scope) ?? []).filter((row) => asks(row, question)),
    );
    if (reply.kind !== 'answer') return [];
    const seen = shownUnder(scope, brakes);
    const decision = forValues(decisionOf(scope, reply.answer, at, seen), disputed.get(scope));
    return choices.get(scope) === decision.choice ? [] : [decision];
  });
}

function forValues(decision: Decision, conflict: Conflict | undefined): Decision {
  const side = readSideAnswer(decision.choice)?.side;
  return conflict && side ? { ...decision, choice: writeSideAnswer(side, conflict) } : decision;
}

export interface QuestionRows {
  readonly tab: ReadTab;
  readonly questions: readonly Question[];
  /** Whether the question may be asked again as soon as its row rests or its tab can be read: its row stays meanwhile. */
  readonly mayReturn: (scope: string) => boolean;
  readonly timeZone: string;
  readonly now: number;
  /** Rows that are added at most. */
  readonly appendsMax: number;
}

/**
 * Brings the tab of the questions up to date. Only rows that are no longer asked are deleted, new questions come below the last row, and
 * the cell of a choice is never written: so a choice stands beside the question it was made for, or is gone with it, however rows move
 * meanwhile. A question whose words changed is a new one, in a new row.
 */
export function planQuestionRows(task: QuestionRows): TableStep[] {
  const { tab, questions, mayReturn, appendsMax } = task;
  const asked = new Map(questions.map((question) => [question.scope, question]));
  const steps: TableStep[] = [];
  const standing = new Set<string>();
  /** Choices that were made before the question changed its words. */
  const outdated = new Map<string, string>();
  for (const [scope, rows] of Map.groupBy(tab.rows, scopeOf)) {
    if (scope === undefined) continue;
    const question = asked.get(scope);
    if (!question && mayReturn(scope)) continue;
    const current = question ? withoutBlankCopies(rows.filter((row) => asks(row, question))) : [];
    if (question && current.length > 0) {
      standing.add(scope);
      steps.push(...sayWhatBecame(tab, question, current, readReply(question, current)));
    }
    for (const row of rows) {
      if (current.includes(row)) continue;
      steps.push(stepOf({ kind: 'delete', entity: 'question', position: row.position, idSeen: row.id }));
      if (chosenIn(row).kind !== 'empty') outdated.set(scope, describeCell(chosenIn(row)));
    }
  }
  const added = [...asked.values()].filter(({ scope }) => !standing.has(scope)).slice(0, appendsMax);
  return [...steps, ...added.map((question) => askIn(task, question, outdated.get(question.scope)))];
}

/** Rows that ask the same twice, as after a read that lacked some: those without a choice are too many beside another one. */
function withoutBlankCopies(rows: readonly ObservedRow[]): readonly ObservedRow[] {
  const chosen = rows.filter((row) => chosenIn(row).kind !== 'empty');
  return chosen.length > 0 ? chosen : rows.slice(0, 1);
}

const waitingFor = (scope: string): string =>
  answersTo(scope).length > 0 ? 'Waiting for your choice.' : 'Waiting until somebody mends it.';

const chooseGone =
  'Error: the column “Choose” is gone. Undo that or type its header again, or answer on the status page or by a command.';

/** The Sync cells of a question's rows. A row at rest is left as it is. */
function sayWhatBecame(
  tab: ReadTab,
  { scope }: Question,
  rows: readonly ObservedRow[],
  reply: Reply,
): TableStep[] {
  if (!tab.hasSync || reply.kind === 'answer') return [];
  const mayChoose = tab.fields.has(chooseField) || answersTo(scope).length === 0;
  return rows.flatMap(({ position, id, sync }) => {
    const isRefused = describeCell(sync).startsWith('Error');
    if (reply.kind === 'none' && sync.kind !== 'empty' && !isRefused && mayChoose) return [];
    const waiting = mayChoose ? waitingFor(scope) : chooseGone;
    const words = textCell(reply.kind === 'none' ? waiting : `Error: ${reply.reason}`);
    if (equalCells(sync, words)) return [];
    return [stepOf({ kind: 'set', entity: 'question', position, idSeen: id, cells: {}, sync: words })];
  });
}

function askIn(
  { tab, timeZone, now }: QuestionRows,
  question: Question,
  outdated: string | undefined,
): TableStep {
  const since = numberCell(instantToSerial(now, timeZone));
  const filled = Object.entries({ ...question.cells, [sinceField]: since }).filter(
    ([name, cell]) => tab.fields.has(name) && cell.kind !== 'empty',
  );
  const words =
    outdated === undefined
      ? waitingFor(question.scope)
      : `Waiting: this is not what it was when ${quoteText(outdated)} was chosen. Please look again.`;
  return stepOf({
    kind: 'append',
    entity: 'question',
    id: textCell(question.scope),
    cells: Object.fromEntries(filled),
    ...(tab.hasSync ? { sync: textCell(words) } : {}),
  });
}

const stepOf = (write: TableStep['write']): TableStep => ({ write, offers: {}, notice: '' });
