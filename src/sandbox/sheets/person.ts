import { batchUpdate } from './batch-update.ts';
import type { Cell } from './cell.ts';
import { deleteLines, insertLines, lineCount, moveLines } from './dimensions.ts';
import { formattedValue } from './display.ts';
import { invalidArgument } from './google-error.ts';
import { areaOf } from './grid-range.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import type { ActionOf, PersonAction } from './person-shapes.ts';
import { cellsIn, putCells, sortArea } from './ranges.ts';
import { inheritFormats } from './requests-dimensions.ts';
import type { Dimension, NextId, Sheet, Spreadsheet } from './spreadsheet.ts';
import {
  cellAt,
  draftOf,
  frozenRowsOf,
  growColumns,
  growRows,
  setCell,
  sheetById,
  sheetByTitle,
  sizeOf,
} from './spreadsheet.ts';
import { typeIntoCell } from './typed-input.ts';

/** An action on the grid; undoing needs to know what was before and is kept apart. */
export type GridAction = Exclude<PersonAction, { kind: 'undo' }>;

/**
 * Does what a person does in the grid, with the values parsed as typed.
 * @throws GoogleError 400 when the place does not exist or a strict validation forbids the value.
 */
export function applyPersonAction(spreadsheet: Spreadsheet, action: GridAction, nextId: NextId): Spreadsheet {
  switch (action.kind) {
    case 'addTab':
      return batched(spreadsheet, { addSheet: { properties: { title: action.title } } }, nextId);
    case 'deleteTab':
      return batched(
        spreadsheet,
        { deleteSheet: { sheetId: sheetOf(spreadsheet, action.sheet).sheetId } },
        nextId,
      );
    case 'duplicateTab':
      return duplicateTab(spreadsheet, action, nextId);
    case 'renameTab':
      return renameTab(spreadsheet, action, nextId);
    default: {
      const draft = draftOf(spreadsheet);
      applyToTab(draft, sheetOf(draft, action.sheet), action);
      return draft;
    }
  }
}

type TabAction = Exclude<GridAction, { kind: 'addTab' | 'deleteTab' | 'duplicateTab' | 'renameTab' }>;

function applyToTab(draft: Spreadsheet, sheet: Sheet, action: TabAction): void {
  switch (action.kind) {
    case 'edit':
      return typeBlock(sheet, action.row, columnOf(sheet, action.column), [[action.text]]);
    case 'renameHeader':
      return typeBlock(sheet, headerRowOf(sheet), columnOf(sheet, action.column), [[action.text]]);
    case 'paste':
      return typeBlock(sheet, action.row, columnOf(sheet, action.column), action.rows);
    case 'sort':
      return sortTab(sheet, action);
    case 'copyRow':
      return copyRow(draft, sheet, action);
    case 'insertRows':
      return insertBlank(draft, sheet, 'ROWS', action.row, action.count);
    case 'deleteRows':
      return deleteLines(draft, sheet, checkedLines(sheet, 'ROWS', action.row, action.count));
    case 'moveRows':
      return moveLines(draft, sheet, checkedLines(sheet, 'ROWS', action.row, action.count), action.to);
    case 'insertColumns':
      return insertBlank(draft, sheet, 'COLUMNS', columnOf(sheet, action.column), action.count);
    case 'deleteColumns': {
      const start = columnOf(sheet, action.column);
      return deleteLines(draft, sheet, checkedLines(sheet, 'COLUMNS', start, action.count));
    }
    case 'moveColumns': {
      const start = columnOf(sheet, action.column);
      return moveLines(draft, sheet, checkedLines(sheet, 'COLUMNS', start, action.count), action.to);
    }
  }
}

export function sheetOf(spreadsheet: Spreadsheet, sheet: string | number): Sheet {
  if (typeof sheet === 'number') return sheetById(spreadsheet, sheet);
  const found = sheetByTitle(spreadsheet, sheet);
  if (!found) throw invalidArgument(`There is no tab "${sheet}".`);
  return found;
}

/** The header is the last frozen row, or the first row when none is frozen. */
function headerRowOf(sheet: Sheet): number {
  return Math.max(0, frozenRowsOf(sheet) - 1);
}

function columnOf(sheet: Sheet, column: number | string): number {
  if (typeof column === 'number') return column;
  const found = (sheet.rows[headerRowOf(sheet)] ?? []).findIndex((cell) => formattedValue(cell) === column);
  if (found < 0) throw invalidArgument(`There is no column "${column}" in the tab "${sheet.title}".`);
  return found;
}

function checkedLines(sheet: Sheet, dimension: Dimension, start: number, count: number) {
  if (start + count > lineCount(sheet, dimension)) {
    throw invalidArgument(`There is nothing at ${start + count - 1}.`);
  }
  return { dimension, start, count };
}

/** Typing and pasting over the edge makes the grid larger, as it does for a person. */
function typeBlock(sheet: Sheet, row: number, column: number, rows: readonly string[][]): void {
  growRows(sheet, row + rows.length - sheet.rows.length);
  growColumns(
    sheet,
    column + Math.max(0, ...rows.map((texts) => texts.length)) - sheet.columnProperties.length,
  );
  for (const [down, texts] of rows.entries()) {
    for (const [right, text] of texts.entries()) {
      const cell = typeIntoCell(cellAt(sheet, row + down, column + right), text);
      refuseInvalid(cell);
      setCell(sheet, row + down, column + right, cell);
    }
  }
}

function refuseInvalid(cell: Cell | undefined): void {
  const rule = cell?.dataValidation;
  const condition = rule?.['condition'];
  if (rule?.['strict'] !== true || !isJsonObject(condition) || !cell?.userEnteredValue) return;
  const isValid =
    condition['type'] === 'ONE_OF_LIST'
      ? listedOptions(condition).includes(formattedValue(cell))
      : condition['type'] !== 'BOOLEAN' || cell.userEnteredValue.boolValue !== undefined;
  if (!isValid) {
    throw invalidArgument(`"${formattedValue(cell)}" violates the data validation rules set on this cell.`);
  }
}

/** The choices of a dropdown. */
export function listedOptions(condition: JsonObject): string[] {
  const values = Array.isArray(condition['values']) ? condition['values'] : [];
  return values.filter(isJsonObject).map((value) => String(value['userEnteredValue'] ?? ''));
}

function sortTab(sheet: Sheet, action: ActionOf<'sort'>): void {
  const whole = { ...areaOf({}, sizeOf(sheet)), startRow: frozenRowsOf(sheet) };
  const key = { column: columnOf(sheet, action.column), isDescending: action.descending };
  sortArea(sheet, action.range ?? whole, [key]);
}

function insertBlank(
  draft: Spreadsheet,
  sheet: Sheet,
  dimension: Dimension,
  start: number,
  count: number,
): void {
  if (start > lineCount(sheet, dimension)) throw invalidArgument(`There is nothing at ${start}.`);
  const lines = { dimension, start, count };
  insertLines(draft, sheet, lines);
  // The header's look is not passed on to the rows below it.
  const isBelowHeader = dimension === 'ROWS' && start <= frozenRowsOf(sheet);
  inheritFormats(sheet, lines, isBelowHeader ? start + count : start - 1);
}

/** Copies a whole row over another one, or into a new row made for it. */
function copyRow(draft: Spreadsheet, sheet: Sheet, { row, to, inserts }: ActionOf<'copyRow'>): void {
  const { columnCount } = sizeOf(sheet);
  const block = cellsIn(sheet, { startRow: row, endRow: row + 1, startColumn: 0, endColumn: columnCount });
  if (inserts) insertLines(draft, sheet, { dimension: 'ROWS', start: to, count: 1 });
  putCells(sheet, to, 0, block);
}

function batched(spreadsheet: Spreadsheet, request: JsonObject, nextId: NextId): Spreadsheet {
  return batchUpdate(spreadsheet, { requests: [request] }, '', nextId).spreadsheet;
}

function renameTab(spreadsheet: Spreadsheet, action: ActionOf<'renameTab'>, nextId: NextId): Spreadsheet {
  const { sheetId } = sheetOf(spreadsheet, action.sheet);
  const request = { properties: { sheetId, title: action.title }, fields: 'title' };
  return batched(spreadsheet, { updateSheetProperties: request }, nextId);
}

function duplicateTab(
  spreadsheet: Spreadsheet,
  action: ActionOf<'duplicateTab'>,
  nextId: NextId,
): Spreadsheet {
  const source = sheetOf(spreadsheet, action.sheet);
  const insertSheetIndex = spreadsheet.sheets.indexOf(source) + 1;
  const newSheetName = action.title;
  const request = { sourceSheetId: source.sheetId, insertSheetIndex, ...(newSheetName && { newSheetName }) };
  return batched(spreadsheet, { duplicateSheet: request }, nextId);
}
