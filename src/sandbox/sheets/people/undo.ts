import { isDeepStrictEqual } from 'node:util';
import { deleteLines, insertLines, linePropertiesOf, moveLines } from '../grid/dimensions.ts';
import { followMoves, type LineMove, type Place } from '../grid/line-moves.ts';
import { orderRows } from '../grid/ranges.ts';
import {
  type Dimension,
  draftOf,
  OVERLAY_LISTS,
  type Sheet,
  type Spreadsheet,
  setCell,
  sizeOf,
} from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';

/** A spreadsheet before and after something a person did; both share what did not change. */
export interface DoneStep {
  before: Spreadsheet;
  after: Spreadsheet;
}

/**
 * Takes a person's step back, wherever its rows and columns stand by now, and leaves alone what others wrote since:
 * inserted lines go, deleted lines come back with all they held, moved and sorted ones go back to their places, changed
 * cells get their old content, tabs go, come back or get their old title. Taking back what this did is redoing.
 * @throws GoogleError 400 in words for the person when others took apart what would have to be put back.
 */
export function takeBack(current: Spreadsheet, { before, after }: DoneStep): Spreadsheet {
  const draft = draftOf(current);
  undoTabs(draft, before, after);
  for (const changed of after.sheets) {
    const old = before.sheets.find(({ sheetId }) => sheetId === changed.sheetId);
    const sheet = draft.sheets.find(({ sheetId }) => sheetId === changed.sheetId);
    if (old && sheet) undoOnTab({ draft, sheet, old, changed, before });
  }
  return draft;
}

function undoTabs(draft: Spreadsheet, before: Spreadsheet, after: Spreadsheet): void {
  const find = ({ sheets }: Spreadsheet, id: number) => sheets.find(({ sheetId }) => sheetId === id);
  draft.sheets = draft.sheets.filter(({ sheetId }) => find(before, sheetId) || !find(after, sheetId));
  if (draft.sheets.length === 0) throw invalidArgument("You can't remove all the sheets in a document.");
  for (const [index, old] of before.sheets.entries()) {
    const [changed, sheet] = [find(after, old.sheetId), find(draft, old.sheetId)];
    if (!changed) {
      draft.sheets.splice(index, 0, old);
      draft.developerMetadata.push(...before.developerMetadata.filter((tag) => tag.sheetId === old.sheetId));
    } else if (sheet && changed.title !== old.title) sheet.title = old.title;
  }
}

/** A tab of the draft and how it was before and after the action. */
interface Undoing {
  draft: Spreadsheet;
  sheet: Sheet;
  old: Sheet;
  changed: Sheet;
  before: Spreadsheet;
}

function undoOnTab(undoing: Undoing): void {
  const { sheet, old, changed } = undoing;
  const since = sheet.moves.slice(changed.moves.length);
  const [made] = changed.moves.slice(old.moves.length);
  if (!made) {
    restoreCells(undoing, since);
    restoreProperties(undoing, since);
  } else if (made.kind === 'sort') sortBack(undoing, made, since);
  else if (made.kind === 'move') moveBack(undoing, made, since);
  else if (made.kind === 'delete') bringBack(undoing, made, since);
  else takeOut(undoing, made, since);
}

/** Gives every cell the action changed its old content. */
function restoreCells({ sheet, old, changed }: Undoing, since: readonly LineMove[]): void {
  for (const [row, cells] of changed.rows.entries()) {
    const oldCells = old.rows[row] ?? [];
    if (cells === oldCells) continue;
    const width = Math.max(cells.length, oldCells.length);
    for (let column = 0; column < width; column += 1) {
      if (cells[column] !== oldCells[column]) putBack(sheet, { row, column }, since, oldCells[column]);
    }
  }
}

function putBack(sheet: Sheet, place: Place, since: readonly LineMove[], cell: Sheet['rows'][0][0]): void {
  const { row, column } = followMoves(place, since) ?? {};
  if (row !== undefined && column !== undefined) setCell(sheet, row, column, cell);
}

/** Hidden lines show again and filters end, or the other way round. */
function restoreProperties({ sheet, old, changed }: Undoing, since: readonly LineMove[]): void {
  if (!isDeepStrictEqual(old.basicFilter, changed.basicFilter)) sheet.basicFilter = [...old.basicFilter];
  for (const dimension of ['ROWS', 'COLUMNS'] as const) {
    const [list, oldList] = [linePropertiesOf(sheet, dimension), linePropertiesOf(old, dimension)];
    for (const [line, properties] of linePropertiesOf(changed, dimension).entries()) {
      if (properties === oldList[line]) continue;
      const index = lineNow(dimension, line, since);
      if (index !== undefined) list[index] = oldList[line];
    }
  }
}

function lineNow(dimension: Dimension, line: number, since: readonly LineMove[]): number | undefined {
  return dimension === 'ROWS'
    ? followMoves({ row: line }, since)?.row
    : followMoves({ column: line }, since)?.column;
}

type MoveOf<Kind extends LineMove['kind']> = Extract<LineMove, { kind: Kind }>;

type Run = MoveOf<'insert' | 'restore' | 'delete'>;

const SCATTERED = 'Others moved rows or columns apart since, so this cannot be taken back.';

function takeOut({ draft, sheet }: Undoing, { dimension, start, count }: Run, since: readonly LineMove[]) {
  const lines = Array.from({ length: count }, (_, offset) => lineNow(dimension, start + offset, since));
  const standing = lines.filter((line) => line !== undefined);
  const first = standing[0];
  if (first === undefined) return;
  if (standing.some((line, offset) => line !== first + offset)) throw invalidArgument(SCATTERED);
  deleteLines(draft, sheet, { dimension, start: first, count: standing.length });
}

/** Deleted lines come back before the line they stood before, with their cells, tags and what spanned them. */
function bringBack(undoing: Undoing, made: Run, since: readonly LineMove[]): void {
  const { draft, sheet, old, changed, before } = undoing;
  const { dimension, start, count } = made;
  const restores = since.length === 0 && overlaysToRestore(sheet, old, changed);
  const place = edgeNow(dimension, start, since);
  insertLines(draft, sheet, { dimension, start: place, count }, made);
  const isTaken = (index: number | undefined) =>
    index !== undefined && index >= start && index < start + count;
  const all = sheet.moves.slice(old.moves.length);
  for (const [row, cells] of old.rows.entries()) {
    for (const [column, cell] of cells.entries()) {
      if (cell && isTaken(dimension === 'ROWS' ? row : column)) putBack(sheet, { row, column }, all, cell);
    }
  }
  const properties = linePropertiesOf(old, dimension).slice(start, start + count);
  linePropertiesOf(sheet, dimension).splice(place, count, ...properties);
  Object.assign(sheet, restores || {});
  for (const tag of before.developerMetadata) {
    const { sheetId, line, metadataId } = tag;
    const isLost = !draft.developerMetadata.some((other) => other.metadataId === metadataId);
    if (sheetId !== sheet.sheetId || line?.dimension !== dimension || !isTaken(line.index) || !isLost)
      continue;
    draft.developerMetadata.push({ ...tag, line: { dimension, index: place + line.index - start } });
  }
}

/** What lay over deleted lines shrank with them; it gets its old size back where nobody changed it since. */
function overlaysToRestore(sheet: Sheet, old: Sheet, changed: Sheet): Partial<Sheet> {
  const parts = [...OVERLAY_LISTS, 'gridProperties'] as const;
  const untouched = parts.filter((part) => isDeepStrictEqual(sheet[part], changed[part]));
  return Object.fromEntries(untouched.map((part) => [part, structuredClone(old[part])]));
}

/** Where the place before a line is now; when that line is gone, the place behind the one in front of it. */
const edgeNow = (dimension: Dimension, edge: number, since: readonly LineMove[]): number =>
  lineNow(dimension, edge, since) ?? behindNow(dimension, edge - 1, since);

/** Where the place behind a line is now; of a line that is gone, behind the nearest one in front of it that is there. */
function behindNow(dimension: Dimension, line: number, since: readonly LineMove[]): number {
  for (let above = line; above >= 0; above -= 1) {
    const now = lineNow(dimension, above, since);
    if (now !== undefined) return now + 1;
  }
  return 0;
}

/** Rows that are gone by now leave their places to the others. */
function sortBack({ draft, sheet }: Undoing, made: MoveOf<'sort'>, since: readonly LineMove[]): void {
  const column = made.columns && { column: made.columns.from };
  const formerly = made.order.map((index, offset) => {
    const now = followMoves({ row: made.start + offset, ...column }, since)?.row;
    return now === undefined ? [] : { index, now };
  });
  const contents = formerly
    .flat()
    .toSorted((one, other) => one.index - other.index)
    .map(({ now }) => now);
  const places = contents.toSorted((one, other) => one - other);
  const [top = 0, bottom = -1] = [places[0], places.at(-1)];
  const order = Array.from({ length: bottom - top + 1 }, (_, offset) => top + offset);
  for (const [index, place] of places.entries()) order[place - top] = contents[index] ?? place;
  const { from = 0, to = sizeOf(sheet).columnCount } = made.columns ?? {};
  orderRows(draft, sheet, { startRow: top, endRow: bottom + 1, startColumn: from, endColumn: to }, order);
}

/** A move lets two neighbouring runs of lines change places; the first of them goes behind the second again. */
function moveBack(
  { draft, sheet }: Undoing,
  { dimension, order }: MoveOf<'move'>,
  since: readonly LineMove[],
) {
  const start = order.findIndex((index, position) => index !== position);
  if (start < 0) return;
  const count = order.indexOf(start) - start;
  const lines = Array.from({ length: count }, (_, offset) => lineNow(dimension, start + offset, since));
  const [first] = lines;
  if (first === undefined || lines.some((line, offset) => line !== first + offset)) {
    throw invalidArgument(SCATTERED);
  }
  const last = order.findLastIndex((index, position) => index !== position);
  moveLines(draft, sheet, { dimension, start: first, count }, behindNow(dimension, last, since));
}
