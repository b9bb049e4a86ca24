import { describeCell, equalCells } from '../cell.ts';
import { isClaimToken, type RecordId } from '../record.ts';
import type { ObservedRow } from '../table.ts';

/** A row that carries a record or a claim token; nobody else has the same id. */
export interface BoundRow {
  readonly row: ObservedRow;
  readonly id: RecordId;
}

/** Rows of a tab by what their ID cell says. */
export interface Binding {
  readonly records: readonly BoundRow[];
  readonly claimed: readonly BoundRow[];
  /** Rows without an ID: people's new rows, or rows whose ID was wiped. */
  readonly unbound: readonly ObservedRow[];
  /** Rows whose ID stands in another row too. */
  readonly copies: readonly BoundRow[];
  /** Rows whose ID is none that is known here. */
  readonly strangers: readonly BoundRow[];
}

/** What binding has to know about an id. */
export interface IdLookup {
  /** Whether a record with the id exists or existed here. */
  isKnown(id: RecordId): boolean;
  /** Whether the row shows the values the record is known to have; tells an original from its copy. */
  isOriginal(id: RecordId, row: ObservedRow): boolean;
}

/**
 * Sorts the rows of a tab by their ID cell. Of rows with the same id one stays bound: the one that shows the record's
 * known values, else the topmost; its copies are held, so that no copy ever writes to the original.
 */
export function bindRows(rows: readonly ObservedRow[], lookup: IdLookup): Binding {
  const withId = rows.filter((row) => row.id.kind !== 'empty');
  const binding = {
    records: [] as BoundRow[],
    claimed: [] as BoundRow[],
    unbound: rows.filter((row) => row.id.kind === 'empty'),
    copies: [] as BoundRow[],
    strangers: [] as BoundRow[],
  };
  for (const [id, same] of Map.groupBy(withId, (row) => describeCell(row.id))) {
    const original = same.find((row) => lookup.isOriginal(id, row)) ?? same[0];
    for (const row of same) {
      if (row !== original) binding.copies.push({ row, id });
      else if (isClaimToken(id)) binding.claimed.push({ row, id });
      else if (lookup.isKnown(id)) binding.records.push({ row, id });
      else binding.strangers.push({ row, id });
    }
  }
  return binding;
}

type RowContent = Pick<ObservedRow, 'id' | 'cells'>;

/** Whether two rows hold the same managed cells, wherever they stand. */
export function equalRows(left: RowContent, right: RowContent): boolean {
  const names = Object.keys(left.cells);
  return (
    names.length === Object.keys(right.cells).length &&
    equalCells(left.id, right.id) &&
    names.every((name) => {
      const [one, other] = [left.cells[name], right.cells[name]];
      return one !== undefined && other !== undefined && equalCells(one, other);
    })
  );
}
