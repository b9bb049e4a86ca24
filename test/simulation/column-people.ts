import type { Hold } from '../../src/core/waiting/waiting.ts';
import type { Operation } from './operation.ts';
import { type People, pick } from './people.ts';
import { type TabView, typedFields } from './tab-view.ts';

const columnsMax = 16;

export function moveColumn(people: People, { sheetId, headers }: TabView, { which, what }: Operation): void {
  const [column, to] = [which % headers.length, what % headers.length];
  people.act({ kind: 'moveColumns', sheet: sheetId, column, count: 1, to });
}

export function insertColumn(people: People, { sheetId, headers }: TabView, { which }: Operation): void {
  if (headers.length < columnsMax)
    people.act({ kind: 'insertColumns', sheet: sheetId, column: which % headers.length, count: 1 });
}

/** A column that people type into, but not the one that every record needs. */
const pickColumn = (tab: TabView, which: number): number | undefined =>
  tab.columnOfField(pick(typedFields[tab.entity].slice(1), which) ?? '');

export function deleteColumn(people: People, tab: TabView, { which }: Operation): void {
  const column = pickColumn(tab, which);
  if (column !== undefined) people.act({ kind: 'deleteColumns', sheet: tab.sheetId, column, count: 1 });
}

/** Beside itself, with its header. */
export function copyColumn(people: People, tab: TabView, { which }: Operation): void {
  const { headers, sheet, sheetId } = tab;
  const column = pickColumn(tab, which);
  if (column === undefined || headers.length >= columnsMax) return;
  const whole = (startColumn: number) => ({
    startRow: 0,
    endRow: sheet.rows.length,
    startColumn,
    endColumn: startColumn + 1,
  });
  people.act(
    { kind: 'insertColumns', sheet: sheetId, column: column + 1, count: 1 },
    {
      kind: 'pasteCells',
      sheet: sheetId,
      range: whole(column + 1),
      source: { sheet: sheetId, range: whole(column) },
    },
  );
}

export function renameHeader(people: People, tab: TabView, { which, what }: Operation): void {
  const column = pickColumn(tab, which);
  if (column === undefined || what % 2 === 0) return;
  people.act({ kind: 'renameHeader', sheet: tab.sheetId, column, text: `${tab.headers[column]} (mine)` });
}

/**
 * A copy of a column that was deleted after the mirror that knew of it was lost: the daemon leaves it alone and offers a new one. The copy loses
 * its header, so that the new one is begun, into which goes what only the copy has.
 */
export function giveUpNamesake(people: People, tab: TabView, holds: readonly Hold[]): void {
  for (const { entity, isOffer, reason } of holds) {
    const [, header = ''] = /the CRM's field “(.+?)”\. Column \w+ is called so/.exec(reason) ?? [];
    const column = tab.columnOf(header);
    if (!isOffer || entity !== tab.entity || column === undefined) continue;
    people.act({ kind: 'renameHeader', sheet: tab.sheetId, column, text: '' });
    people.hasUncalled = true;
  }
}

/** Headers that somebody renamed get their names back; of a column that stands twice one goes, and one that is gone is begun anew. */
export function restoreHeaders(people: People, tab: TabView, wanted: readonly string[]): void {
  const { headers, sheetId: sheet } = tab;
  for (const header of wanted) {
    const [found, renamed] = [headers.indexOf(header), headers.indexOf(`${header} (mine)`)];
    const twin = headers.lastIndexOf(header);
    // One at a time, because the others move by it.
    if (twin !== found)
      return void people.act({
        kind: 'deleteColumns',
        sheet,
        column: pick([found, twin], twin) ?? twin,
        count: 1,
      });
    if (found >= 0) continue;
    const free = headers.findLastIndex((text) => text !== '') + 1;
    const column = renamed >= 0 ? renamed : free;
    return void people.act({ kind: 'renameHeader', sheet, column, text: header });
  }
}
