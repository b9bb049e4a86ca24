import { z } from 'zod';
import { withBox } from '../cell.ts';
import { formattedValue } from '../display/display.ts';
import {
  deleteLines,
  insertLines,
  type Lines,
  lineCount,
  linePropertiesOf,
  moveLines,
} from '../grid/dimensions.ts';
import type { GridSize } from '../grid/grid-range.ts';
import {
  type Dimension,
  frozenRowsOf,
  growColumns,
  growRows,
  type Sheet,
  sheetById,
} from '../spreadsheet.ts';
import { extendTables, nameBlankColumns, tablesEndingAt } from '../tables.ts';
import { mergeFields } from '../wire/field-mask.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { withoutDefaults } from '../wire/json.ts';
import { refuseMore } from './growth.ts';
import { type RequestKind, requestKind, requiredMask } from './request-kind.ts';
import { dimension, dimensionRange, fields, jsonObject } from './request-shapes.ts';

type DimensionRange = z.infer<typeof dimensionRange>;

const NOUNS: Record<Dimension, { one: string; many: string }> = {
  ROWS: { one: 'row', many: 'rows' },
  COLUMNS: { one: 'column', many: 'columns' },
};

const ROW_PIXELS = 21;
const LETTER_PIXELS = 7;
const PADDING_PIXELS = 6;

function linesOf(sheet: Sheet, range: DimensionRange): Lines {
  const start = range.startIndex ?? 0;
  const end = range.endIndex ?? lineCount(sheet, range.dimension);
  if (end <= start) throw invalidArgument(`Range end (${end}) must be after its start (${start}).`);
  return { dimension: range.dimension, start, count: end - start };
}

const insertDimension = requestKind(
  z.object({ range: dimensionRange, inheritFromBefore: z.boolean().default(false) }),
  (draft, { range, inheritFromBefore }) => {
    const sheet = sheetById(draft, range.sheetId);
    const lines = linesOf(sheet, range);
    const total = lineCount(sheet, lines.dimension);
    if (lines.start > total || (lines.start === total && !inheritFromBefore)) {
      throw invalidArgument(
        `range.startIndex[${lines.start}] must be less than the grid size (${total}) if inheritFromBefore is false.`,
      );
    }
    refuseMore(draft, sheet, linesAsSize(lines.dimension, lines.count));
    // Behind a table's last line a new one belongs to it only when it takes after the one before.
    const { tableGrowth } = draft.choices;
    const isGrowing = tableGrowth === 'always' || (tableGrowth === 'inheriting' && inheritFromBefore);
    const grown = isGrowing ? tablesEndingAt(sheet, lines.dimension, lines.start) : [];
    insertLines(draft, sheet, lines);
    const isAtEnd = lines.start === total;
    inheritFormats(sheet, lines, inheritFromBefore || isAtEnd ? lines.start - 1 : lines.start + lines.count);
    extendTables(sheet, grown, lines.dimension, lines.start + lines.count);
    nameBlankColumns(sheet);
    return undefined;
  },
);

function linesAsSize(dimension: Dimension, count: number): Partial<GridSize> {
  return dimension === 'ROWS' ? { rowCount: count } : { columnCount: count };
}

/** New lines take formats and validation, not values, from the line beside them; new checkboxes say FALSE. */
export function inheritFormats(sheet: Sheet, { dimension, start, count }: Lines, from: number): void {
  if (from < 0) return;
  for (let line = start; line < start + count; line += 1) {
    if (dimension === 'ROWS') sheet.rows[line] = (sheet.rows[from] ?? []).map(formOf);
    else sheet.rows = sheet.rows.map((row) => (row.length > line ? row.with(line, formOf(row[from])) : row));
  }
}

function formOf(cell: Sheet['rows'][number][number]): Sheet['rows'][number][number] {
  const { userEnteredFormat, dataValidation } = cell ?? {};
  if (!userEnteredFormat && !dataValidation) return undefined;
  return withBox({
    ...(userEnteredFormat && { userEnteredFormat }),
    ...(dataValidation && { dataValidation }),
  });
}

const deleteDimension = requestKind(z.object({ range: dimensionRange }), (draft, { range }) => {
  const sheet = sheetById(draft, range.sheetId);
  const lines = linesOf(sheet, range);
  const total = lineCount(sheet, lines.dimension);
  const { one, many } = NOUNS[lines.dimension];
  if (lines.start + lines.count > total) {
    throw invalidArgument(
      `Cannot delete a ${one} that doesn't exist. Tried to delete ${one} index ` +
        `${lines.start + lines.count - 1} but there are only ${total} ${many}.`,
    );
  }
  if (lines.count === total) throw invalidArgument(`You can't delete all the ${many} on the sheet.`);
  const frozen = lines.dimension === 'ROWS' ? frozenRowsOf(sheet) : 0;
  if (frozen > 0 && lines.start <= frozen && lines.start + lines.count === total) {
    throw invalidArgument(`Sorry, it is not possible to delete all non-frozen ${many}.`);
  }
  deleteLines(draft, sheet, lines);
  return undefined;
});

const moveDimension = requestKind(
  z.object({ source: dimensionRange, destinationIndex: z.number().int().nonnegative().default(0) }),
  (draft, { source, destinationIndex }) => {
    const sheet = sheetById(draft, source.sheetId);
    const lines = linesOf(sheet, source);
    const isInside = destinationIndex > lines.start && destinationIndex < lines.start + lines.count;
    if (isInside) throw invalidArgument('destinationIndex cannot be within the source range.');
    const total = lineCount(sheet, lines.dimension);
    if (Math.max(destinationIndex, lines.start + lines.count) > total) {
      throw invalidArgument(`destinationIndex[${destinationIndex}] is beyond the grid size (${total}).`);
    }
    moveLines(draft, sheet, lines, destinationIndex);
    return undefined;
  },
);

const appendDimension = requestKind(
  z.object({ sheetId: z.number().int().default(0), dimension, length: z.number().int().positive() }),
  (draft, request) => {
    const sheet = sheetById(draft, request.sheetId);
    refuseMore(draft, sheet, linesAsSize(request.dimension, request.length));
    if (request.dimension === 'ROWS') growRows(sheet, request.length);
    else growColumns(sheet, request.length);
    return undefined;
  },
);

const updateDimensionProperties = requestKind(
  z.object({ range: dimensionRange, properties: jsonObject.default({}), fields }),
  (draft, { range, properties, fields: maskText }) => {
    const mask = requiredMask(maskText);
    const sheet = sheetById(draft, range.sheetId);
    const { start, count } = linesOf(sheet, range);
    const list = linePropertiesOf(sheet, range.dimension);
    for (let line = start; line < Math.min(start + count, list.length); line += 1) {
      list[line] = withoutDefaults(mergeFields(list[line] ?? {}, properties, mask));
    }
    return undefined;
  },
);

/** Without fonts sizes can only be guessed: seven pixels a letter and one line of text as high as an empty row. */
const autoResizeDimensions = requestKind(
  z.object({ dimensions: dimensionRange }),
  (draft, { dimensions }) => {
    const sheet = sheetById(draft, dimensions.sheetId);
    const { start, count } = linesOf(sheet, dimensions);
    const isRows = dimensions.dimension === 'ROWS';
    const list = linePropertiesOf(sheet, dimensions.dimension);
    for (let line = start; line < Math.min(start + count, list.length); line += 1) {
      const cells = isRows ? (sheet.rows[line] ?? []) : sheet.rows.map((row) => row[line]);
      const texts = cells.map((cell) => formattedValue(cell).split('\n'));
      const pixelSize = isRows
        ? Math.max(1, ...texts.map((text) => text.length)) * ROW_PIXELS
        : Math.max(0, ...texts.flat().map((text) => text.length)) * LETTER_PIXELS + PADDING_PIXELS;
      if (isRows || pixelSize > PADDING_PIXELS) list[line] = { ...list[line], pixelSize };
    }
    return undefined;
  },
);

export const DIMENSION_REQUESTS: Record<string, RequestKind> = {
  insertDimension,
  deleteDimension,
  moveDimension,
  appendDimension,
  updateDimensionProperties,
  autoResizeDimensions,
};
