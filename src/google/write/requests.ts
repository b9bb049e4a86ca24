import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { FieldKind } from '../../core/fields/field-kind.ts';
import { type Cell, emptyCell, isComputed, isShownAsPercent } from '../../sheet/port/cell.ts';
import { isShownAsMoment, isShownWithoutDay } from '../../sheet/port/shown-number.ts';
import { area } from '../a1.ts';
import type { Request } from '../client.ts';
import { dateFormats, listRule, setRule } from '../dress.ts';
import { endsTable, isTyped } from '../grid.ts';
import { type BoundTab, endOfRows } from '../read.ts';
import { grow } from '../room.ts';
import { type PlacedCell, type PlannedStep, rowsAfter, type TabSteps } from './planned.ts';
import { type CellPlace, copyBack, type Shadow, spans } from './shadow.ts';

/** A rectangle of cells that one request writes. */
interface Block {
  readonly row: number;
  readonly column: number;
  /** Whether number formats are written with the values. */
  readonly isFormatted: boolean;
  readonly rows: sheets_v4.Schema$CellData[][];
}

/**
 * The requests of one tab, to be applied in one batch. New rows are inserted below the last used row and not
 * written over the blank ones there: what a person types there in the same moment moves down and stays.
 */
export function tabRequests(tab: BoundTab, { sets, appends, deletes }: TabSteps, shadow?: Shadow): Request[] {
  const end = endOfRows(tab.rows, tab.columns);
  // New rows are of the table in whose rows they are inserted, or at whose end, in which the records are.
  const joinsTable = tab.tableGrowth !== 'never' && endsTable(tab.tables, end, tab.columns.id);
  const place = joinsTable || tab.tableGrowth === 'always' ? end - 1 : end;
  const isTypedAt: IsTypedAt = (row, column) => isTyped(tab.typed, Math.min(row, place), column);
  const placed: readonly PlacedStep[] = [
    ...sets.map((step) => ({ ...step, row: step.position, before: tab.rows[step.position] })),
    ...appends.map((step, index) => ({ ...step, row: end + index })),
  ];
  const given = placed.filter(({ restores }) => restores);
  const blocks = placed.flatMap((step) =>
    step.restores ? [] : joinCells(isTypedAt, step.row, step.placed, step.before),
  );
  return [
    ...makeRoom(tab, end, appends.length, joinsTable),
    ...joinRows(blocks).map((block) => updateRequest(tab.sheetId, block)),
    ...placed.flatMap(({ choices, row }) =>
      choices ? [setRule(tab.sheetId, choices.column, listRule(choices.labels), row)] : [],
    ),
    ...given.flatMap((step) => giveBack(tab, step, isTypedAt, shadow)),
    ...deleteRequests(tab, appends.length, deletes),
  ];
}

/** A step to a row, and what was there. */
interface PlacedStep extends PlannedStep {
  readonly row: number;
  readonly before?: readonly Cell[] | undefined;
}

/** Whether a cell is of a column that has a type, and takes no format. */
type IsTypedAt = (row: number, column: number) => boolean;

/** Gives back the cells of a step that restores, from the hidden tab where there is one and Google takes copies. */
function giveBack(
  { hiddenRows, sheetId }: BoundTab,
  { kind, placed, row }: PlacedStep,
  isTypedAt: IsTypedAt,
  shadow: Shadow | undefined,
): Request[] {
  // A copy into a row that a filter hides would land in the next one that it shows.
  const source = kind === 'set' && hiddenRows.has(row) ? undefined : shadow;
  return placed.flatMap((cell) => {
    const to = { sheetId, row, column: cell.column, hasType: isTypedAt(row, cell.column) };
    const copy = (type: 'PASTE_FORMULA' | 'PASTE_FORMAT') =>
      source && cell.from ? [copyBack(source, cell.from, to, type)] : [];
    return [
      // An empty cell that is copied may leave what is there.
      clearCell(to),
      // A value is not copied: a user may filter the tab at this moment.
      ...(isComputed(cell.cell) ? copy('PASTE_FORMULA') : writeWanted(to, cell)),
      ...(to.hasType ? [] : copy('PASTE_FORMAT')),
    ];
  });
}

/** A value in its cell. */
const writeWanted = ({ sheetId, row, hasType }: CellPlace, placed: PlacedCell): Request[] =>
  placed.cell.kind === 'empty'
    ? []
    : joinCells(() => hasType, row, [placed]).map((block) => updateRequest(sheetId, block));

const clearCell = ({ sheetId, row, column, hasType }: CellPlace): Request => ({
  updateCells: {
    range: area(sheetId, row, column, 1, 1),
    fields: hasType ? 'userEnteredValue' : 'userEnteredValue,userEnteredFormat.numberFormat',
  },
});

/**
 * New rows are inserted also where a full tab ends: they push down a row that a user adds there at this moment. They take their look
 * from the blank row below. Where there is none, they take it from the row above; at the end of a table as well, because else they would
 * not be of the table.
 */
function makeRoom(
  { rowCount, sheetId }: BoundTab,
  end: number,
  length: number,
  joinsTable: boolean,
): Request[] {
  if (length === 0) return [];
  const inheritFromBefore = joinsTable || end >= rowCount;
  const range = { sheetId, dimension: 'ROWS', startIndex: end, endIndex: end + length };
  return [{ insertDimension: { range, inheritFromBefore } }];
}

/**
 * Whether the format of a cell would, or might, show a number of this kind as something else. One that a person chose for it stays. How
 * an empty cell shows numbers nobody knows: as a percentage a 1 would read as 100.
 */
function misleads(before: Cell, kind: FieldKind | undefined): boolean {
  switch (kind) {
    case 'integer':
      return before.kind !== 'number' || isShownAsPercent(before) || isShownAsMoment(before);
    case 'number':
      return isShownAsMoment(before);
    case 'date':
    case 'instant':
      return before.kind !== 'number' || isShownWithoutDay(before);
    default:
      return false;
  }
}

/** Adjacent cells of a row as one block; `before` is what was in the row. */
function joinCells(
  isTypedAt: IsTypedAt,
  row: number,
  cells: readonly PlacedCell[],
  before: readonly Cell[] = [],
): Block[] {
  const blocks: Block[] = [];
  for (const { cell, column, kind } of cells) {
    const isMisled = cell.kind === 'number' && misleads(before[column] ?? emptyCell, kind);
    const isFormatted = isMisled && !isTypedAt(row, column);
    // Any other number may be in the format that a cell has when nobody has chosen one. There alone a percentage that is typed over it shows
    // as one: in the format of a number 100% is a 1.
    const numberFormat = isFormatted && kind ? dateFormats[kind] : undefined;
    const written = { ...enteredValue(cell), ...(numberFormat && { userEnteredFormat: { numberFormat } }) };
    const last = blocks.at(-1);
    const next = last && last.column + (last.rows[0]?.length ?? 0);
    if (last?.isFormatted === isFormatted && next === column) last.rows[0]?.push(written);
    else blocks.push({ row, column, isFormatted, rows: [[written]] });
  }
  return blocks;
}

/**
 * Blocks of equal width that stand below each other become one, so that a thousand new rows are few requests.
 */
function joinRows(blocks: readonly Block[]): Block[] {
  const open = new Map<string, Block>();
  const joined: Block[] = [];
  for (const block of blocks) {
    const shape = `${block.column} ${block.rows[0]?.length} ${block.isFormatted}`;
    const above = open.get(shape);
    if (above && above.row + above.rows.length === block.row) above.rows.push(...block.rows);
    else {
      open.set(shape, block);
      joined.push(block);
    }
  }
  return joined;
}

/**
 * Only values are written: what Google makes of a text that is a web address, and all formats of people,
 * stay.
 */
const updateRequest = (sheetId: number, { row, column, isFormatted, rows }: Block): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: row, columnIndex: column },
    rows: rows.map((values) => ({ values })),
    fields: isFormatted ? 'userEnteredValue,userEnteredFormat.numberFormat' : 'userEnteredValue',
  },
});

/**
 * A typed value is stored as it is and never parsed, so that no text becomes a formula, a number or a date.
 */
function enteredValue(cell: Cell): sheets_v4.Schema$CellData {
  switch (cell.kind) {
    case 'empty':
      return {};
    case 'text':
      return { userEnteredValue: { stringValue: cell.text } };
    case 'number':
      return { userEnteredValue: { numberValue: cell.number } };
    case 'boolean':
      return { userEnteredValue: { boolValue: cell.boolean } };
    default:
      throw new Error(`What a cell computes is read and never written: ${cell.kind}.`);
  }
}

/** Google refuses to delete the last row below the header, or below what is frozen, so that a blank one takes its place first. */
function deleteRequests(tab: BoundTab, appended: number, deletes: readonly PlannedStep[]): Request[] {
  const { sheetId } = tab;
  const left = tab.rowCount + appended - deletes.length;
  return [
    ...grow(sheetId, 'ROWS', rowsAfter(tab, left) - left),
    // The lowest rows first, because what is below a deleted row moves up.
    ...spans(deletes.map((step) => step.position))
      .toReversed()
      .map(({ start, end }) => ({
        deleteDimension: { range: { sheetId, dimension: 'ROWS', startIndex: start, endIndex: end } },
      })),
  ];
}
