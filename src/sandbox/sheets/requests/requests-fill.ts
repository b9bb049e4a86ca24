import { z } from 'zod';
import { type Cell, withValue } from '../cell.ts';
import { effectiveValue } from '../display/display.ts';
import { DATE_TYPES } from '../display/number-format.ts';
import { type Area, areaAt } from '../grid/grid-range.ts';
import { resolveGridRange } from '../grid/range-reference.ts';
import { cellsIn, orderRows, putCells, transpose } from '../grid/ranges.ts';
import { followed } from '../grid/relative-references.ts';
import { numberFormatOf } from '../people/typed-input.ts';
import { type Dimension, growColumns, growRows, type Sheet, type Spreadsheet } from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { refuseMore } from './growth.ts';
import { type RequestKind, requestKind } from './request-kind.ts';
import { dimension, gridRange } from './request-shapes.ts';

/** Carries on what the source begins: rising numbers and dates, texts that end in a number, else the same again. */
const autoFill = requestKind(
  z.object({
    useAlternateSeries: z.boolean().default(false),
    range: gridRange.optional(),
    sourceAndDestination: z
      .object({ source: gridRange, dimension, fillLength: z.number().int().default(0) })
      .optional(),
  }),
  (draft, { range, sourceAndDestination, useAlternateSeries }) => {
    if (sourceAndDestination) {
      const { sheet, area } = resolveGridRange(draft, sourceAndDestination.source);
      fill(draft, sheet, area, sourceAndDestination, useAlternateSeries);
    } else if (range) {
      const { sheet, area } = resolveGridRange(draft, range);
      const height =
        cellsIn(sheet, area).findLastIndex((row) => row.some((cell) => cell?.userEnteredValue)) + 1;
      const source = { ...area, endRow: area.startRow + height };
      const fillLength = area.endRow - source.endRow;
      if (height > 0) fill(draft, sheet, source, { dimension: 'ROWS', fillLength }, useAlternateSeries);
    } else throw invalidArgument('One of range and sourceAndDestination must be set.');
    return undefined;
  },
);

function fill(
  draft: Spreadsheet,
  sheet: Sheet,
  area: Area,
  { dimension: along, fillLength }: { dimension: Dimension; fillLength: number },
  isAlternate: boolean,
): void {
  const block = cellsIn(sheet, area);
  const lines = along === 'ROWS' ? transpose(block) : block;
  const count = Math.abs(fillLength);
  const isBackwards = fillLength < 0;
  const turn = isBackwards ? -1 : 1;
  const filled = lines.map((line) =>
    series(isBackwards ? line.toReversed() : line, count, isAlternate).map((cell, offset) => {
      const steps = turn * (line.length + offset - (offset % line.length));
      return along === 'ROWS' ? followed(cell, steps, 0) : followed(cell, 0, steps);
    }),
  );
  const ordered = isBackwards ? filled.map((line) => line.toReversed()) : filled;
  const target =
    along === 'ROWS' ? Array.from({ length: count }, (_, row) => ordered.map((line) => line[row])) : ordered;
  const [row, column] =
    along === 'ROWS'
      ? [isBackwards ? area.startRow - count : area.endRow, area.startColumn]
      : [area.startRow, isBackwards ? area.startColumn - count : area.endColumn];
  if (row < 0 || column < 0) throw invalidArgument('The range to fill begins outside of the grid.');
  const end = areaAt(row, column, target.length, target[0]?.length ?? 0);
  const more = {
    rowCount: end.endRow - sheet.rows.length,
    columnCount: end.endColumn - sheet.columnProperties.length,
  };
  refuseMore(draft, sheet, more);
  growRows(sheet, more.rowCount);
  growColumns(sheet, more.columnCount);
  putCells(sheet, row, column, target);
}

/** The next cells after those of a line. */
function series(
  line: readonly (Cell | undefined)[],
  count: number,
  isAlternate: boolean,
): (Cell | undefined)[] {
  const next = (offset: number) => line[offset % line.length];
  const numbers = line.map((cell) => cell?.userEnteredValue?.numberValue);
  const [first] = numbers;
  const last = numbers.at(-1);
  const isDate = DATE_TYPES.has(String(numberFormatOf(line[0])?.['type'] ?? ''));
  const isSeries = isAlternate ? line.length === 1 && !isDate : line.length > 1 || isDate;
  if (isSeries && first !== undefined && last !== undefined && !numbers.includes(undefined)) {
    const step = line.length > 1 ? (last - first) / (line.length - 1) : 1;
    return Array.from({ length: count }, (_, offset) =>
      withValue(next(offset), { numberValue: last + step * (offset + 1) }),
    );
  }
  return Array.from({ length: count }, (_, offset) => {
    const cell = next(offset);
    const rounds = Math.floor(offset / line.length) + 1;
    const value = effectiveValue(cell);
    const [, stem, digits] =
      /^(.*?)(\d+)$/s.exec(value && 'stringValue' in value ? value.stringValue : '') ?? [];
    const isNumbered =
      cell?.userEnteredValue?.formulaValue === undefined && digits !== undefined && !isAlternate;
    return isNumbered ? withValue(cell, { stringValue: `${stem}${Number(digits) + rounds}` }) : cell;
  });
}

/** Shuffles the rows of a range; the numbers that ids are made of are the chance. */
const randomizeRange = requestKind(z.object({ range: gridRange }), (draft, { range }, nextId) => {
  const { sheet, area } = resolveGridRange(draft, range);
  const rows = Array.from({ length: area.endRow - area.startRow }, (_, down) => area.startRow + down);
  const keyed = rows.map((row) => ({ row, key: nextId() })).toSorted((one, other) => one.key - other.key);
  orderRows(
    draft,
    sheet,
    area,
    keyed.map(({ row }) => row),
  );
  return undefined;
});

export const FILL_REQUESTS: Record<string, RequestKind> = { autoFill, randomizeRange };
