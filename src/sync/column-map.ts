import { type ColumnMap, columnMapOf, compareColumnMaps, type Remap } from '../core/column-map.ts';
import type { Mirror } from '../core/mirror.ts';
import type { Policy } from '../core/policy.ts';
import { type Entity, entities } from '../core/record.ts';

/** Where the columns of a tab were when it was last decided; written by {@link saveColumnMap} alone. */
const columnsFact = (entity: Entity): string => `columns.${entity}`;

/** The tabs whose columns the configuration puts elsewhere than the mirror remembers. */
export function readRemaps(mirror: Mirror, { tabs }: Policy): ReadonlyMap<Entity, Remap> {
  return new Map(
    entities.flatMap((entity) => {
      const text = mirror.readFact(columnsFact(entity));
      const now = columnMapOf(tabs[entity]);
      // Nearly always nothing has moved, and every cycle asks.
      if (text === JSON.stringify(now)) return [];
      const before = text === undefined ? undefined : (JSON.parse(text) as ColumnMap);
      const remap = compareColumnMaps(before, now);
      return remap ? [[entity, remap] as const] : [];
    }),
  );
}

/** Remembers where the configuration puts the columns of a tab. */
export const saveColumnMap = (mirror: Mirror, { tabs }: Policy, entity: Entity): void =>
  mirror.saveFact(columnsFact(entity), JSON.stringify(columnMapOf(tabs[entity])));
