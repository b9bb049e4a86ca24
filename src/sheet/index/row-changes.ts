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
  const known = lastChanges.get(now);
  if (known?.before.deref() === before) return known.changes;
  const changes = findChanges(before, now);
  if (changes.moved.length + changes.removed.length < keptMax)
    lastChanges.set(now, { before: new WeakRef(before), changes });
  return changes;
}

/** What changed holds the rows from before: of so many of them it is found anew. */
const keptMax = 1_000;

/**
 * What a read was compared with last: all that is decided in a cycle asks for the same. The read before is held weakly, or each would keep
 * the one before it, back to the first.
 */
const lastChanges = new WeakMap<
  readonly ObservedRow[],
  { readonly before: WeakRef<readonly ObservedRow[]>; readonly changes: RowChanges }
>();

function findChanges(before: readonly ObservedRow[], now: readonly ObservedRow[]): RowChanges {
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
  for (const place of findOthers(before, now, above)) pair(before[place], now[place]);
  for (let place = 1; place <= below; place += 1) pair(before.at(-place), now.at(-place));
  const rest = Map.groupBy(before.slice(above, before.length - below), ({ cells }) => cells);
  for (const row of now.slice(above, now.length - below)) pair(rest.get(row.cells)?.shift(), row);
  return { removed: [...removed, ...[...rest.values()].flat()], added, moved };
}

/** The places in which two lists do not have the same object. A loop of its own, because nearly all rows of a long tab are the same objects. */
function findOthers(one: readonly unknown[], other: readonly unknown[], end: number): number[] {
  const places: number[] = [];
  for (let place = 0; place < end; place += 1) if (one[place] !== other[place]) places.push(place);
  return places;
}

const noChanges: RowChanges = { removed: [], added: [], moved: [] };

const holdsSame = (one: ObservedRow, other: ObservedRow): boolean =>
  one.cells === other.cells &&
  one.isPaused === other.isPaused &&
  one.hasOwn === other.hasOwn &&
  equalCells(one.id, other.id) &&
  equalCells(one.sync, other.sync);
