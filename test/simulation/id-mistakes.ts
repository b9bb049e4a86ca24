import type { Operation } from './operation.ts';
import { isRecordId, type People, pick, type WritableRow } from './people.ts';
import type { TabView } from './tab-view.ts';

/** Rows of records in which nothing else is on its way. */
const restingRows = (people: People, tab: TabView): WritableRow[] =>
  people
    .writableRows(tab)
    .filter(({ row }) => row.owner !== '' && isRecordId(row.id) && people.isAtRest(tab.entity, row));

function typeIds(
  people: People,
  { columnOf, sheetId }: TabView,
  texts: readonly (readonly [WritableRow, string])[],
): void {
  const column = columnOf('ID');
  if (column === undefined) return;
  for (const [{ owner }] of texts) people.astray.add(owner);
  people.act(
    ...texts.map(([{ row }, text]) => ({
      kind: 'edit' as const,
      sheet: sheetId,
      row: row.position,
      column,
      text,
    })),
  );
}

/** By mistake, as all that follows. */
export function wipeId(people: People, tab: TabView, { which }: Operation): void {
  const target = pick(restingRows(people, tab), which);
  if (target) typeIds(people, tab, [[target, '']]);
}

/** With the ID of another row, with one that no record has, or with what is none. */
export function overwriteId(people: People, tab: TabView, { which, what, how }: Operation): void {
  const rows = restingRows(people, tab);
  const target = pick(rows, which);
  const other = pick(rows, what);
  const text = pick([other?.row.id ?? '', '77', 'see below'], how) ?? '';
  if (target && other !== target) typeIds(people, tab, [[target, text]]);
}

export function swapIds(people: People, tab: TabView, { which, what }: Operation): void {
  const rows = restingRows(people, tab);
  const [one, other] = [pick(rows, which), pick(rows, what)];
  if (!one || !other || one === other) return;
  typeIds(people, tab, [
    [one, other.row.id],
    [other, one.row.id],
  ]);
}
