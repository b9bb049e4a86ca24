import { isAlmostEmpty } from './crm-people.ts';
import type { Operation } from './operation.ts';
import { isRecordId, type People, pick, type WritableRow } from './people.ts';
import type { TabView } from './tab-view.ts';

/**
 * Of two rows with one owner nobody can tell which is the copy until it is said beside it, so only what is told apart is copied; a copy of a
 * new row is another new row.
 */
const copyableRows = (people: People, tab: TabView): WritableRow[] =>
  people
    .writableRows(tab)
    .filter(
      ({ row, owner }) => isRecordId(row.id) && people.recordOf(tab.entity, row.owner && owner) !== undefined,
    );

const place = ({ rows }: TabView, what: number): number => 1 + (what % (rows.length + 1));

const wholeRows = ({ headers }: TabView, startRow: number, count: number) => ({
  startRow,
  endRow: startRow + count,
  startColumn: 0,
  endColumn: headers.length,
});

/** By mistake or as a form to fill. */
export function copyRow(people: People, tab: TabView, { which, what }: Operation): void {
  const row = pick(copyableRows(people, tab), which)?.row.position;
  if (row !== undefined)
    people.act({ kind: 'copyRow', sheet: tab.sheetId, row, to: place(tab, what), inserts: true });
}

/** What stood in the other row is gone by it, its ID too. */
export function copyOverRow(people: People, tab: TabView, { which, what }: Operation): void {
  const source = pick(copyableRows(people, tab), which);
  const target = pick(people.writableRows(tab), what);
  if (!source || !target || source.owner === target.owner || isAlmostEmpty(people, tab.entity)) return;
  people.deleted.add(target.owner);
  const [row, to] = [source.row.position, target.row.position];
  people.act({ kind: 'copyRow', sheet: tab.sheetId, row, to });
}

export function copyRows(people: People, tab: TabView, { which, what }: Operation): void {
  const positions = new Set(copyableRows(people, tab).map(({ row }) => row.position));
  const firsts = [...positions].filter((position) => positions.has(position + 1));
  const first = pick(firsts, which);
  if (first === undefined) return;
  const count = positions.has(first + 2) ? 3 : 2;
  const to = (tab.rows.at(-1)?.position ?? 0) + 1 + (what % 2);
  people.act({
    kind: 'pasteCells',
    sheet: tab.sheetId,
    range: wholeRows(tab, to, count),
    source: { sheet: tab.sheetId, range: wholeRows(tab, first, count) },
  });
}

/** Its cells go below all others; the row itself stays where it is, blank. */
export function cutRow(people: People, tab: TabView, { which }: Operation): void {
  const row = pick(tab.rows, which)?.position;
  const to = (tab.rows.at(-1)?.position ?? 0) + 1;
  if (row === undefined) return;
  people.act({
    kind: 'pasteCells',
    sheet: tab.sheetId,
    range: wholeRows(tab, to, 1),
    source: { sheet: tab.sheetId, range: wholeRows(tab, row, 1) },
    cut: true,
  });
}

export function moveRows(people: People, tab: TabView, { which, what }: Operation, count: number): void {
  const row = pick(tab.rows, which)?.position;
  if (row !== undefined)
    people.act({ kind: 'moveRows', sheet: tab.sheetId, row, count, to: place(tab, what) });
}

/** By hand, with a filter over some status, or not any more. */
export function hideRows(people: People, tab: TabView, { which, how }: Operation): void {
  const { sheetId: sheet } = tab;
  const [row, status] = [pick(tab.rows, which)?.position, tab.columnOf('Status')];
  if (how % 3 === 0) people.act({ kind: 'showAll', sheet });
  else if (how % 3 === 1 && status !== undefined)
    people.act({ kind: 'filter', sheet, column: status, shown: ['New'] });
  else if (row !== undefined) people.act({ kind: 'hideRows', sheet, row, count: 1 });
}
