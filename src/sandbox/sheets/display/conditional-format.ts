import type { Cell } from '../cell.ts';
import { areaOf } from '../grid/grid-range.ts';
import { type Sheet, sizeOf } from '../spreadsheet.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { formattedValue } from './display.ts';

const TESTS: Record<string, (text: string, wanted: string) => boolean> = {
  TEXT_EQ: (text, wanted) => text === wanted,
  TEXT_CONTAINS: (text, wanted) => text.includes(wanted),
  TEXT_NOT_CONTAINS: (text, wanted) => !text.includes(wanted),
  TEXT_STARTS_WITH: (text, wanted) => text.startsWith(wanted),
  TEXT_ENDS_WITH: (text, wanted) => text.endsWith(wanted),
  BLANK: (text) => text === '',
  NOT_BLANK: (text) => text !== '',
};

/** The format of the first rule that holds for a cell; rules with formulas or gradients are not evaluated. */
export function conditionalFormat(sheet: Sheet, row: number, column: number, cell: Cell): JsonObject {
  const size = sizeOf(sheet);
  for (const { ranges, booleanRule } of sheet.conditionalFormats) {
    if (!isJsonObject(booleanRule) || !isJsonObject(booleanRule['format'])) continue;
    const isCovered = ranges.some((range) => {
      const area = areaOf(range, size);
      const isInRows = row >= area.startRow && row < area.endRow;
      return isInRows && column >= area.startColumn && column < area.endColumn;
    });
    if (isCovered && holds(booleanRule['condition'], cell)) return booleanRule['format'];
  }
  return {};
}

function holds(condition: unknown, cell: Cell): boolean {
  if (!isJsonObject(condition)) return false;
  const [first] = Array.isArray(condition['values']) ? condition['values'] : [];
  const wanted = isJsonObject(first) ? String(first['userEnteredValue'] ?? '') : '';
  const test = TESTS[String(condition['type'])];
  return test?.(formattedValue(cell).toLowerCase(), wanted.toLowerCase()) ?? false;
}
