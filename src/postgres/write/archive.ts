import type { Ended, PastVersion, RowId } from '../../warehouse/port/port.ts';
import type { FoundRow } from './lock.ts';

/** How the version that a row shows now is over. */
export interface Ending {
  readonly id: RowId;
  readonly validUntil: number;
  readonly ended: Ended;
}

/** What comes after the version that a row shows: its next one, or that its record is gone. */
export interface Next {
  readonly at: number;
  readonly ended: Ended;
}

/**
 * How the version that the row shows is to be kept, so that its history has no gap: `undefined` where it goes on, is among those that are given,
 * or is none. A database that was restored shows versions that the mirror remembers no longer.
 */
export function endingOf(
  live: FoundRow,
  past: readonly PastVersion[],
  next: Next | undefined,
): Ending | undefined {
  const { id, validFrom } = live;
  if (validFrom === undefined || past.some((version) => version.validFrom === validFrom)) return undefined;
  const later: readonly Next[] = past.map((version) => ({ at: version.validFrom, ended: 'changed' }));
  const end = next?.ended === 'changed' ? next : next && { ...next, at: Math.max(next.at, validFrom + 1) };
  const [first] = [...later, ...(end ? [end] : [])]
    .filter(({ at }) => at > validFrom)
    .toSorted((one, other) => one.at - other.at);
  return first && { id, validUntil: first.at, ended: first.ended };
}
