import type { Cell } from './cell.ts';
import { storedColors, withColorPairs } from './display/colors.ts';
import { conditionalFormat } from './display/conditional-format.ts';
import { effectiveValue, formattedValue } from './display/display.ts';
import { conditionValues, isValid } from './display/validation.ts';
import { isHiddenByFilter } from './grid/filtering.ts';
import { areaOf } from './grid/grid-range.ts';
import { resolveA1 } from './grid/range-reference.ts';
import { cellsIn } from './grid/ranges.ts';
import { frozenRowsOf, type Overlay, type Sheet, type Spreadsheet, sizeOf } from './spreadsheet.ts';
import { isJsonObject, type Json, type JsonObject } from './wire/json.ts';

/** Empty rows shown below the last one that holds something, for new entries. */
const SPARE_ROWS = 20;

/** What the grid page draws: per tab its size, and the cells that hold something. */
export function gridView(spreadsheet: Spreadsheet, revision: number): JsonObject {
  return {
    revision,
    title: spreadsheet.properties.title,
    sheets: spreadsheet.sheets.filter((sheet) => sheet.properties['hidden'] !== true).map(sheetView),
    lists: listsIn(spreadsheet),
  };
}

function sheetView(sheet: Sheet): JsonObject {
  const isUsed = (cell: Cell | undefined) => cell?.userEnteredValue !== undefined || cell?.note !== undefined;
  const used = sheet.rows.findLastIndex((row) => row.some(isUsed)) + 1;
  const rowCount = Math.min(sheet.rows.length, Math.max(used, frozenRowsOf(sheet)) + SPARE_ROWS);
  return {
    sheetId: sheet.sheetId,
    title: sheet.title,
    moves: sheet.moves.length,
    frozenRows: frozenRowsOf(sheet),
    frozenColumns: Number(sheet.gridProperties['frozenColumnCount'] ?? 0),
    rowCount,
    hiddenRows: Array.from({ length: rowCount }, (_, row) => row).filter((row) => isHidden(sheet, row)),
    warnings: sheet.protectedRanges.flatMap((protection) => warningView(sheet, protection)),
    columns: sheet.columnProperties.map((properties) => ({ ...properties })),
    rows: sheet.rows
      .slice(0, rowCount)
      .map((cells, row) => cells.map((cell, column) => cellView(sheet, row, column, cell))),
  };
}

function isHidden(sheet: Sheet, row: number): boolean {
  return sheet.rowProperties[row]?.['hiddenByUser'] === true || isHiddenByFilter(sheet, row);
}

/** Where Google asks a person before an edit, and what it is about. */
function warningView(sheet: Sheet, protection: Overlay): JsonObject[] {
  if (protection['warningOnly'] !== true) return [];
  const description = String(protection['description'] ?? '');
  return protection.ranges.map((range) => ({ description, ...areaOf(range, sizeOf(sheet)) }));
}

/** A cell with nothing to show is `null`. */
function cellView(sheet: Sheet, row: number, column: number, cell: Cell | undefined): Json {
  if (!cell) return null;
  const rules = storedColors(conditionalFormat(sheet, row, column, cell));
  const format = withColorPairs({ ...cell.userEnteredFormat, ...rules });
  const textFormat = isJsonObject(format['textFormat']) ? format['textFormat'] : {};
  return {
    text: formattedValue(cell, sheet.locale),
    typed: typedText(cell, sheet.locale),
    ...(cell.note && { note: cell.note }),
    ...(cell.dataValidation && validationView(cell.dataValidation)),
    ...(isJsonObject(format['backgroundColor']) && { background: cssColor(format['backgroundColor']) }),
    ...(isJsonObject(textFormat['foregroundColor']) && { color: cssColor(textFormat['foregroundColor']) }),
    ...(textFormat['bold'] === true && { isBold: true }),
    ...(format['wrapStrategy'] === 'WRAP' && { isWrapped: true }),
    ...(!isValid(cell, sheet.locale) && { isInvalid: true }),
    ...('numberValue' in (effectiveValue(cell) ?? {}) && { isNumber: true }),
  };
}

/** What an editor shows: the formula, or the text that typed again gives the same value. */
function typedText(cell: Cell, locale: string): string {
  const { formulaValue, stringValue } = cell.userEnteredValue ?? {};
  if (formulaValue !== undefined) return formulaValue;
  const isAmbiguous = stringValue !== undefined && /^['=+\d$(-]|^(true|false)$/i.test(stringValue);
  return isAmbiguous ? `'${stringValue}` : formattedValue(cell, locale);
}

/** What dropdowns take from ranges, by how the ranges are written: once, and not in each cell. */
function listsIn(spreadsheet: Spreadsheet): JsonObject {
  const sources = new Set(
    spreadsheet.sheets.flatMap(({ rows }) =>
      rows.flatMap((cells) =>
        cells.flatMap((cell) => (cell?.dataValidation ? sourceOf(cell.dataValidation) : [])),
      ),
    ),
  );
  return Object.fromEntries([...sources].map((source) => [source, textsIn(spreadsheet, source)]));
}

function sourceOf(rule: JsonObject): string[] {
  const condition = isJsonObject(rule['condition']) ? rule['condition'] : {};
  return condition['type'] === 'ONE_OF_RANGE' ? conditionValues(condition) : [];
}

/** None where the range is gone. */
function textsIn(spreadsheet: Spreadsheet, source: string): string[] {
  try {
    const { area, sheet } = resolveA1(spreadsheet, source.replace(/^=/, '').replaceAll('$', ''));
    return cellsIn(sheet, area).flatMap((cells) =>
      cells.flatMap((cell) => (cell?.userEnteredValue ? formattedValue(cell, sheet.locale) : [])),
    );
  } catch {
    return [];
  }
}

function validationView(rule: JsonObject): JsonObject {
  const condition = isJsonObject(rule['condition']) ? rule['condition'] : {};
  if (condition['type'] === 'BOOLEAN') return { isCheckbox: true };
  const [list] = sourceOf(rule);
  if (list !== undefined) return { list };
  return condition['type'] === 'ONE_OF_LIST' ? { options: conditionValues(condition) } : {};
}

function cssColor({ red, green, blue }: JsonObject): string {
  const channel = (value: Json | undefined) => Math.round(Number(value ?? 0) * 255);
  return `rgb(${channel(red)} ${channel(green)} ${channel(blue)})`;
}
