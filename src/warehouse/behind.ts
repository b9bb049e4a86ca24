import type { Entity } from '../core/record.ts';
import type { Hold } from '../core/waiting/waiting.ts';
import { warehouseFacts } from './facts.ts';
import type { WarehouseLink } from './link.ts';

type BehindLink = Pick<WarehouseLink, 'clock' | 'entities' | 'mirror'>;

const reason = 'The table has more than the mirror knows: it is compared once the list of the CRM is read.';

/** Holds the tables that have more than the mirror knows, until the CRM's list of their records was read since that was noticed. */
export const behindHolds = (link: BehindLink): readonly Hold[] =>
  link.entities.filter((entity) => isBehind(link, entity)).map((entity) => ({ entity, reason }));

/** Whether a table that had more than the mirror knew can be compared by now. */
export const hasCaughtUp = (link: BehindLink): boolean =>
  link.entities.some((entity) => noticedAt(link, entity) !== undefined && !isBehind(link, entity));

const noticedAt = ({ mirror }: BehindLink, entity: Entity): number | undefined =>
  mirror.readFact(warehouseFacts.behind(entity));

function isBehind(link: BehindLink, entity: Entity): boolean {
  const since = noticedAt(link, entity);
  if (since === undefined) return false;
  const sweeps = link.mirror.readSweeps();
  const sweep = sweeps.find((candidate) => candidate.entity === entity && candidate.isComplete);
  // The clock may have been set back since.
  return sweep === undefined || sweep.startedAt < Math.min(since, link.clock.now());
}
