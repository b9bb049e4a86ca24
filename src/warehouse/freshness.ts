import type { Mirror } from '../core/mirror.ts';
import type { Entity } from '../core/record.ts';
import type { StoredRecord } from '../core/state.ts';
import type { Brake, Hold } from '../core/waiting/waiting.ts';
import { warehouseFacts } from './facts.ts';
import type { Freshness } from './port/port.ts';

export interface FreshnessTerms {
  readonly entities: readonly Entity[];
  readonly brakes: readonly Brake[];
  readonly holds: readonly Hold[];
  /** How many records wait to be written. */
  readonly due: number;
  /** How long ago (ms) the last complete reading of a list may be. */
  readonly lateMs: number;
  /** Epoch ms. */
  readonly now: number;
}

/** How fresh each table is, for those who query it. */
export function freshnessOf(
  mirror: Mirror,
  { brakes, due, entities, holds, lateMs, now }: FreshnessTerms,
): Freshness[] {
  const sweeps = mirror.readSweeps();
  return entities.map((entity) => {
    const present = mirror.readRecords(entity).filter(({ presence }) => presence === 'present');
    const sweep = sweeps.find((candidate) => candidate.entity === entity && candidate.isComplete);
    const held = [...brakes, ...holds.filter(({ id }) => id === undefined)].find(
      (each) => each.entity === entity,
    );
    const isLate = sweep !== undefined && now - sweep.startedAt > lateMs;
    const isFilling =
      (entity !== 'contact' && sweep === undefined) || (due > 0 && rowsOf(mirror, entity) < present.length);
    return {
      entity,
      listReadAt: sweep?.startedAt,
      records: present.length,
      rows: rowsOf(mirror, entity),
      oldestSeenAt: oldest(present),
      state: held ? 'held' : isFilling ? 'filling' : isLate ? 'late' : 'fresh',
      note: held?.reason ?? '',
      at: now,
    };
  });
}

const rowsOf = (mirror: Mirror, entity: Entity): number => mirror.readFact(warehouseFacts.rows(entity)) ?? 0;

function oldest(records: readonly StoredRecord[]): number | undefined {
  return records.reduce<number | undefined>(
    (least, { lastSeenAt }) => (least === undefined ? lastSeenAt : Math.min(least, lastSeenAt)),
    undefined,
  );
}
