import { emptyCatalog } from '../core/catalog.ts';
import { equalCells, textCell } from '../core/cell.ts';
import { createNames, type Decoded, decode, encode } from '../core/codec.ts';
import type { Conflict } from '../core/decide/plan.ts';
import { leadChoices, typedNames } from '../core/decide/rows/lead-names.ts';
import { findEditFault } from '../core/decide/rows/merge.ts';
import { conflictScope } from '../core/decide/scopes.ts';
import { findField } from '../core/field.ts';
import { columnOf, tabOf } from '../core/layout.ts';
import type { Decision } from '../core/state.ts';
import { writeSideAnswer, writeTypedAnswer } from '../core/typed-answer.ts';
import { decodeTyped } from '../core/typed-cell.ts';
import type { Engine } from './engine.ts';
import { currentLayout } from './layout.ts';
import type { Link } from './link.ts';

/** How a conflict is settled: with what a side has, or with a text that is read like one typed into the cell. */
export type Settlement = { readonly side: 'crm' | 'sheet' } | { readonly text: string };

export type Resolved =
  | { readonly kind: 'settled'; readonly scopes: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

/** The conflicts of the last cycle. */
const conflictsOf = ({ lastPlan }: Engine): readonly Conflict[] => lastPlan?.conflicts ?? [];

const scopeOf = ({ key, field }: Conflict): string => conflictScope(key, field);

/** Settles one conflict; it is done in the next cycle. `undefined` where none waits under the scope. */
export function resolveConflict(engine: Engine, scope: string, settlement: Settlement): Resolved | undefined {
  const conflict = conflictsOf(engine).find((candidate) => scopeOf(candidate) === scope);
  if (!conflict) return undefined;
  if ('side' in settlement) return settle(engine, [decide(engine, conflict, settlement.side)]);
  const read = readTyped(engine.link, conflict, settlement.text);
  if (read.kind === 'refused') return read;
  const { crm, table } = conflict;
  const choice = writeTypedAnswer({ value: read.value, crm, table });
  return settle(engine, [{ scope, choice, at: engine.link.clock.now() }]);
}

/** Settles every conflict that waits with what one side has. */
export const resolveAll = (engine: Engine, side: 'crm' | 'sheet'): Resolved =>
  settle(
    engine,
    conflictsOf(engine).map((conflict) => decide(engine, conflict, side)),
  );

/** Whoever answers has seen what both sides had by the last cycle, so the answer is for that. */
const decide = ({ link }: Engine, conflict: Conflict, side: 'crm' | 'sheet'): Decision => ({
  scope: scopeOf(conflict),
  choice: writeSideAnswer(side === 'crm' ? 'crm' : 'table', conflict),
  at: link.clock.now(),
});

function settle(engine: Engine, decisions: readonly Decision[]): Resolved {
  const { mirror } = engine.link;
  mirror.transaction(() => {
    for (const decision of decisions) mirror.saveDecision(decision);
  });
  engine.kick();
  return { kind: 'settled', scopes: decisions.map(({ scope }) => scope) };
}

/** Reads a text like the cell of the field would be read, and refuses what would be refused there. */
function readTyped(link: Link, conflict: Conflict, text: string): Decoded {
  const { mirror } = link;
  const { agreed, crm, field: name, key, table } = conflict;
  const { entity } = key;
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  // No instant can be typed, so the zone does not matter.
  const records = mirror.readRecords();
  const names = {
    ...createNames(catalog, leadChoices(records), 'UTC'),
    ...typedNames({ catalog, records }),
  };
  const tab = tabOf(currentLayout(link), entity);
  const column = tab && columnOf(tab, name);
  const definition = findField(entity, name, catalog);
  if (!column || !definition) return { kind: 'refused', reason: `${name} is not kept the same any more.` };
  const field = { ...definition, header: column.header };
  const cell = textCell(text);
  // What a side has or both had is taken as the row takes it, also where nobody could type it.
  const isKnown = [agreed, crm, table].some((value) => equalCells(cell, encode(field, value, names)));
  const decoded = (isKnown ? decode : decodeTyped)(field, cell, names);
  if (decoded.kind === 'refused') return decoded;
  const fault = findEditFault({ column, field }, crm, decoded.value, names);
  if (fault !== undefined) return { kind: 'refused', reason: fault };
  return decoded;
}
