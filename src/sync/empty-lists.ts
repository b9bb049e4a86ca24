import type { Mirror } from '../core/mirror.ts';
import { sweepsToProve } from '../core/observe.ts';
import { type Entity, entities, isListed } from '../core/record.ts';

const emptySweepsFact = (entity: Entity): string => `crm.empty-sweeps.${entity}`;

const countEmptySweeps = (mirror: Mirror, entity: Entity): number =>
  Number(mirror.readFact(emptySweepsFact(entity)) ?? 0);

/** Takes note of how many records a complete sweep showed. To be called in a transaction. */
export function noteListed(mirror: Mirror, entity: Entity, records: number): void {
  const before = countEmptySweeps(mirror, entity);
  const now = records > 0 ? 0 : Math.min(before + 1, sweepsToProve);
  if (now !== before) mirror.saveFact(emptySweepsFact(entity), String(now));
}

/**
 * The entities of which the CRM lists nothing, sweep after sweep: where no record is known, none can be asked for whether one empty answer
 * was a slip. Contacts stand in a list for each lead, and those do not all slip at once.
 */
export const readEmptyLists = (mirror: Mirror): ReadonlySet<Entity> =>
  new Set(
    entities.filter((entity) => !isListed(entity) || countEmptySweeps(mirror, entity) >= sweepsToProve),
  );
