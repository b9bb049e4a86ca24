import { columnMapOf, compareColumnMaps, type Remap } from '../core/column-map.ts';
import { facts } from '../core/facts.ts';
import type { Mirror } from '../core/mirror.ts';
import type { Policy } from '../core/policy.ts';
import { type Entity, entities } from '../core/record.ts';

/** The tabs whose columns the configuration puts elsewhere than the mirror remembers. */
export function readRemaps(mirror: Mirror, { tabs }: Policy): ReadonlyMap<Entity, Remap> {
  return new Map(
    entities.flatMap((entity) => {
      const remap = compareColumnMaps(mirror.readFact(facts.columns(entity)), columnMapOf(tabs[entity]));
      return remap ? [[entity, remap] as const] : [];
    }),
  );
}

/** Remembers where the configuration puts the columns of a tab. */
export const saveColumnMap = (mirror: Mirror, { tabs }: Policy, entity: Entity): void =>
  mirror.saveFact(facts.columns(entity), columnMapOf(tabs[entity]));
