import { z } from 'zod';
import { type Cell, mergeCell, refusalOfCell } from '../cell.ts';
import { isHiddenByFilter } from '../grid/filtering.ts';
import { type Area, areaAt, cellsOf } from '../grid/grid-range.ts';
import { resolveCoordinate, resolveGridRange } from '../grid/range-reference.ts';
import { followed } from '../grid/relative-references.ts';
import {
  cellAt,
  filledRowCount,
  growColumns,
  growRows,
  type Sheet,
  setCell,
  sheetById,
  sizeOf,
} from '../spreadsheet.ts';
import { isTyped, tableById } from '../tables.ts';
import { type FieldMask, parseFieldMask } from '../wire/field-mask.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { refuseMore } from './growth.ts';
import { type RequestKind, requestKind, requiredMask } from './request-kind.ts';
import { cellShape, fields, gridCoordinate, gridRange, jsonObject, rowShape } from './request-shapes.ts';
import { roomInTable } from './requests-tables.ts';

type RowShape = z.infer<typeof rowShape>;

const updateCells = requestKind(
  z.object({
    start: gridCoordinate.optional(),
    range: gridRange.optional(),
    rows: z.array(rowShape).default([]),
    fields,
  }),
  (draft, { start, range, rows, fields: maskText }) => {
    const mask = requiredMask(maskText);
    if (range) {
      const { sheet, area } = resolveGridRange(draft, range);
      refuseOutside(area, rows);
      for (const { row, column } of cellsOf(area)) {
        writeCell(sheet, row, column, cellIn(rows, row - area.startRow, column - area.startColumn), mask);
      }
    } else {
      const { sheet, row, column } = resolveCoordinate(draft, start ?? {});
      writeRows(sheet, row, column, rows, mask);
    }
    return undefined;
  },
);

const repeatCell = requestKind(
  z.object({ range: gridRange, cell: cellShape.default({}), fields }),
  (draft, { range, cell, fields: maskText }) => {
    const mask = requiredMask(maskText);
    const { sheet, area } = resolveGridRange(draft, range);
    for (const { row, column } of cellsOf(area)) {
      // A formula is meant for the first cell; below and beside it refers to what is below and beside.
      const there = followed(cell, row - area.startRow, column - area.startColumn) ?? {};
      writeCell(sheet, row, column, there, mask);
    }
    return undefined;
  },
);

/** Writes below the last row that has a value anywhere in the tab, or at the end of a table, and grows the grid where needed. */
const appendCells = requestKind(
  z.object({
    sheetId: z.number().int().default(0),
    tableId: z.string().optional(),
    rows: z.array(rowShape).default([]),
    fields,
  }),
  (draft, { sheetId, tableId, rows, fields: maskText }) => {
    const mask = requiredMask(maskText);
    if (tableId !== undefined) {
      const { sheet, table } = tableById(draft, tableId);
      const { row, column } = roomInTable(draft, sheet, table, rows.length);
      writeRows(sheet, row, column, rows, mask);
      return undefined;
    }
    const sheet = sheetById(draft, sheetId);
    const start = filledRowCount(sheet);
    const width = Math.max(0, ...rows.map(({ values = [] }) => values.length));
    const more = {
      rowCount: start + rows.length - sheet.rows.length,
      columnCount: width - sheet.columnProperties.length,
    };
    refuseMore(draft, sheet, more);
    growRows(sheet, more.rowCount);
    growColumns(sheet, more.columnCount);
    writeRows(sheet, start, 0, rows, mask);
    return undefined;
  },
);

const setDataValidation = requestKind(
  z.object({ range: gridRange, rule: jsonObject.optional(), filteredRowsIncluded: z.boolean().optional() }),
  (draft, { filteredRowsIncluded = false, range, rule }) => {
    const { sheet, area } = resolveGridRange(draft, range);
    const mask = parseFieldMask('dataValidation');
    for (const { row, column } of cellsOf(area)) {
      if (!filteredRowsIncluded && isHiddenByFilter(sheet, row)) continue;
      if (isTyped(sheet, row, column))
        throw invalidArgument('This operation is not allowed on cells in typed columns.');
      writeCell(sheet, row, column, { dataValidation: rule }, mask);
    }
    return undefined;
  },
);

function writeRows(
  sheet: Sheet,
  startRow: number,
  startColumn: number,
  rows: RowShape[],
  mask: FieldMask,
): void {
  const { rowCount, columnCount } = sizeOf(sheet);
  refuseOutside(areaAt(startRow, startColumn, rowCount - startRow, columnCount - startColumn), rows);
  for (const [down, { values = [] }] of rows.entries()) {
    for (const [right, cell] of values.entries()) {
      writeCell(sheet, startRow + down, startColumn + right, cell, mask);
    }
  }
}

function writeCell(sheet: Sheet, row: number, column: number, update: Cell, mask: FieldMask): void {
  const cell = mergeCell(cellAt(sheet, row, column), update, mask);
  const refusal = cell && refusalOfCell(cell);
  if (refusal) throw invalidArgument(refusal);
  if (mask.get('userEnteredFormat')?.has('numberFormat') && isTyped(sheet, row, column))
    throw invalidArgument("You can't set the number format of cells in a typed column.");
  setCell(sheet, row, column, cell);
}

function cellIn(rows: RowShape[], down: number, right: number): Cell {
  return rows[down]?.values?.[right] ?? {};
}

function refuseOutside(area: Area, rows: RowShape[]): void {
  const lastRow = area.startRow + rows.length - 1;
  const lastColumn = area.startColumn + Math.max(0, ...rows.map(({ values = [] }) => values.length)) - 1;
  if (lastRow >= area.endRow) throw beyond('row', lastRow, area.endRow - 1);
  if (lastColumn >= area.endColumn) throw beyond('column', lastColumn, area.endColumn - 1);
}

function beyond(line: 'row' | 'column', attempted: number, last: number) {
  return invalidArgument(
    `Attempting to write ${line}: ${attempted}, beyond the last requested ${line} of: ${last}`,
  );
}

export const CELL_REQUESTS: Record<string, RequestKind> = {
  updateCells,
  repeatCell,
  appendCells,
  setDataValidation,
};
