import { type Answer, decisionOf } from '../core/waiting/answer.ts';
import type { Engine } from './engine.ts';

/** Keeps an answer to each of the scopes at the side that asks for it; it is carried out in the next cycle. */
export function answer(engine: Engine, scopes: readonly string[], choice: Answer): void {
  const { link, sides } = engine;
  const now = link.clock.now();
  link.mirror.transaction(() => {
    for (const { mirror, report } of sides) {
      const shown = new Map(report?.questions.map((question) => [question.scope, question.shown]));
      const refused = new Set(report?.refusals.map(({ decision }) => decision));
      for (const scope of scopes)
        if (shown.has(scope) || refused.has(scope))
          mirror.saveDecision(decisionOf(scope, choice, now, shown.get(scope)));
    }
  });
  engine.kick();
}
