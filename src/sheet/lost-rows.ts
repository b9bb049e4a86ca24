import type { Mirror } from '../core/mirror.ts';
import { entities, type RecordKey, recordKeyText } from '../core/record.ts';
import type { Agreement } from '../core/state.ts';
import { sheetFacts } from './facts.ts';
import type { Memory } from './rest.ts';

/**
 * Notes which of the records that are agreed about have lost their row since the read before, which was made at `lookedAt`, epoch ms, and
 * answers when each was last seen with one. What waits behind a brake may wait over a restart. Of a tab that is held it is noted since when
 * nobody knows what stands there.
 */
export function noteLostRows(
  mirror: Mirror,
  agreements: readonly Agreement[],
  { ids }: Memory,
  lookedAt: number,
): (key: RecordKey) => number {
  const before = new Map(mirror.readFact(sheetFacts.lostRows));
  // The clock may have been set back since.
  const seenAt = (key: RecordKey) =>
    Math.min(lookedAt, before.get(recordKeyText(key)) ?? before.get(key.entity) ?? lookedAt);
  const isLost = (key: RecordKey) => {
    const present = ids.get(key.entity);
    return present ? !present.has(key.id) : before.has(recordKeyText(key));
  };
  mirror.saveFact(sheetFacts.lostRows, [
    ...entities.flatMap((entity) =>
      ids.has(entity) ? [] : [[entity, before.get(entity) ?? lookedAt] as const],
    ),
    ...agreements.flatMap(({ key }) => (isLost(key) ? [[recordKeyText(key), seenAt(key)] as const] : [])),
  ]);
  return seenAt;
}
