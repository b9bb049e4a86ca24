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
  if ('side' in settlement) return settle(engine, [found], takeSide(settlement.side));
  const read = found.side.readTyped(found.conflict, settlement.text);
  if (read.kind === 'refused') return read;
  return settle(engine, [found], ({ crm, table }) => writeTypedAnswer({ value: read.value, crm, table }));
}

/** Settles every conflict that waits with what one side has. */
export const resolveAll = (engine: Engine, side: 'crm' | 'sheet'): Resolved =>
  settle(engine, conflictsOf(engine), takeSide(side));

/** Whoever answers has seen what both sides had by the last cycle, so the answer is for that. */
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
