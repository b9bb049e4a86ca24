import { quoteText } from '../../core/text/cut-text.ts';
import { instantToSerial } from '../../core/text/dates.ts';
import { answerLabels, answersTo } from '../../core/waiting/answer.ts';
import type { Question, TableStep } from '../plans/plan.ts';
import { describeCell, equalCells, numberCell, textCell } from '../port/cell.ts';
import type { ObservedRow, ReadTab } from '../port/table.ts';
import { asks, chosenIn, readReply, scopeOf } from './answers.ts';
import { chooseField, sinceField } from './question-tab.ts';

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
      steps.push(...sayWhatBecame(tab, question, current));
    }
    for (const row of rows) {
      if (current.includes(row)) continue;
      steps.push({ write: { kind: 'delete', entity: 'question', position: row.position, idSeen: row.id } });
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
function sayWhatBecame(tab: ReadTab, question: Question, rows: readonly ObservedRow[]): TableStep[] {
  const { scope } = question;
  const reply = readReply(question, rows);
  if (!tab.hasSync || reply.kind === 'answer') return [];
  const mayChoose = tab.fields.has(chooseField) || answersTo(scope).length === 0;
  return rows.flatMap(({ position, id, sync }) => {
    const isRefused = describeCell(sync).startsWith('Error');
    if (reply.kind === 'none' && sync.kind !== 'empty' && !isRefused && mayChoose) return [];
    const waiting = mayChoose ? waitingFor(scope) : chooseGone;
    const words = textCell(reply.kind === 'none' ? waiting : `Error: ${reply.reason}`);
    if (equalCells(sync, words)) return [];
    return [{ write: { kind: 'set', entity: 'question', position, idSeen: id, cells: {}, sync: words } }];
  });
}

function askIn(task: QuestionRows, question: Question, outdated: string | undefined): TableStep {
  const { tab, timeZone, now } = task;
  const since = numberCell(instantToSerial(now, timeZone));
  const filled = Object.entries({ ...question.cells, [sinceField]: since }).filter(
    ([name, cell]) => tab.fields.has(name) && cell.kind !== 'empty',
  );
  const labels = answersTo(question.scope).map((answer) => answerLabels[answer]);
  const words =
    outdated === undefined
      ? waitingFor(question.scope)
      : `Waiting: this is not what it was when ${quoteText(outdated)} was chosen. Please look again.`;
  return {
    write: {
      kind: 'append',
      entity: 'question',
      id: textCell(question.scope),
      cells: Object.fromEntries(filled),
      ...(labels.length > 0 ? { choices: { field: chooseField, labels } } : {}),
      ...(tab.hasSync ? { sync: textCell(words) } : {}),
    },
  };
}
