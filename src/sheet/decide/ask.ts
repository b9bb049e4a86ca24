import type { Answered, Answers, Ask, Chosen } from '../questions/answers.ts';
import type { Verdict } from './verdict.ts';

/** What a chosen answer leaves to be kept. */
export const keepChosen = (scope: string, chosen: Chosen | undefined): Verdict =>
  chosen ? { scopes: [scope], answers: [chosen.decision] } : { scopes: [scope] };

/** What was answered under a scope, kept before or chosen just now beside the question that is asked where nothing was. */
export function answerTo(
  answers: Answers,
  scope: string,
  ask: Ask,
): { readonly answered: Answered | undefined; readonly verdict: Verdict } {
  const kept = answers.find(scope);
  if (kept) return { answered: kept, verdict: { scopes: [scope] } };
  const chosen = answers.choose(scope, ask);
  return { answered: chosen, verdict: keepChosen(scope, chosen) };
}
