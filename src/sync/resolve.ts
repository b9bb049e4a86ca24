import type { Decision } from '../core/state.ts';
import { conflictScope } from '../core/waiting/scopes.ts';
import { writeSideAnswer, writeTypedAnswer } from '../core/waiting/typed-answer.ts';
import type { Conflict } from '../core/waiting/waiting.ts';
import type { Engine } from './engine.ts';
import type { Side } from './side.ts';

/** How a conflict is settled: with what a side has, or with a text that is read like one typed at the side. */
export type Settlement = { readonly side: 'crm' | 'sheet' } | { readonly text: string };

export type Resolved =
  | { readonly kind: 'settled'; readonly scopes: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

/** A conflict of the last cycle, with the side that found it. */
interface Found {
  readonly side: Side;
  readonly conflict: Conflict;
}

const conflictsOf = ({ sides }: Engine): readonly Found[] =>
  sides.flatMap((side) => (side.report?.conflicts ?? []).map((conflict) => ({ side, conflict })));

const scopeOf = ({ key, field }: Conflict): string => conflictScope(key, field);

/** Settles one conflict; it is done in the next cycle. `undefined` where none waits under the scope. */
export function resolveConflict(engine: Engine, scope: string, settlement: Settlement): Resolved | undefined {
  const found = conflictsOf(engine).find(({ conflict }) => scopeOf(conflict) === scope);
  if (!found) return undefined;
  const { conflict } = found;
  if ('side' in settlement) return settle(engine, [decide(engine, found, settlement.side)]);
  const read = found.side.readTyped(conflict, settlement.text);
  if (read.kind === 'refused') return read;
  const { crm, table } = conflict;
  const choice = writeTypedAnswer({ value: read.value, crm, table });
  return settle(engine, [{ side: found.side, decision: { scope, choice, at: engine.link.clock.now() } }]);
}

/** Settles every conflict that waits with what one side has. */
export const resolveAll = (engine: Engine, side: 'crm' | 'sheet'): Resolved =>
  settle(
    engine,
    conflictsOf(engine).map((found) => decide(engine, found, side)),
  );

/** Whoever answers has seen what both sides had by the last cycle, so the answer is for that. */
const decide = ({ link }: Engine, { conflict, side }: Found, chosen: 'crm' | 'sheet'): Made => ({
  side,
  decision: {
    scope: scopeOf(conflict),
    choice: writeSideAnswer(chosen === 'crm' ? 'crm' : 'table', conflict),
    at: link.clock.now(),
  },
});

/** A decision, with the side that asked for it. */
interface Made {
  readonly side: Side;
  readonly decision: Decision;
}

function settle(engine: Engine, made: readonly Made[]): Resolved {
  engine.link.mirror.transaction(() => {
    for (const { decision, side } of made) side.mirror.saveDecision(decision);
  });
  engine.kick();
  return { kind: 'settled', scopes: made.map(({ decision }) => decision.scope) };
}
