import { equalCells } from '../port/cell.ts';
import type { ObservedRow } from '../port/table.ts';

/** What became of the rows of a tab between two reads. */
export interface RowChanges {
  readonly removed: readonly ObservedRow[];
  readonly added: readonly ObservedRow[];
  /** Rows that hold the same at another place. */
  readonly moved: readonly (readonly [before: ObservedRow, after: ObservedRow])[];
}

/**
 * Compares two reads of a tab. Rows above and below what was added or taken out are found again where they are now; the adapter keeps what
 * they hold the same object.
 */
export function compareRows(before: readonly ObservedRow[], now: readonly ObservedRow[]): RowChanges {
  if (before === now) return noChanges;
  const [removed, added]: [ObservedRow[], ObservedRow[]] = [[], []];
  const moved: [ObservedRow, ObservedRow][] = [];
  const pair = (old: ObservedRow | undefined, row: ObservedRow | undefined) => {
    if (old === row) return;
    if (old && row && holdsSame(old, row)) moved.push([old, row]);
    else {
      if (old) removed.push(old);
      if (row) added.push(row);
    }
  };
  const shorter = Math.min(before.length, now.length);
  const isAlike = (old: ObservedRow | undefined, row: ObservedRow | undefined) =>
    old === row || (old !== undefined && row !== undefined && holdsSame(old, row));
  let above = shorter;
  let below = 0;
  if (before.length !== now.length) {
    above = 0;
    while (above < shorter && isAlike(before[above], now[above])) above += 1;
    while (below < shorter - above && isAlike(before.at(-1 - below), now.at(-1 - below))) below += 1;
  }
  for (let place = 0; place < above; place += 1) pair(before[place], now[place]);
  for (let place = 1; place <= below; place += 1) pair(before.at(-place), now.at(-place));
  const rest = Map.groupBy(before.slice(above, before.length - below), ({ cells }) => cells);
  for (const row of now.slice(above, now.length - below)) pair(rest.get(row.cells)?.shift(), row);
  return { removed: [...removed, ...[...rest.values()].flat()], added, moved };
}

const noChanges: RowChanges = { removed: [], added: [], moved: [] };

const holdsSame = (one: ObservedRow, other: ObservedRow): boolean =>
  one.cells === other.cells &&
  one.isPaused === other.isPaused &&
  one.hasOwn === other.hasOwn &&
  equalCells(one.id, other.id) &&
  equalCells(one.sync, other.sync);
