import type { Entity } from '../core/record.ts';
import type { Brake, Hold } from '../core/waiting/waiting.ts';
import type { PlanDifference, SidePlan } from '../sync/side.ts';

/** What the next cycle would write. */
export interface WarehousePlan extends SidePlan {
  readonly side: 'warehouse';
  /** Epoch ms. */
  readonly at: number;
  /** Records that are due: their rows are written, or deleted where the CRM does not have them. */
  readonly records: Readonly<Partial<Record<Entity, number>>>;
  readonly deletes: Readonly<Partial<Record<Entity, number>>>;
  readonly brakes: readonly Brake[];
  readonly holds: readonly Hold[];
}

/** What is different between two plans, by kind of record. */
export function comparePlans(planned: WarehousePlan, now: WarehousePlan): PlanDifference[] {
  const parts = ['records', 'deletes'] as const;
  return parts.flatMap((part) => {
    const kinds = new Set([...Object.keys(planned[part]), ...Object.keys(now[part])]) as Set<Entity>;
    return [...kinds].flatMap((entity) => {
      const [before, after] = [planned[part][entity] ?? 0, now[part][entity] ?? 0];
      if (before === after) return [];
      return [{ place: `${entity} ${part}`, planned: String(before), now: String(after) }];
    });
  });
}
