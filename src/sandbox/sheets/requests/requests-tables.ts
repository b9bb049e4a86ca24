import { z } from 'zod';
import { withValue } from '../cell.ts';
import { insertLines } from '../grid/dimensions.ts';
import { type Area, cellsOf, rangeOf } from '../grid/grid-range.ts';
import { resolveGridRange } from '../grid/range-reference.ts';
import { clearCells } from '../grid/ranges.ts';
import { cellAt, type Overlay, type Sheet, type Spreadsheet, setCell } from '../spreadsheet.ts';
import {
  areaOfTable,
  extendTables,
  hasFooter,
  nameBlankColumns,
  refuseOverlap,
  tableById,
  tableIdOf,
  tableJson,
} from '../tables.ts';
import { maskOf, mergeFields } from '../wire/field-mask.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { refuseMore } from './growth.ts';
import { type RequestKind, requestKind, requiredMask } from './request-kind.ts';
import { fields, gridRange, jsonObject } from './request-shapes.ts';

const tableShape = z.object({
  tableId: z.string().optional(),
  name: z.string().optional(),
  range: gridRange.optional(),
  rowsProperties: jsonObject.optional(),
  columnProperties: z
    .array(
      z.object({
        columnIndex: z.number().int().nonnegative().default(0),
        columnName: z.string().optional(),
        columnType: z.string().optional(),
        dataValidationRule: jsonObject.optional(),
      }),
    )
    .optional(),
});

type TableShape = z.infer<typeof tableShape>;
type ColumnShape = NonNullable<TableShape['columnProperties']>[number];

/** A table on the first row freezes that row. */
const addTable = requestKind(z.object({ table: tableShape }), (draft, { table: sent }, nextId) => {
  if (!sent.range) throw invalidArgument('table.range is required.');
  const { sheet, area } = resolveGridRange(draft, sent.range);
  refuseOverlap(sheet, area);
  refuseName(draft, sent.name);
  const table: Overlay = {
    id: nextId(),
    ranges: [rangeOf(sheet.sheetId, area)],
    name: sent.name ?? freeName(draft),
    ...(sent.tableId !== undefined && { tableId: sent.tableId }),
    ...(sent.rowsProperties && { rowsProperties: sent.rowsProperties }),
  };
  if (draft.sheets.some(({ tables }) => tables.some((other) => tableIdOf(other) === tableIdOf(table)))) {
    throw invalidArgument(`A table with id ${tableIdOf(table)} already exists.`);
  }
  sheet.tables.push(table);
  if (sent.columnProperties) setColumns(sheet, table, sent.columnProperties, nextId);
  nameBlankColumns(sheet);
  if (area.startRow === 0 && !sheet.gridProperties['frozenRowCount']) {
    sheet.gridProperties = { ...sheet.gridProperties, frozenRowCount: 1 };
  }
  return { table: tableJson(sheet, table) };
});

/** A list of columns replaces the whole list: a column that is left out keeps its header and loses its type. */
const updateTable = requestKind(
  z.object({ table: tableShape, fields }),
  (draft, { table: sent, fields: maskText }, nextId) => {
    const mask = requiredMask(maskText);
    const { sheet, table } = tableById(draft, sent.tableId ?? '');
    let changed = table;
    if (maskOf(mask, 'name') && sent.name !== tableNameOf(table)) {
      refuseName(draft, sent.name);
      changed = { ...changed, name: sent.name ?? tableNameOf(table) };
    }
    if (maskOf(mask, 'range') && sent.range) {
      const { area } = resolveGridRange(draft, sent.range);
      refuseOverlap(sheet, area, table);
      changed = { ...changed, ranges: [rangeOf(sheet.sheetId, area)] };
    }
    const rowsMask = maskOf(mask, 'rowsProperties');
    if (rowsMask) changed = withRows(sheet, changed, sent.rowsProperties ?? {}, rowsMask);
    sheet.tables = sheet.tables.map((candidate) => (candidate === table ? changed : candidate));
    if (maskOf(mask, 'columnProperties')) {
      const columns = sent.columnProperties ?? [];
      if (columns.some(({ columnName }) => !columnName)) {
        throw invalidArgument('Table header row cell must have a value.');
      }
      setColumns(sheet, changed, columns, nextId);
    }
    nameBlankColumns(sheet);
    return undefined;
  },
);

/** Takes the table away with all that is in it; deleting its banding is what keeps the cells. */
const deleteTable = requestKind(z.object({ tableId: z.string() }), (draft, { tableId }) => {
  const { sheet, table } = tableById(draft, tableId);
  clearCells(sheet, areaOfTable(sheet, table));
  dropTable(sheet, table);
  return undefined;
});

/** Makes a table plain cells again. */
export function dropTable(sheet: Sheet, table: Overlay): void {
  const area = areaOfTable(sheet, table);
  sheet.tableColumns = sheet.tableColumns.filter((column) => !isInHeader(column, area));
  sheet.tables = sheet.tables.filter((candidate) => candidate !== table);
}

/** A footer is a row more, its end a row less. */
function withRows(
  sheet: Sheet,
  table: Overlay,
  sent: JsonObject,
  mask: ReturnType<typeof requiredMask>,
): Overlay {
  const current = isJsonObject(table['rowsProperties']) ? table['rowsProperties'] : {};
  const changed = { ...table, rowsProperties: mergeFields(current, sent, mask) };
  const area = areaOfTable(sheet, table);
  const endRow = area.endRow + Number(hasFooter(changed)) - Number(hasFooter(table));
  return { ...changed, ranges: [rangeOf(sheet.sheetId, { ...area, endRow })] };
}

/** A name goes into its header cell; a column that is sent without one loses its header and is named anew. */
function setColumns(
  sheet: Sheet,
  table: Overlay,
  columns: readonly ColumnShape[],
  nextId: () => number,
): void {
  const area = areaOfTable(sheet, table);
  sheet.tableColumns = sheet.tableColumns.filter((column) => !isInHeader(column, area));
  for (const { columnIndex, columnName, ...type } of columns) {
    refuseRule(type);
    const column = area.startColumn + columnIndex;
    if (column >= area.endColumn) throw invalidArgument(`The table has no column at index ${columnIndex}.`);
    const { textFormatRuns: _, ...header } = cellAt(sheet, area.startRow, column) ?? {};
    setCell(sheet, area.startRow, column, withValue(header, { stringValue: columnName ?? '' }));
    if (type.columnType === undefined) continue;
    const cell = { ...area, endRow: area.startRow + 1, startColumn: column, endColumn: column + 1 };
    sheet.tableColumns.push({ ...type, id: nextId(), ranges: [rangeOf(sheet.sheetId, cell)] });
    const endRow = area.endRow - Number(hasFooter(table));
    setDefaults(sheet, { ...cell, startRow: area.startRow + 1, endRow }, type.columnType);
  }
}

/** A column of checkboxes holds TRUE or FALSE and nothing else, one of ratings at least a 0. */
function setDefaults(sheet: Sheet, body: Area, columnType: string): void {
  for (const { row, column } of cellsOf(body)) {
    const cell = cellAt(sheet, row, column);
    const value = cell?.userEnteredValue;
    if (columnType === 'BOOLEAN' && value?.boolValue === undefined) {
      setCell(sheet, row, column, withValue(cell, { boolValue: false }));
    }
    if (columnType === 'RATINGS_CHIP' && !value) {
      setCell(sheet, row, column, withValue(cell, { numberValue: 0 }));
    }
  }
}

/** A dropdown needs its list, and no other type may have one. */
function refuseRule({
  columnType,
  dataValidationRule,
}: Omit<ColumnShape, 'columnIndex' | 'columnName'>): void {
  const isDropdown = columnType === 'DROPDOWN';
  if (isDropdown && !dataValidationRule) {
    throw invalidArgument('Condition must be set for dropdown column type.');
  }
  if (!isDropdown && dataValidationRule) {
    throw invalidArgument('Cannot set condition for non-dropdown column type.');
  }
}

function isInHeader({ ranges: [range] }: Overlay, { startRow, startColumn, endColumn }: Area): boolean {
  const column = range?.startColumnIndex ?? -1;
  return range?.startRowIndex === startRow && column >= startColumn && column < endColumn;
}

function tableNameOf(table: Overlay): string {
  return String(table['name']);
}

function refuseName(draft: Spreadsheet, name: string | undefined): void {
  const names = draft.sheets.flatMap(({ tables }) => tables.map(tableNameOf));
  if (name !== undefined && names.includes(name)) {
    throw invalidArgument(`A table with the name "${name}" already exists.`);
  }
}

function freeName(draft: Spreadsheet): string {
  const names = draft.sheets.flatMap(({ tables }) => tables.map(tableNameOf));
  let number = names.length + 1;
  while (names.includes(`Table${number}`)) number += 1;
  return `Table${number}`;
}

/**
 * Makes room for rows in a table's body and gives the first row to write to: free rows at its end are used first, what
 * lacks is inserted before the footer and pushes everything below down.
 */
export function roomInTable(
  draft: Spreadsheet,
  sheet: Sheet,
  table: Overlay,
  count: number,
): { row: number; column: number } {
  const area = areaOfTable(sheet, table);
  const end = area.endRow - Number(hasFooter(table));
  const body = { ...area, startRow: area.startRow + 1, endRow: end };
  let row = body.startRow;
  for (const place of cellsOf(body)) {
    if (cellAt(sheet, place.row, place.column)?.userEnteredValue) row = place.row + 1;
  }
  const missing = row + count - end;
  if (missing > 0) {
    refuseMore(draft, sheet, { rowCount: missing });
    insertLines(draft, sheet, { dimension: 'ROWS', start: end, count: missing });
    extendTables(sheet, [table.id], 'ROWS', area.endRow + missing);
  }
  return { row, column: area.startColumn };
}

export const TABLE_REQUESTS: Record<string, RequestKind> = { addTable, updateTable, deleteTable };
