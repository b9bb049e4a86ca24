import type { Mirror } from '../core/mirror.ts';
import type { Entity } from '../core/record.ts';

/** The entities that were read from the CRM to the end at least once: of these it is known what the CRM does not have. */
export const readSwept = (mirror: Mirror): ReadonlySet<Entity> =>
  new Set(
    mirror
      .readSweeps()
      .filter(({ isComplete }) => isComplete)
      .map(({ entity }) => entity),
  );
