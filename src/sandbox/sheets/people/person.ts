import { formattedValue } from '../display/display.ts';
import { deleteLines, insertLines, lineCount, linePropertiesOf, moveLines } from '../grid/dimensions.ts';
import { areaAt, areaOf, rangeOf } from '../grid/grid-range.ts';
import { cellsIn, putCells, sortArea } from '../grid/ranges.ts';
import { copiesOf } from '../grid/relative-references.ts';
import { batchUpdate } from '../requests/batch-update.ts';
import { inheritFormats } from '../requests/requests-dimensions.ts';
import {
  type Dimension,
  draftOf,
  filledRowCount,
  frozenRowsOf,
  type NextId,
  type Sheet,
  type Spreadsheet,
  sizeOf,
} from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';
import type { JsonObject } from '../wire/json.ts';
import { clearValues, fillDown, formatNumbers, insertChips, pasteCells, typeBlock } from './person-cells.ts';
import { columnOf, headerRowOf, sheetOf } from './person-places.ts';
import type { ActionOf, GridAction } from './person-shapes.ts';

/**
 * Does what a person does in the grid, with the values parsed as typed.
 * @throws GoogleError 400 when the place does not exist or a strict validation forbids the value.
 */
export function applyPersonAction(
  spreadsheet: Spreadsheet,
  action: GridAction,
  nextId: NextId,
  nowMs: number,
): Spreadsheet {
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
      applyToTab(draft, sheetOf(draft, action.sheet), action, nextId, nowMs);
      return draft;
    }
  }
}

type TabAction = Exclude<GridAction, { kind: 'addTab' | 'deleteTab' | 'duplicateTab' | 'renameTab' }>;

function applyToTab(
  draft: Spreadsheet,
  sheet: Sheet,
  action: TabAction,
  nextId: NextId,
  nowMs: number,
): void {
  switch (action.kind) {
    case 'edit':
      return typeBlock(sheet, action.row, columnOf(sheet, action.column), [[action.text]], nowMs);
    case 'renameHeader':
      return typeBlock(sheet, headerRowOf(sheet), columnOf(sheet, action.column), [[action.text]], nowMs);
    case 'paste':
      return typeBlock(sheet, action.row, columnOf(sheet, action.column), action.rows, nowMs);
    case 'pasteCells':
      return pasteCells(sheet, sheetOf(draft, action.source.sheet), action);
    case 'fillDown':
      return fillDown(sheet, action.range);
    case 'insertChips':
      return insertChips(sheet, action, columnOf(sheet, action.column));
    case 'clear':
      return clearValues(sheet, action.range);
    case 'formatNumbers':
      return formatNumbers(sheet, action);
    case 'sort':
      return sortTab(draft, sheet, action);
    case 'filter':
      return filterRows(sheet, action, nextId);
    case 'showAll':
      return showAll(sheet);
    case 'copyRow':
      return copyRow(draft, sheet, action);
    default:
      return applyToLines(draft, sheet, action);
  }
}

const LINE_ACTIONS = {
  insertRows: { verb: 'insert', dimension: 'ROWS' },
  insertColumns: { verb: 'insert', dimension: 'COLUMNS' },
  deleteRows: { verb: 'delete', dimension: 'ROWS' },
  deleteColumns: { verb: 'delete', dimension: 'COLUMNS' },
  moveRows: { verb: 'move', dimension: 'ROWS' },
  moveColumns: { verb: 'move', dimension: 'COLUMNS' },
  hideRows: { verb: 'hide', dimension: 'ROWS' },
  hideColumns: { verb: 'hide', dimension: 'COLUMNS' },
} as const;

type LineAction = ActionOf<keyof typeof LINE_ACTIONS>;

function applyToLines(draft: Spreadsheet, sheet: Sheet, action: LineAction): void {
  const { verb, dimension } = LINE_ACTIONS[action.kind];
  const start = 'row' in action ? action.row : columnOf(sheet, action.column);
  if (verb === 'insert') return insertBlank(draft, sheet, dimension, start, action.count);
  const lines = checkedLines(sheet, dimension, start, action.count);
  if (verb === 'delete') return deleteLines(draft, sheet, lines);
  if ('to' in action) {
    // Lines that are dropped among themselves stay where they are.
    const isInside = action.to > start && action.to < start + action.count;
    return isInside ? undefined : moveLines(draft, sheet, lines, action.to);
  }
  const list = linePropertiesOf(sheet, dimension);
  for (let line = start; line < start + action.count; line += 1)
    list[line] = { ...list[line], hiddenByUser: true };
}

function checkedLines(sheet: Sheet, dimension: Dimension, start: number, count: number) {
  if (start + count > lineCount(sheet, dimension)) {
    throw invalidArgument(`There is nothing at ${start + count - 1}.`);
  }
  return { dimension, start, count };
}

function sortTab(draft: Spreadsheet, sheet: Sheet, action: ActionOf<'sort'>): void {
  const whole = { ...areaOf({}, sizeOf(sheet)), startRow: frozenRowsOf(sheet) };
  const key = { column: columnOf(sheet, action.column), isDescending: action.descending };
  sortArea(draft, sheet, action.range ?? whole, [key]);
}

/** Sets the tab's filter as Google keeps it: by the texts whose rows are hidden. */
function filterRows(sheet: Sheet, action: ActionOf<'filter'>, nextId: NextId): void {
  const column = columnOf(sheet, action.column);
  const end = filledRowCount(sheet);
  const texts = sheet.rows.slice(frozenRowsOf(sheet), end).map((cells) => formattedValue(cells[column]));
  const hiddenValues = [...new Set(texts)].filter((text) => !action.shown.includes(text));
  const area = { ...areaOf({}, sizeOf(sheet)), startRow: headerRowOf(sheet), endRow: Math.max(end, 1) };
  const ranges = [rangeOf(sheet.sheetId, area)];
  sheet.basicFilter = [{ id: nextId(), ranges, criteria: { [column]: { hiddenValues } } }];
}

function showAll(sheet: Sheet): void {
  const shown = (properties: JsonObject | undefined): JsonObject | undefined => {
    if (!properties) return undefined;
    const { hiddenByUser, ...others } = properties;
    return others;
  };
  sheet.rowProperties = sheet.rowProperties.map(shown);
  sheet.columnProperties = sheet.columnProperties.map(shown);
  sheet.basicFilter = [];
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
  const block = cellsIn(sheet, areaAt(row, 0, 1, columnCount));
  if (inserts) insertLines(draft, sheet, { dimension: 'ROWS', start: to, count: 1 });
  putCells(sheet, to, 0, copiesOf(block, to - row, 0));
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
