import { type Answer, decisionOf } from '../core/waiting/answer.ts';
import { conflictScope } from '../core/waiting/scopes.ts';
import { writeSideAnswer, writeTypedAnswer } from '../core/waiting/typed-answer.ts';
import type { Conflict } from '../core/waiting/waiting.ts';
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

/** How a conflict is settled: with what a side has, or with a text that is read like one typed at the side. */
export type Settlement = { readonly side: 'crm' | 'sheet' } | { readonly text: string };

export type Resolved =
  | { readonly kind: 'settled'; readonly scopes: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

/** A conflict of the last cycle, with the side that found it. */
type Found = ReturnType<typeof conflictsOf>[number];

const conflictsOf = ({ sides }: Engine) =>
  sides.flatMap((side) => (side.report?.conflicts ?? []).map((conflict) => ({ side, conflict })));

const scopeOf = ({ key, field }: Conflict): string => conflictScope(key, field);

/** Settles one conflict; it is done in the next cycle. `undefined` where none waits under the scope. */
export function resolveConflict(engine: Engine, scope: string, settlement: Settlement): Resolved | undefined {
  const found = conflictsOf(engine).find(({ conflict }) => scopeOf(conflict) === scope);
  if (!found) return undefined;
  if ('side' in settlement) return settle(engine, [found], takeSide(settlement.side));
  const read = found.side.readTyped(found.conflict, settlement.text);
  if (read.kind === 'refused') return read;
  return settle(engine, [found], ({ crm, table }) => writeTypedAnswer({ value: read.value, crm, table }));
}

/** Settles every conflict that waits with what one side has. */
export const resolveAll = (engine: Engine, side: 'crm' | 'sheet'): Resolved =>
  settle(engine, conflictsOf(engine), takeSide(side));

/** The user who answers has seen what both sides had by the last cycle, so the answer is for that. */
const takeSide = (side: 'crm' | 'sheet') => (conflict: Conflict) =>
  writeSideAnswer(side === 'crm' ? 'crm' : 'table', conflict);

function settle(engine: Engine, all: readonly Found[], choose: (conflict: Conflict) => string): Resolved {
  const { clock, mirror } = engine.link;
  const at = clock.now();
  mirror.transaction(() => {
    for (const { conflict, side } of all)
      side.mirror.saveDecision({ scope: scopeOf(conflict), choice: choose(conflict), at });
  });
  engine.kick();
  return { kind: 'settled', scopes: all.map(({ conflict }) => scopeOf(conflict)) };
}
