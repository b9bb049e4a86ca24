import { type Cell, emptyCell, equalCells } from '../cell.ts';
import type { RecordId } from '../record.ts';
import type { Agreement } from '../state.ts';
import type { ObservedRow } from '../table.ts';
import type { FieldName } from '../value.ts';
import type { BoundRow } from './bind.ts';
import type { TabContext } from './context.ts';
import { cellsOf, lookOf, lookOfValues, showsValues } from './row-values.ts';

/** A row that does not show what is agreed for its record. */
interface Displaced {
  readonly id: RecordId;
  readonly row: ObservedRow;
  readonly own: Readonly<Record<FieldName, Cell>>;
}

/**
 * Rows that show the values of another record whose own row does not: their IDs changed places, or their values did, perhaps with edits
 * on top. Which of it was meant nobody can tell, so nothing is written for either of them. The same holds for a row that shows exactly
 * what a record without a row has. Answers the other record by the row's own.
 */
export function findSwaps(
  context: TabContext,
  rows: readonly BoundRow[],
  vanished: readonly Agreement[],
): ReadonlyMap<RecordId, RecordId> {
  const displaced = rows.flatMap(({ row, id }): Displaced[] => {
    const agreed = context.agreements.get(id)?.fields ?? {};
    // Whatever a row shows about which nothing was agreed, nothing has left its place.
    if (Object.keys(agreed).length === 0 || context.records.get(id)?.presence !== 'present') return [];
    return showsValues(context, row, agreed) ? [] : [{ id, row, own: cellsOf(context, row, agreed) }];
  });
  const swaps = new Map<RecordId, RecordId>();
  const [first] = displaced;
  if (!first) return swaps;
  const owners = new Map(
    vanished.map(({ key, fields }) => [lookOfValues(context, first.row, fields), key.id]),
  );
  for (const { id, own } of displaced) owners.set(lookOf({ cells: own }), id);
  const search = createSearch(context, displaced);
  for (const one of displaced) {
    const other = owners.get(lookOf(one.row)) ?? search(one);
    if (other !== undefined) swaps.set(one.id, other);
  }
  const isDisplaced = new Set(displaced.map(({ id }) => id));
  for (const [id, other] of [...swaps]) if (isDisplaced.has(other) && !swaps.has(other)) swaps.set(other, id);
  return swaps;
}

/** So many values of another record are no coincidence, if one of them is that record's alone. */
const sharedMin = 2;

/**
 * Finds the displaced record whose values a displaced row shows, although not all of them. Nobody types into a column that only shows, so
 * a value there counts twice; but nothing is concluded from such columns alone, because they are put right by themselves.
 */
function createSearch(
  context: TabContext,
  displaced: readonly Displaced[],
): (one: Displaced) => RecordId | undefined {
  const nameOf = (field: FieldName, cell: Cell) => `${field} ${JSON.stringify(cell)}`;
  const owners = Map.groupBy(
    displaced.flatMap((each) =>
      Object.entries(each.own).flatMap(([field, cell]) =>
        cell.kind === 'empty' ? [] : [{ each, name: nameOf(field, cell) }],
      ),
    ),
    ({ name }) => name,
  );
  const shown = new Set(
    context.layout.columns.flatMap((column) => (column.direction === 'toTable' ? [column.field] : [])),
  );
  const isRare = createRarity(context);
  const changedFields = ({ own, row }: Displaced) =>
    Object.entries(row.cells).filter(
      ([field, cell]) => cell.kind !== 'empty' && !equalCells(cell, own[field] ?? emptyCell),
    );
  return (one) => {
    const changed = changedFields(one);
    for (const [field, cell] of changed) {
      const [candidate, ...others] = owners.get(nameOf(field, cell)) ?? [];
      if (!candidate || others.length > 0 || !isRare(field, candidate.each)) continue;
      const { id, own } = candidate.each;
      const shared = changed.filter(([name, value]) => equalCells(value, own[name] ?? emptyCell));
      const weight = shared.length + shared.filter(([name]) => shown.has(name)).length;
      if (weight >= sharedMin && changed.some(([name]) => !shown.has(name))) return id;
    }
    return undefined;
  };
}

/** Whether a record is the only one of its tab that has its value of the field. */
function createRarity({ agreements }: TabContext): (field: FieldName, owner: Displaced) => boolean {
  const counts = new Map<FieldName, Map<string, number>>();
  return (field, { id }) => {
    let ofField = counts.get(field);
    if (!ofField) {
      ofField = new Map();
      for (const { fields } of agreements.values()) {
        const value = JSON.stringify(fields[field]);
        ofField.set(value, (ofField.get(value) ?? 0) + 1);
      }
      counts.set(field, ofField);
    }
    return ofField.get(JSON.stringify(agreements.get(id)?.fields[field])) === 1;
  };
}
