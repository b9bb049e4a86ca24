import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities } from '../core/record.ts';
import { columnMapOf, compareColumnMaps, type Remap } from './column-moves.ts';
import { sheetFacts } from './facts.ts';
import type { Policy } from './policy.ts';

/** The tabs whose columns the configuration puts elsewhere than the mirror remembers. */
export function readRemaps(mirror: Mirror, { tabs }: Policy): ReadonlyMap<Entity, Remap> {
  return new Map(
    entities.flatMap((entity) => {
      const remap = compareColumnMaps(mirror.readFact(sheetFacts.columns(entity)), columnMapOf(tabs[entity]));
      return remap ? [[entity, remap] as const] : [];
    }),
  );
}

/** Remembers where the configuration puts the columns of a tab. */
export const saveColumnMap = (mirror: Mirror, { tabs }: Policy, entity: Entity): void =>
  mirror.saveFact(sheetFacts.columns(entity), columnMapOf(tabs[entity]));
