import type { Operation } from './operation.ts';
import { isRecordId, type People, pick, type WritableRow } from './people.ts';
import type { TabView } from './tab-view.ts';

/**
 * Rows with an ID whose title still tells whose they are, whatever else was edited there: from less nobody could tell, a person neither.
 * With a token that is the title which was sent. Of a row that a write without a reply is about, both
 * might tell it. A token that the daemon asks to clear is cleared on purpose.
 */
const tellingRows = (people: People, { entity, ...tab }: TabView): WritableRow[] => {
  const { mirror } = people.stage.link;
  const ids = mirror
    .readOpenWrites()
    .flatMap(({ confirms }) => confirms.flatMap(([, { key }]) => (key?.entity === entity ? [key.id] : [])));
  const mayComeAgain = new Set(ids);
  return people.writableRows({ entity, ...tab }).filter(({ row }) => {
    const key = { entity, id: row.id };
    const known = isRecordId(row.id) ? mirror.findAgreement(key) : mirror.findOutboxItem(key);
    const isTold = known?.fields['title'] === row.cells['title'] && !mayComeAgain.has(row.id);
    const isAsked = row.sync.includes('clear the token');
    return row.owner !== '' && row.id !== '' && isTold && !isAsked;
  });
};

/** Those of records, in which nothing else is on its way. */
const restingRows = (people: People, tab: TabView): WritableRow[] =>
  tellingRows(people, tab).filter(({ row }) => people.isAtRest(tab.entity, row));

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
  const target = pick(tellingRows(people, tab), which);
  if (target) typeIds(people, tab, [[target, '']]);
}

/** With the ID of another row, with one that no record has, or with what is none. */
export function overwriteId(people: People, tab: TabView, { which, what, how }: Operation): void {
  const rows = tellingRows(people, tab).filter(({ row }) => isRecordId(row.id));
  const target = pick(rows, which);
  const other = pick(rows, what);
  const text = pick([other?.row.id ?? '', '77', 'see below'], how) ?? '';
  if (target && other !== target) typeIds(people, tab, [[target, text]]);
}

export function swapIds(people: People, tab: TabView, { which, what }: Operation): void {
  const one = pick(
    tellingRows(people, tab).filter(({ row }) => isRecordId(row.id)),
    which,
  );
  const other = pick(restingRows(people, tab), what);
  if (!one || !other || one.owner === other.owner) return;
  typeIds(people, tab, [
    [one, other.row.id],
    [other, one.row.id],
  ]);
}

/** Somebody who has not seen what became of the ID edits the row. Of tasks too little would be left to tell whose row it is. */
export function typeBesideWrongId(people: People, tab: TabView, { which }: Operation): void {
  const field = 'custom.city';
  const column = tab.columnOfField(field);
  const rows = tab.rows.filter(
    ({ id, owner }) => people.astray.has(owner) && people.recordOf(tab.entity, owner) !== id,
  );
  const row = pick(rows, which);
  if (column === undefined || !row || people.torn.has(row.owner)) return;
  const text = people.typeValue(row.owner, field);
  people.act({ kind: 'edit', sheet: tab.sheetId, row: row.position, column, text });
}
