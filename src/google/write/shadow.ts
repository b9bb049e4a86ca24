import { type Cell, emptyCell, isSpilled } from '../../sheet/port/cell.ts';
import { type TabKind, tabKinds } from '../../sheet/port/layout.ts';
import { area, rowRange } from '../a1.ts';
import type { Request, SheetsClient, Spreadsheet } from '../client.ts';
import { cellFields, type Grid, readGrids } from '../grid.ts';
import { mapKnown } from '../map-known.ts';
import { grow } from '../room.ts';
import type { TaggedSpreadsheet } from '../tabs.ts';
import { type Batch, keptRows, type PlannedStep, type Row, type Tabs } from './planned.ts';

/*
 * Google has no write that refuses to replace a value which changed since it was read. So every batch first copies the rows that it is
 * about to reach to a hidden tab of ours, in the same atomic request. What it keeps there says what the batch replaced and where, in its
 * reply or, should that get lost, at any later time; and from there it can be given back, with formulas and formats.
 *
 * The first column of the hidden tab names the write that a row belongs to; the copy begins in the second one.
 */

/** Its title as we make it. */
export const shadowTitle = 'crm-sheet-sync, please leave';

/** Used where the tab is missing in the middle of the work; `init` takes the next free id. */
const spareSheetId = 1_913_724_613;

/** Columns that people may add to a tab between our read and our write, and that are copied with the others. */
const spareColumns = 10;

/** The hidden tab, as it was last seen. */
export type Shadow = Pick<Grid, 'sheetId' | 'title' | 'rowCount' | 'columnCount'>;

/** The hidden tab that the spreadsheet's tag names, or that has its title, or that was made in the middle of the work and has another title now. */
export const findShadow = ({ link, grids }: TaggedSpreadsheet): Shadow | undefined =>
  grids.find(({ sheetId }) => sheetId === link?.shadow) ??
  grids.find(({ title }) => title === shadowTitle) ??
  grids.find(({ sheetId }) => sheetId === spareSheetId);

const newSize = { rowCount: 100, columnCount: 26 };
const newShadow: Shadow = { sheetId: spareSheetId, title: shadowTitle, ...newSize };

export const createShadow = (sheetId: number): Request => ({
  addSheet: { properties: { sheetId, title: shadowTitle, hidden: true, gridProperties: newSize } },
});

const headerRow = ({ from }: Pick<Batch, 'from'>, kind: TabKind): number => from + tabKinds.indexOf(kind);

/** What has to go before the writes of a batch, and where the reply is read. */
export interface KeepingRequests {
  readonly requests: readonly Request[];
  readonly ranges: readonly string[];
  /** The hidden tab as it is then. */
  readonly shadow: Shadow;
}

/**
 * Keeps the header rows of the tabs and the rows of the steps. What becomes of a copy of a hidden row no document says, and it may be refused
 * with all of the batch: unless it was found to be like others, nothing is kept of such a row but its mark, and the same goes for tabs whose
 * copies were refused.
 */
export function planKeeping(
  known: Shadow | undefined,
  batch: Batch,
  tabs: Tabs,
  steps: readonly PlannedStep[],
  uncopied: ReadonlySet<TabKind>,
): KeepingRequests {
  const shadow = known ?? newShadow;
  const headers = [...tabs].map(([kind, { sheetId }]): SourceRow => {
    return { position: 0, row: headerRow(batch, kind), sheetId, isCopied: !uncopied.has(kind) };
  });
  const keptAt = keptRows(batch);
  const rows = steps.flatMap((step): SourceRow[] => {
    const { entity, number, position } = step;
    const [tab, row, canCopy] = [tabs.get(entity), keptAt.get(number), !uncopied.has(entity)];
    // Where no filter hid anything, a mark alone says that the row was blank.
    if (!tab || row === undefined || (!canCopy && tab.hiddenRows.size === 0)) return [];
    return [{ position, row, sheetId: tab.sheetId, isCopied: canCopy && !tab.hiddenRows.has(position) }];
  });
  rows.sort((one, other) => one.row - other.row);
  const used = spans([...headers, ...rows].map(({ row }) => row));
  const height = Math.max(shadow.rowCount, ...used.map(({ end }) => end));
  const widths = [...tabs.values()].map(({ columnCount }) => columnCount + 1 + spareColumns);
  const width = Math.max(shadow.columnCount, ...widths);
  return {
    requests: [
      ...(known ? [] : [createShadow(shadow.sheetId)]),
      ...grow(shadow.sheetId, 'ROWS', height - shadow.rowCount),
      ...grow(shadow.sheetId, 'COLUMNS', width - shadow.columnCount),
      // An empty cell that is copied may leave what was there before.
      ...used.map(({ start, end }) => clearRows(shadow, start, end)),
      ...blocksOf(headers).map((block) => copyRows(block, shadow, 'PASTE_VALUES')),
      ...blocksOf(rows).flatMap((block) => [
        copyRows(block, shadow, 'PASTE_FORMULA'),
        copyRows(block, shadow, 'PASTE_FORMAT'),
      ]),
      ...used.map(({ start, end }) => markRows(shadow, start, end, batch.run)),
    ],
    ranges: used.map(({ start, end }) => rowRange(shadow.title, start, end)),
    shadow: { ...shadow, rowCount: height, columnCount: width },
  };
}

interface RowSpan {
  readonly start: number;
  /** The row behind the last one. */
  readonly end: number;
}

/** Rows that stand below each other, in one. */
export function spans(rows: readonly number[]): RowSpan[] {
  const joined: { start: number; end: number }[] = [];
  for (const row of rows.toSorted((one, other) => one - other)) {
    const last = joined.at(-1);
    if (last?.end === row) last.end += 1;
    else joined.push({ start: row, end: row + 1 });
  }
  return joined;
}

/** A row to be kept, and the row of the hidden tab for it. */
interface SourceRow {
  readonly position: number;
  readonly row: number;
  readonly sheetId: number;
  readonly isCopied: boolean;
}

/** Rows that follow each other, and the first row of the hidden tab for them. */
interface SourceRows extends RowSpan, Pick<SourceRow, 'row' | 'sheetId'> {}

/** From so many rows on a batch grows too large if each is copied alone. */
const joinedMin = 200;

/**
 * The rows to be copied. Those that follow each other on both sides are copied at once where they are many. One that a user filters away in
 * that moment may then be left out, and each below it be kept in the place of another.
 */
function blocksOf(rows: readonly SourceRow[]): SourceRows[] {
  const copied = rows.filter(({ isCopied }) => isCopied);
  const canJoin = copied.length >= joinedMin;
  const blocks: { row: number; sheetId: number; start: number; end: number }[] = [];
  for (const { position, row, sheetId } of copied) {
    const last = blocks.at(-1);
    const isNext =
      last?.sheetId === sheetId && last.end === position && last.row + last.end - last.start === row;
    if (last && isNext && canJoin) last.end += 1;
    else blocks.push({ row, sheetId, start: position, end: position + 1 });
  }
  return blocks;
}

const clearRows = ({ sheetId }: Shadow, start: number, end: number): Request => ({
  updateCells: { range: { sheetId, startRowIndex: start, endRowIndex: end }, fields: 'userEnteredValue' },
});

type PasteType = 'PASTE_VALUES' | 'PASTE_FORMULA' | 'PASTE_FORMAT';

/** The destination is one cell wide: all of the source is pasted, and nothing of it twice. */
function copyRows({ sheetId, start, end, row }: SourceRows, shadow: Shadow, pasteType: PasteType): Request {
  const source = { sheetId, startRowIndex: start, endRowIndex: end };
  const destination = area(shadow.sheetId, row, 1, end - start, 1);
  return { copyPaste: { source, destination, pasteType } };
}

const markRows = ({ sheetId }: Shadow, start: number, end: number, run: string): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: start, columnIndex: 0 },
    rows: Array.from({ length: end - start }, () => ({
      values: [{ userEnteredValue: { stringValue: run } }],
    })),
    fields: 'userEnteredValue',
  },
});

/** Where a cell is written. */
export interface CellPlace {
  readonly sheetId: number;
  readonly row: number;
  readonly column: number;
  /** Its column has a type in a table, which keeps its format as it is. */
  readonly hasType: boolean;
}

/** Copies a cell of a kept row, which was in `column` of its own tab, to another place: its formula or its format. */
export function copyBack(
  shadow: Shadow,
  { row, column }: Pick<CellPlace, 'row' | 'column'>,
  to: CellPlace,
  pasteType: PasteType,
): Request {
  const source = area(shadow.sheetId, row, column + 1, 1, 1);
  const destination = area(to.sheetId, to.row, to.column, 1, 1);
  return { copyPaste: { source, destination, pasteType } };
}

/** Field mask of what {@link readMarked} needs. */
export const keptFields = `sheets(properties.sheetId,data(startRow,startColumn,rowData.values(${cellFields})))`;

/** The header row of each tab and, by the numbers of the steps, the rows that they reached, as a write kept them. */
export interface KeptCells {
  readonly headers: ReadonlyMap<TabKind, Row>;
  readonly rows: ReadonlyMap<number, Row>;
}

/** What an array formula fills in is not copied with its cell: here the copy of one fills cells that were copied empty. */
const copied = (cell: Cell): Cell => (isSpilled(cell) ? emptyCell : cell);

/** The rows of the hidden tab that a run has marked as its own, by their places. */
export function readMarked({ sheetId }: Shadow, run: string, answer: Spreadsheet): ReadonlyMap<number, Row> {
  const own = new Map<number, Row>();
  const { rows = [] } = readGrids(answer).find((grid) => grid.sheetId === sheetId) ?? {};
  for (const [row, [mark, ...cells]] of rows.entries())
    if (mark?.kind === 'text' && mark.text === run) own.set(row, cells.map(copied));
  return own;
}

/** Asks for the rows that a run has marked, from its first one on to before `end`; there are none where the hidden tab ends before. */
export async function fetchMarked(
  client: SheetsClient,
  shadow: Shadow | undefined,
  { from, run }: Pick<Batch, 'from' | 'run'>,
  end: number,
): Promise<ReadonlyMap<number, Row>> {
  const last = Math.min(end, shadow?.rowCount ?? 0);
  if (!shadow || last <= from) return new Map();
  return readMarked(shadow, run, (await client.get(keptFields, [rowRange(shadow.title, from, last)])) ?? {});
}

/** What a batch kept, of the rows that it has marked. */
export function sortKept(batch: Batch, own: ReadonlyMap<number, Row>): KeptCells {
  const headers = tabKinds.map((kind) => [kind, headerRow(batch, kind)] as const);
  const cellsIn = (row: number) => own.get(row);
  return { headers: mapKnown(headers, cellsIn), rows: mapKnown(keptRows(batch), cellsIn) };
}
