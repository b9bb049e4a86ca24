import { type Cell, mergeCell, withNumberFormat, withoutNumberFormat, withValue } from '../cell.ts';
import { PLACEHOLDER } from '../display/chips.ts';
import { formattedValue } from '../display/display.ts';
import { isValid } from '../display/validation.ts';
import { type Area, areaAt } from '../grid/grid-range.ts';
import { type Block, cellsIn, clearCells, putCells } from '../grid/ranges.ts';
import { copiesOf } from '../grid/relative-references.ts';
import { cellAt, growColumns, growRows, type Sheet, setCell } from '../spreadsheet.ts';
import { parseFieldMask } from '../wire/field-mask.ts';
import { invalidArgument } from '../wire/google-error.ts';
import type { ActionOf } from './person-shapes.ts';
import { typeIntoCell } from './typed-input.ts';

/** Typing and pasting over the edge makes the grid larger, as it does for a person. */
export function typeBlock(
  sheet: Sheet,
  row: number,
  column: number,
  rows: readonly string[][],
  nowMs: number,
): void {
  growTo(sheet, areaAt(row, column, rows.length, Math.max(0, ...rows.map((texts) => texts.length))));
  for (const [down, texts] of rows.entries()) {
    for (const [right, text] of texts.entries()) {
      const cell = typeIntoCell(cellAt(sheet, row + down, column + right), text, sheet.locale, nowMs);
      refuseInvalid(cell, sheet.locale);
      setCell(sheet, row + down, column + right, cell);
    }
  }
}

function growTo(sheet: Sheet, area: Area): void {
  growRows(sheet, area.endRow - sheet.rows.length);
  growColumns(sheet, area.endColumn - sheet.columnProperties.length);
}

function refuseInvalid(cell: Cell | undefined, locale: string): void {
  if (cell?.dataValidation?.['strict'] !== true || isValid(cell, locale)) return;
  throw invalidArgument(
    `"${formattedValue(cell, locale)}" violates the data validation rules set on this cell.`,
  );
}

/** Puts people and files into the text of a cell, each at its `@`; what else the cell has stays. */
export function insertChips(sheet: Sheet, action: ActionOf<'insertChips'>, column: number): void {
  const { chips, row, text } = action;
  const places = [...text.matchAll(new RegExp(PLACEHOLDER, 'g'))].map(({ index }) => index);
  if (places.length !== chips.length) throw invalidArgument(`There are ${places.length} places for chips.`);
  const chipRuns = chips.map((chip, index) => ({
    startIndex: places[index],
    chip: 'email' in chip ? { personProperties: chip } : { richLinkProperties: chip },
  }));
  growTo(sheet, areaAt(row, column, 1, 1));
  const update = { userEnteredValue: { stringValue: text }, chipRuns };
  setCell(sheet, row, column, mergeCell(cellAt(sheet, row, column), update, CHIP_MASK));
}

const CHIP_MASK = parseFieldMask('userEnteredValue,chipRuns');

/** Empties cells as the Delete key does: formats, notes and rules stay. */
export function clearValues(sheet: Sheet, area: Area): void {
  for (const [down, cells] of cellsIn(sheet, area).entries()) {
    for (const [right, cell] of cells.entries()) {
      if (cell) setCell(sheet, area.startRow + down, area.startColumn + right, withValue(cell, undefined));
    }
  }
}

/** Has cells show their numbers by a pattern, or as they are; of a date it makes the number of its day. */
export function formatNumbers(sheet: Sheet, { pattern, range }: ActionOf<'formatNumbers'>): void {
  for (const [down, cells] of cellsIn(sheet, range).entries()) {
    for (const [right, cell] of cells.entries()) {
      const formatted =
        pattern === undefined
          ? withoutNumberFormat(cell)
          : withNumberFormat(cell, { type: 'NUMBER', pattern });
      setCell(sheet, range.startRow + down, range.startColumn + right, formatted);
    }
  }
}

/** Copies the first row of an area into the rows below it. */
export function fillDown(sheet: Sheet, area: Area): void {
  const first = { ...area, endRow: area.startRow + 1 };
  const block = cellsIn(sheet, first);
  for (let row = area.startRow + 1; row < area.endRow; row += 1) {
    putCopies(sheet, row, area.startColumn, copiesOf(block, row - area.startRow, 0));
  }
}

/** Pastes copied cells as often as they fit into the range; a cut moves them there once, with formulas as they are. */
export function pasteCells(sheet: Sheet, source: Sheet, action: ActionOf<'pasteCells'>): void {
  const { range, cut } = action;
  const from = action.source.range;
  const block = cellsIn(source, from);
  const [height, width] = [from.endRow - from.startRow, from.endColumn - from.startColumn];
  if (height <= 0 || width <= 0) throw invalidArgument('There is nothing to paste.');
  if (cut) {
    clearCells(source, from);
    putCopies(sheet, range.startRow, range.startColumn, block);
    return;
  }
  const times = (size: number, of: number) => Math.max(1, size % of === 0 ? size / of : 1);
  for (let down = 0; down < times(range.endRow - range.startRow, height); down += 1) {
    for (let right = 0; right < times(range.endColumn - range.startColumn, width); right += 1) {
      const row = range.startRow + down * height;
      const column = range.startColumn + right * width;
      putCopies(sheet, row, column, copiesOf(block, row - from.startRow, column - from.startColumn));
    }
  }
}

function putCopies(sheet: Sheet, row: number, column: number, block: Block): void {
  growTo(sheet, areaAt(row, column, block.length, block[0]?.length ?? 0));
  putCells(sheet, row, column, block);
}
