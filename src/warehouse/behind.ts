import type { Mirror } from '../core/mirror.ts';
import type { Entity } from '../core/record.ts';
import type { Hold } from '../core/waiting/waiting.ts';
import { warehouseFacts } from './facts.ts';

/*
 * A mirror that was restored, or is a new one, knows less than the tables have. What it does not know would be taken for deleted, so such a
 * table is left alone until the CRM's list of its records was read, and is compared then.
 */

/** Whether a table has more than the mirror knows, and the CRM's list of its records was not read since that was noticed. */
function isBehind(mirror: Mirror, entity: Entity, now: number): boolean {
  const since = mirror.readFact(warehouseFacts.behind(entity));
  if (since === undefined) return false;
  const sweep = mirror.readSweeps().find((candidate) => candidate.entity === entity && candidate.isComplete);
  return sweep === undefined || sweep.startedAt < Math.min(since, now);
}

/** The tables that have more than the mirror knows so far. `now` is epoch ms. */
export const behindEntities = (mirror: Mirror, entities: readonly Entity[], now: number): readonly Entity[] =>
  entities.filter((entity) => isBehind(mirror, entity, now));

export const behindHolds = (mirror: Mirror, entities: readonly Entity[], now: number): readonly Hold[] =>
  behindEntities(mirror, entities, now).map((entity) => ({
    entity,
    reason: 'The table has more than the mirror knows: it is compared once the list of the CRM is read.',
  }));

/** Whether a table that had more than the mirror knew can be compared by now. */
export const hasCaughtUp = (mirror: Mirror, entities: readonly Entity[], now: number): boolean =>
  entities.some(
    (entity) =>
      mirror.readFact(warehouseFacts.behind(entity)) !== undefined && !isBehind(mirror, entity, now),
  );
