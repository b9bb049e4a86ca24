import type { FieldName } from '../../src/core/value.ts';
import type { Operation } from './operation.ts';
import { isRecordId, type People, pick } from './people.ts';
import { type SeenRow, type TabView, typedFields } from './tab-view.ts';

/** Fewer values that change places are nobody's accident: a person may have put them there one by one. */
const tornMin = 3;

/**
 * Sorts some columns of some rows, or whole rows. What that tears apart is a mistake which the daemon has to notice; where it tears too
 * little to be noticed, the person sees it and takes it back at once.
 */
export function sortPart(people: People, tab: TabView, { which, what, how }: Operation): void {
  const width = tab.headers.length;
  const startRow = 1 + (which % 2);
  const endRow = (tab.rows.at(-1)?.position ?? 0) + 1;
  const startColumn = how % 4 === 0 ? 0 : what % width;
  const endColumn = how % 4 === 0 ? width : Math.min(width, startColumn + 1 + (how % 3));
  if (endRow - startRow < tornMin) return;
  const writable = people.writableRows(tab);
  // Where nothing of their own stands beside a row, people can not tell afterwards whose it is.
  const isClean = tab.rows.every(
    (row) =>
      row.owner !== '' &&
      writable.some((candidate) => candidate.row === row) &&
      (!isRecordId(row.id) || people.isAtRest(tab.entity, row)),
  );
  if (!isClean) return;
  const range = { startRow, endRow, startColumn, endColumn };
  const column = pick([startColumn, endColumn - 1], how) ?? startColumn;
  people.act({ kind: 'sort', sheet: tab.sheetId, column, descending: what % 2 === 0, range });
  if (endColumn - startColumn === width) return;
  const after = people.tab(tab.entity);
  if (!after) return;
  const owners = writable.map(({ owner }) => owner);
  people.noteTear(owners);
  const moved = typedFields[tab.entity].map((field) => countMoved(tab.rows, after.rows, field));
  if (Math.max(...moved) < tornMin) return people.takeBack();
  for (const owner of owners) people.torn.add(owner);
}

/** Values of records that now stand beside the ID of another record. */
function countMoved(before: readonly SeenRow[], after: readonly SeenRow[], field: FieldName): number {
  const ofRecords = new Map(
    before.flatMap(({ id, cells }) => (isRecordId(id) ? [[id, cells[field] ?? ''] as const] : [])),
  );
  const values = new Set([...ofRecords.values()].filter((value) => value !== ''));
  const moved = after.flatMap(({ id, cells }) => {
    const value = cells[field] ?? '';
    return values.has(value) && ofRecords.has(id) && ofRecords.get(id) !== value ? [value] : [];
  });
  return new Set(moved).size;
}
