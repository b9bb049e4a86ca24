import { z } from 'zod';
import { type Cell, withValue } from '../cell.ts';
import { formattedValue } from '../display/display.ts';
import { type Area, areaOf, cellsOf } from '../grid/grid-range.ts';
import { type ResolvedRange, resolveGridRange } from '../grid/range-reference.ts';
import { delimitedRows, htmlRows } from '../people/tabular-text.ts';
import { typeIntoCell } from '../people/typed-input.ts';
import {
  cellAt,
  growColumns,
  growRows,
  type Sheet,
  type Spreadsheet,
  setCell,
  sheetById,
  sizeOf,
} from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { withoutDefaults } from '../wire/json.ts';
import { refuseMore } from './growth.ts';
import { type RequestKind, requestKind } from './request-kind.ts';
import { gridCoordinate, gridRange } from './request-shapes.ts';
import { pasteBlock, pasteType } from './requests-ranges.ts';

const findShape = z.object({
  find: z.string().default(''),
  replacement: z.string().default(''),
  matchCase: z.boolean().default(false),
  matchEntireCell: z.boolean().default(false),
  searchByRegex: z.boolean().default(false),
  includeFormulas: z.boolean().default(false),
  range: gridRange.optional(),
  sheetId: z.number().int().optional(),
  allSheets: z.boolean().optional(),
});

type Find = z.infer<typeof findShape>;

/** What is replaced is typed again: a text that becomes a number is one afterwards. */
const findReplace = requestKind(findShape, (draft, request) => {
  const pattern = patternOf(request);
  // In a plain search a dollar sign in the replacement stands for itself.
  const replacement = request.searchByRegex
    ? request.replacement
    : request.replacement.replaceAll('$', '$$$$');
  const counts = {
    valuesChanged: 0,
    formulasChanged: 0,
    rowsChanged: 0,
    sheetsChanged: 0,
    occurrencesChanged: 0,
  };
  for (const { sheet, area } of placesToSearch(draft, request)) {
    const rows = new Set<number>();
    for (const { row, column } of filledCells(sheet, area)) {
      const cell = cellAt(sheet, row, column);
      const formula = cell?.userEnteredValue?.formulaValue;
      if (formula !== undefined && !request.includeFormulas) continue;
      const text = formula ?? formattedValue(cell, sheet.locale);
      const occurrences = text.match(pattern)?.length ?? 0;
      if (occurrences === 0) continue;
      setCell(sheet, row, column, typeIntoCell(cell, text.replace(pattern, replacement), sheet.locale));
      counts.occurrencesChanged += occurrences;
      counts[formula === undefined ? 'valuesChanged' : 'formulasChanged'] += 1;
      rows.add(row);
    }
    counts.rowsChanged += rows.size;
    counts.sheetsChanged += Number(rows.size > 0);
  }
  return withoutDefaults(counts);
});

function patternOf({ find, searchByRegex, matchEntireCell, matchCase }: Find): RegExp {
  if (find === '') throw invalidArgument('The find string may not be empty.');
  const source = searchByRegex ? find : find.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  try {
    return new RegExp(matchEntireCell ? `^(?:${source})$` : source, matchCase ? 'g' : 'gi');
  } catch {
    throw invalidArgument(`The regular expression is not valid: ${find}`);
  }
}

function placesToSearch(draft: Spreadsheet, { range, sheetId, allSheets }: Find): ResolvedRange[] {
  if (range) return [resolveGridRange(draft, range)];
  if (sheetId === undefined && !allSheets) {
    throw invalidArgument('Exactly one of range, sheetId and allSheets must be set.');
  }
  const sheets = allSheets ? draft.sheets : [sheetById(draft, sheetId)];
  return sheets.map((sheet) => ({ sheet, area: areaOf({}, sizeOf(sheet)) }));
}

/** The places of a rectangle that hold a value; those beyond the end of a short row are not looked at. */
function* filledCells(sheet: Sheet, area: Area): Generator<{ row: number; column: number }> {
  for (let row = area.startRow; row < area.endRow; row += 1) {
    const cells = sheet.rows[row] ?? [];
    for (let column = area.startColumn; column < Math.min(area.endColumn, cells.length); column += 1) {
      if (cells[column]?.userEnteredValue) yield { row, column };
    }
  }
}

/** Takes white space from the ends of texts and leaves single spaces within. */
const trimWhitespace = requestKind(z.object({ range: gridRange }), (draft, { range }) => {
  const { sheet, area } = resolveGridRange(draft, range);
  let cellsChangedCount = 0;
  for (const { row, column } of filledCells(sheet, area)) {
    const cell = cellAt(sheet, row, column);
    const text = cell?.userEnteredValue?.stringValue;
    const trimmed = text?.trim().replace(/\s+/g, ' ');
    if (trimmed === undefined || trimmed === text) continue;
    setCell(sheet, row, column, withValue(cell, { stringValue: trimmed }));
    cellsChangedCount += 1;
  }
  return withoutDefaults({ cellsChangedCount });
});

const DELIMITERS: Record<string, string> = { COMMA: ',', SEMICOLON: ';', PERIOD: '.', SPACE: ' ' };

/** Splits texts over the columns to the right, each part as if typed; what stood there is overwritten. */
const textToColumns = requestKind(
  z.object({
    source: gridRange,
    delimiter: z.string().optional(),
    delimiterType: z.string().default('DELIMITER_TYPE_UNSPECIFIED'),
  }),
  (draft, { source, delimiter, delimiterType }) => {
    const { sheet, area } = resolveGridRange(draft, source);
    if (area.endColumn - area.startColumn !== 1) {
      throw invalidArgument('The source range must span exactly one column.');
    }
    if (delimiterType === 'CUSTOM' && !delimiter) throw invalidArgument('A custom delimiter must be set.');
    const texts = [...filledCells(sheet, area)].map((place) => ({
      ...place,
      text: formattedValue(cellAt(sheet, place.row, place.column)),
    }));
    const mark =
      delimiterType === 'CUSTOM' ? delimiter : (DELIMITERS[delimiterType] ?? detectedDelimiter(texts));
    if (!mark) return undefined;
    const split = texts.map(({ row, column, text }) => ({ row, column, parts: text.split(mark) }));
    const width = Math.max(0, ...split.map(({ column, parts }) => column + parts.length));
    const columnCount = width - sheet.columnProperties.length;
    refuseMore(draft, sheet, { columnCount });
    growColumns(sheet, columnCount);
    for (const { row, column, parts } of split.filter((line) => line.parts.length > 1)) {
      for (const [right, part] of parts.entries()) {
        setCell(
          sheet,
          row,
          column + right,
          typeIntoCell(cellAt(sheet, row, column + right), part, sheet.locale),
        );
      }
    }
    return undefined;
  },
);

/** The delimiter that most of the texts have; undefined when none has any. */
function detectedDelimiter(texts: readonly { text: string }[]): string | undefined {
  const counted = [',', ';', '|', '\t', ' ', '.'].map((mark) => ({
    mark,
    count: texts.filter(({ text }) => text.includes(mark)).length,
  }));
  return counted.toSorted((one, other) => other.count - one.count).find(({ count }) => count > 0)?.mark;
}

/** Types delimited text or the table of an HTML fragment into the grid, which grows where needed. */
const pasteData = requestKind(
  z.object({
    coordinate: gridCoordinate.default({}),
    data: z.string().default(''),
    delimiter: z.string().optional(),
    html: z.boolean().optional(),
    type: pasteType,
  }),
  (draft, { coordinate, data, delimiter, html, type }) => {
    const sheet = sheetById(draft, coordinate.sheetId);
    const texts = html ? htmlRows(data) : delimitedRows(data, delimiter ?? '\t');
    const [row, column] = [coordinate.rowIndex ?? 0, coordinate.columnIndex ?? 0];
    const more = {
      rowCount: row + texts.length - sheet.rows.length,
      columnCount: column + Math.max(0, ...texts.map((line) => line.length)) - sheet.columnProperties.length,
    };
    refuseMore(draft, sheet, more);
    growRows(sheet, more.rowCount);
    growColumns(sheet, more.columnCount);
    const block = texts.map((line) =>
      line.map((text): Cell | undefined => typeIntoCell(undefined, text, sheet.locale)),
    );
    pasteBlock(sheet, row, column, block, type);
    return undefined;
  },
);

/** Rows whose compared cells show the same, whatever the case of letters, are taken out; those below move up. */
const deleteDuplicates = requestKind(
  z.object({
    range: gridRange,
    comparisonColumns: z
      .array(z.object({ startIndex: z.number().int().default(0), endIndex: z.number().int() }))
      .default([]),
  }),
  (draft, { range, comparisonColumns }) => {
    const { sheet, area } = resolveGridRange(draft, range);
    const isCompared = (column: number) =>
      comparisonColumns.length === 0 ||
      comparisonColumns.some(({ startIndex, endIndex }) => column >= startIndex && column < endIndex);
    const seen = new Set<string>();
    const filled = [...new Set([...filledCells(sheet, area)].map(({ row }) => row))];
    const duplicates = filled.filter((row) => {
      const columns = [...cellsOf({ ...area, startRow: row, endRow: row + 1 })].map(({ column }) => column);
      const shown = columns.filter(isCompared).map((column) => formattedValue(cellAt(sheet, row, column)));
      const key = JSON.stringify(shown.map((text) => text.toLowerCase()));
      const isSeen = seen.has(key);
      seen.add(key);
      return isSeen;
    });
    closeGaps(sheet, area, new Set(duplicates));
    return withoutDefaults({ duplicatesRemovedCount: duplicates.length });
  },
);

function closeGaps(sheet: Sheet, area: Area, gone: ReadonlySet<number>): void {
  let target = area.startRow;
  for (let row = area.startRow; row < area.endRow; row += 1) {
    if (gone.has(row)) continue;
    if (target !== row) copyCells(sheet, area, row, target);
    target += 1;
  }
  for (; target < area.endRow; target += 1) copyCells(sheet, area, area.endRow, target, true);
}

function copyCells(sheet: Sheet, area: Area, from: number, to: number, isBlank = false): void {
  for (let column = area.startColumn; column < area.endColumn; column += 1) {
    const cell = isBlank ? undefined : cellAt(sheet, from, column);
    if (cell !== cellAt(sheet, to, column)) setCell(sheet, to, column, cell);
  }
}

export const TEXT_REQUESTS: Record<string, RequestKind> = {
  findReplace,
  trimWhitespace,
  textToColumns,
  pasteData,
  deleteDuplicates,
};
