import { once } from '../../core/once.ts';
import type { Decision } from '../../core/state.ts';
import { decisionOf, readBrakeAnswer } from '../../core/waiting/answer.ts';
import { readSideAnswer, writeSideAnswer } from '../../core/waiting/typed-answer.ts';
import type { Conflict } from '../../core/waiting/waiting.ts';
import type { Question } from '../plans/plan.ts';
import type { ReadTab } from '../port/table.ts';
import { asks, chosenIn, readReply, scopeOf } from './reply.ts';

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

/** What users answered. */
export interface Answers {
  /** What is kept under a scope. */
  find(scope: string): Answered | undefined;
  /** The same in one word. */
  choice(scope: string): string | undefined;
  /**
   * What a user chose in the tab of the questions beside exactly this question. An answer that was kept before is none any more: where that
   * were of use, the question would not be asked.
   */
  choose(scope: string, ask: Ask, subject?: Subject): Chosen | undefined;
}

/** `tab` is the one of the questions, where it can be read; `now` is when a chosen answer counts as given, epoch ms. */
export function createAnswers(
  decisions: readonly Decision[],
  tab: Pick<ReadTab, 'rows'> | undefined,
  now: number,
): Answers {
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
    find,
    choice: (scope) => find(scope)?.choice,
    choose(scope, ask, { conflict, shown } = {}) {
      const filled = rows().get(scope);
      const question = filled && ask();
      if (!filled || !question) return undefined;
      const reply = readReply(
        question,
        filled.filter((row) => asks(row, question)),
      );
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
