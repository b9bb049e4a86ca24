import type { Question } from '../core/decide/plan.ts';
import type { Log } from '../core/ports.ts';

/** Since when each question waits, by scope. Tells in the log which of them are new, and which wait no more. */
export function noteAsked(
  log: Log,
  before: ReadonlyMap<string, number>,
  questions: readonly Pick<Question, 'scope'>[],
  now: number,
): ReadonlyMap<string, number> {
  const asked = new Map(questions.map(({ scope }) => [scope, before.get(scope) ?? now]));
  for (const scope of asked.keys()) if (!before.has(scope)) log.info('question.asked', { scope });
  for (const scope of before.keys()) if (!asked.has(scope)) log.info('question.ended', { scope });
  return asked;
}
