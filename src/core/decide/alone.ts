import { type Cell, isSpilled, isUnfilled } from '../cell.ts';
import { isMostlyAlike, keptText } from '../kept-cell.ts';
import type { ObservedRow } from '../table.ts';
import type { FieldName } from '../value.ts';

const nameOf = (field: FieldName, cell: Cell): string => `${field} ${keptText(cell)}`;

/**
 * Tells of a row of a tab whether no other one has more than half of what stands in it. A row that has is found by any half of its cells,
 * so it is looked for among those that have one of the rarer half: all IDs of a long tab may be lost at once, and nobody can compare
 * each of its rows with each.
 */
export function createAloneSearch(rows: readonly ObservedRow[]): (row: ObservedRow) => boolean {
  let byCell: ReadonlyMap<string, readonly ObservedRow[]> | undefined;
  return ({ cells, position }) => {
    byCell ??= groupByCell(rows);
    const known = byCell;
    const filled = Object.entries(cells).filter(([, cell]) => !isUnfilled(cell));
    const sharing = filled
      // What an array formula fills in counts as the same as anything.
      .map(([field, cell]) => (isSpilled(cell) ? rows : (known.get(nameOf(field, cell)) ?? [])))
      .toSorted((left, right) => left.length - right.length);
    const isOther = (other: ObservedRow) => other.position !== position && isMostlyAlike(cells, other.cells);
    return !sharing.slice(0, Math.ceil(filled.length / 2)).some((own) => own.some(isOther));
  };
}

function groupByCell(rows: readonly ObservedRow[]): ReadonlyMap<string, readonly ObservedRow[]> {
  const groups = new Map<string, ObservedRow[]>();
  for (const row of rows)
    for (const [field, cell] of Object.entries(row.cells)) {
      const name = nameOf(field, cell);
      const group = groups.get(name);
      if (group) group.push(row);
      else groups.set(name, [row]);
    }
  return groups;
}
