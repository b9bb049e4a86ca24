import { formattedValue } from '../../src/sandbox/sheets/display/display.ts';
import { copyColumn, deleteColumn, insertColumn, moveColumn, renameHeader } from './column-people.ts';
import { isAlmostEmpty } from './crm-people.ts';
import { overwriteId, swapIds, typeBesideWrongId, wipeId } from './id-mistakes.ts';
import type { Operation, OperationKind } from './operation.ts';
import { formulaOf } from './own-cells.ts';
import { type People, pick } from './people.ts';
import { copyOverRow, copyRow, copyRows, cutRow, hideRows, moveRows } from './row-people.ts';
import {
  formulaHeader,
  ownerHeader,
  type SeenRow,
  type TabEntity,
  type TabView,
  tabEntities,
  typedFields,
} from './tab-view.ts';
import { sortPart } from './tears.ts';

type Deed = (people: People, tab: TabView, operation: Operation) => void;

/** What people do in the spreadsheet, by the name of the operation. */
const deeds: Partial<Record<OperationKind, Deed>> = {
  'type a cell': typeCell,
  'paste a block': pasteBlock,
  'clear a cell': clearCell,
  'sort a tab': (people, { sheetId }, { what, how }) => {
    people.act({
      kind: 'sort',
      sheet: sheetId,
      column: pick(['ID', 'Title', ownerHeader], what) ?? 'ID',
      descending: how % 2 === 0,
    });
  },
  'sort a part': sortPart,
  'insert a row': (people, { sheetId, rows }, { which }) => {
    people.act({ kind: 'insertRows', sheet: sheetId, row: 1 + (which % (rows.length + 1)), count: 1 });
  },
  'delete a row': deleteRow,
  'copy a row': copyRow,
  'retype a copy': retypeCopy,
  'copy over a row': copyOverRow,
  'copy several rows': copyRows,
  'cut a row': cutRow,
  'move a row': (people, tab, operation) => moveRows(people, tab, operation, 1),
  'move several rows': (people, tab, operation) => moveRows(people, tab, operation, 2 + (operation.how % 2)),
  'hide rows': hideRows,
  'fill down': fillDown,
  'move a column': moveColumn,
  'insert a column': insertColumn,
  'delete a column': deleteColumn,
  'copy a column': copyColumn,
  'rename a header': renameHeader,
  'rename a tab': (people, { sheetId, sheet }) => {
    people.act({ kind: 'renameTab', sheet: sheetId, title: `${sheet.title.replace(/ \(.*/, '')} (old)` });
  },
  'copy a tab': (people, { sheetId }) => {
    if (tabCopies(people).length === 0) people.act({ kind: 'duplicateTab', sheet: sheetId });
  },
  'wipe an ID': wipeId,
  'overwrite an ID': overwriteId,
  'swap two IDs': swapIds,
  'type beside a wrong ID': typeBesideWrongId,
  'type a new row': typeNewRow,
  'keep own notes': keepNotes,
};

export function workInSheet(people: People, operation: Operation): void {
  if (operation.kind === 'undo') return people.takeBack();
  if (operation.kind === 'redo') return people.redo();
  const entity: TabEntity = operation.which % 3 === 0 ? 'task' : 'lead';
  const tab = people.tab(entity);
  if (tab && tab.columnOf('ID') !== undefined)
    deeds[operation.kind]?.(people, tab, { ...operation, which: operation.which >> 2 });
}

export const statuses = ['New', 'Contacted', 'Qualified'];
export const priorities = ['Low', 'Medium', 'High'];

function typeCell(people: People, tab: TabView, { which, what, how }: Operation): void {
  const target = pick(people.writableRows(tab), which);
  if (!target) return;
  if (tab.entity === 'lead' && how % 8 === 0) return typeStatus(people, tab, target.row, what);
  const field = pick(typedFields[tab.entity], what) ?? 'title';
  const column = tab.columnOfField(field);
  if (column === undefined) return;
  const text = people.typeValue(target.owner, field);
  people.act({ kind: 'edit', sheet: tab.sheetId, row: target.row.position, column, text });
}

function typeStatus(people: People, tab: TabView, row: SeenRow, what: number): void {
  const column = tab.columnOfField('status_name');
  const text = pick([...statuses, ...statuses, 'nonsense'], what) ?? 'New';
  if (column !== undefined) people.act({ kind: 'edit', sheet: tab.sheetId, row: row.position, column, text });
}

/** Two neighbouring columns over some rows that stand below each other. */
function pasteBlock(people: People, tab: TabView, { which, what, how }: Operation): void {
  const fields = new Map(typedFields[tab.entity].map((field) => [tab.columnOfField(field), field]));
  const starts = [...fields.keys()].filter((column) => column !== undefined);
  const start = pick(starts, what);
  const writable = new Map(people.writableRows(tab).map(({ row, owner }) => [row.position, owner]));
  const first = pick([...writable.keys()], which);
  if (start === undefined || first === undefined) return;
  const columns = [start, start + 1].filter((column) => fields.has(column));
  const rows: string[][] = [];
  for (let row = first; row < first + 2 + (how % 2) && writable.has(row); row += 1) {
    rows.push(
      columns.map((column) => people.typeValue(writable.get(row) ?? '', fields.get(column) ?? 'title')),
    );
  }
  people.act({ kind: 'paste', sheet: tab.sheetId, row: first, column: start, rows });
}

function clearCell(people: People, tab: TabView, { which, what }: Operation): void {
  const target = pick(people.writableRows(tab), which);
  const column = tab.columnOfField(pick(typedFields[tab.entity], what) ?? 'title');
  if (target && column !== undefined)
    people.act({ kind: 'edit', sheet: tab.sheetId, row: target.row.position, column, text: '' });
}

/** One status into the rows below it. */
function fillDown(people: People, tab: TabView, { which, what }: Operation): void {
  const column = tab.columnOf('Status');
  const first = pick(tab.rows, which)?.position;
  if (column === undefined || first === undefined) return;
  const last = Math.min(first + 1 + (what % 3), tab.rows.at(-1)?.position ?? first);
  const range = { startRow: first, endRow: last + 1, startColumn: column, endColumn: column + 1 };
  if (last > first) people.act({ kind: 'fillDown', sheet: tab.sheetId, range });
}

function deleteRow(people: People, tab: TabView, { which }: Operation): void {
  const target = pick(people.writableRows(tab), which);
  if (!target || isAlmostEmpty(people, tab.entity)) return;
  people.deleted.add(target.owner);
  people.act({ kind: 'deleteRows', sheet: tab.sheetId, row: target.row.position, count: 1 });
}

/** Makes one of two equal rows the row of somebody new, and forgets the ID. */
function retypeCopy(people: People, tab: TabView, { which, what }: Operation): void {
  const groups = Map.groupBy(
    tab.rows.filter((row) => row.owner !== ''),
    ({ owner }) => owner,
  );
  const twins = pick(
    [...groups.values()].filter((rows) => rows.length > 1),
    which,
  );
  // Of two equal rows nobody can tell which is the copy, before it is said beside it.
  const marked = twins?.filter(({ sync }) => sync.startsWith('Held: This row is a copy')) ?? [];
  const row = pick(marked, what);
  // Of a column that is not there now, or twice, nobody can tell what it says of the row.
  const isWhole = typedFields[tab.entity].every((field) => tab.columnOfField(field) !== undefined);
  if (!row || !isWhole || people.torn.has(row.owner)) return;
  fillRow(people, tab, row.position, people.claims.newOwner());
}

/** Types a whole row for the owner, own columns included. */
export function fillRow(people: People, tab: TabView, position: number, owner: string): void {
  const type = (column: number | undefined, text: () => string) =>
    column === undefined
      ? []
      : [{ kind: 'edit' as const, sheet: tab.sheetId, row: position, column, text: text() }];
  people.act(
    ...typedFields[tab.entity].flatMap((field) =>
      type(tab.columnOfField(field), () => people.typeValue(owner, field)),
    ),
    ...type(tab.columnOf(ownerHeader), () => ownerText(people, owner)),
    ...type(tab.columnOf(formulaHeader), () => formulaOf(owner)),
  );
}

function typeNewRow(people: People, tab: TabView): void {
  const last = tab.rows.at(-1)?.position ?? 0;
  fillRow(people, tab, last + 1, people.claims.newOwner());
}

/** What people put into the column that says whose a row is. */
export const ownerText = ({ stage }: People, owner: string): string =>
  stage.hasRule ? `="${owner}"` : owner;

/** Fills the own columns of rows that the daemon added. */
export function keepNotes(people: People, tab: TabView): void {
  const [mine, sum] = [tab.columnOf(ownerHeader), tab.columnOf(formulaHeader)];
  if (mine === undefined || sum === undefined) return;
  const isMending = people.stage.link.mirror.readOpenWrites().length > 0;
  for (const { row, owner } of people.writableRows(tab)) {
    const cells = [mine, sum].map((column) => tab.sheet.rows[row.position]?.[column]);
    // What stands there is theirs, or what a write put there by mistake: that is not for them to mend, unless it is forgotten.
    const isLeft = (cell: (typeof cells)[number]) => isMending || !people.claims.of(formattedValue(cell));
    if (cells.some((cell) => cell?.userEnteredValue && isLeft(cell))) continue;
    people.act(
      { kind: 'edit', sheet: tab.sheetId, row: row.position, column: mine, text: ownerText(people, owner) },
      { kind: 'edit', sheet: tab.sheetId, row: row.position, column: sum, text: formulaOf(owner) },
    );
  }
}

/** Tabs that somebody copied: nobody works there. */
export const tabCopies = ({ stage }: People) =>
  stage.spreadsheet.current().sheets.filter(({ title }) => title.startsWith('Copy of'));

export const allTabs = (people: People): TabView[] =>
  tabEntities.flatMap((entity) => people.tab(entity) ?? []);
