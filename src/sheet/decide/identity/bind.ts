import { isClaimToken, type RecordId } from '../../../core/record.ts';
import { isMarkedCopy } from '../../cells/sync-text.ts';
import { describeCell, emptyCell, equalCells } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';

/** A row that carries a record or a claim token; nobody else has the same id. */
export interface BoundRow {
  readonly row: ObservedRow;
  readonly id: RecordId;
}

/** A row whose ID belongs, or belonged, to another one. */
export interface CopiedRow extends BoundRow {
  /** How many rows show the ID, this one included. */
  readonly rows: number;
  /** Whether one of them stays bound to it. */
  readonly hasOriginal: boolean;
}

/** Rows of a tab by what their ID cell says. */
export interface Binding {
  readonly records: readonly BoundRow[];
  readonly claimed: readonly BoundRow[];
  /** Rows without an ID: people's new rows, or rows whose ID was wiped. */
  readonly unbound: readonly ObservedRow[];
  readonly copies: readonly CopiedRow[];
  /** Rows whose ID is none that is known here. */
  readonly strangers: readonly BoundRow[];
}

/** What binding has to know about an id. */
export interface IdLookup {
  /** Whether a record with the id exists or existed here. */
  isKnown(id: RecordId): boolean;
  /** The first of the rows that shows what the record, or its create, is known to have. */
  findOriginal(id: RecordId, rows: readonly ObservedRow[]): ObservedRow | undefined;
  /** Whether the row looks like that of another record, which has lost its row. */
  isForeign(row: ObservedRow): boolean;
}

/** Sorts the rows of a tab by their ID cell. Of rows with the same ID one stays bound, if it is certain which: a copy never writes to its original. */
export function bindRows(rows: readonly ObservedRow[], lookup: IdLookup): Binding {
  const withId = rows.filter((row) => row.id.kind !== 'empty');
  const binding = {
    records: [] as BoundRow[],
    claimed: [] as BoundRow[],
    unbound: rows.filter((row) => row.id.kind === 'empty'),
    copies: [] as CopiedRow[],
    strangers: [] as BoundRow[],
  };
  for (const [id, same] of Map.groupBy(withId, (row) => describeCell(row.id))) {
    const isClaim = isClaimToken(id);
    if (!isClaim && !lookup.isKnown(id)) {
      for (const row of same) binding.strangers.push({ row, id });
      continue;
    }
    const original = chooseOriginal(id, same, lookup);
    for (const row of same) {
      if (row !== original)
        binding.copies.push({ row, id, rows: same.length, hasOriginal: original !== undefined });
      else if (isClaim) binding.claimed.push({ row, id });
      else binding.records.push({ row, id });
    }
  }
  return binding;
}

/**
 * The row that stays bound. A row that is marked as a copy remains one, also when the original is edited or sorted below it later; it takes
 * the place of an original that is gone only if it shows what that had. Of rows that show the same any will do, but a row that looks like
 * another record never does.
 */
function chooseOriginal(
  id: RecordId,
  same: readonly ObservedRow[],
  lookup: IdLookup,
): ObservedRow | undefined {
  // The words that mark a copy may have reached its original, where rows moved while they were written.
  const unmarked = same.filter((row) => !isMarkedCopy(row) && !(same.length > 1 && lookup.isForeign(row)));
  const candidates = unmarked.length > 0 ? unmarked : same;
  if (candidates.length > 1 || unmarked.length === 0) {
    const original = lookup.findOriginal(id, candidates);
    if (original) return original;
  }
  const [first, ...others] = unmarked;
  return first && others.every((other) => showSame(first, other)) ? first : undefined;
}

/** Whether two rows hold the same managed cells, wherever they stand and whatever their IDs. */
const showSame = ({ cells }: ObservedRow, { cells: others }: ObservedRow): boolean =>
  Object.keys(cells).length === Object.keys(others).length &&
  Object.entries(cells).every(
    ([name, cell]) => name in others && equalCells(cell, others[name] ?? emptyCell),
  );
