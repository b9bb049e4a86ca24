import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';

/** Field mask of what {@link readTypedColumns} and {@link readTableAreas} need of a tab. */
export const tableFields = 'tables(range,columnProperties(columnIndex,columnType))';

/** Rows of which some part is of a table of Google's own. */
export interface TableRows {
  /** The row below the header of the table. */
  readonly startRow: number;
  /** The row behind the last one. */
  readonly endRow: number;
}

/** The cells of a table, without its header. */
export interface TableArea extends TableRows {
  readonly startColumn: number;
  readonly endColumn: number;
}

/**
 * A column of a table to which people gave a type, from below its header on. The type decides how its cells look and what their dropdown
 * is: Google refuses a batch that sets a number format or a dropdown there.
 */
export interface TypedColumn extends TableRows {
  readonly index: number;
  readonly isOfCheckboxes: boolean;
}

export const readTypedColumns = (tables: readonly sheets_v4.Schema$Table[]): TypedColumn[] =>
  tables.flatMap(({ columnProperties, range }) =>
    (columnProperties ?? [])
      .filter(({ columnType }) => columnType && columnType !== 'COLUMN_TYPE_UNSPECIFIED')
      .map(({ columnIndex, columnType }) => ({
        index: (range?.startColumnIndex ?? 0) + (columnIndex ?? 0),
        isOfCheckboxes: columnType === 'BOOLEAN',
        ...rowsOf(range),
      })),
  );

export const readTableAreas = (tables: readonly sheets_v4.Schema$Table[]): TableArea[] =>
  tables.map(({ range }) => ({
    ...rowsOf(range),
    startColumn: range?.startColumnIndex ?? 0,
    endColumn: range?.endColumnIndex ?? Number.POSITIVE_INFINITY,
  }));

const rowsOf = (range: sheets_v4.Schema$GridRange | undefined): TableRows => ({
  startRow: (range?.startRowIndex ?? 0) + 1,
  endRow: range?.endRowIndex ?? Number.POSITIVE_INFINITY,
});

/** Whether a table that has this column ends right above a row: only a row that takes after the one above it belongs to the table there. */
export const endsTable = (tables: readonly TableArea[], row: number, column: number): boolean =>
  tables.some(
    ({ endColumn, endRow, startColumn }) => endRow === row && column >= startColumn && column < endColumn,
  );

/** The rows of a table once some were added from `added.at` on, and then others were deleted. */
export function afterSteps<Area extends TableRows>(
  area: Area,
  added: { readonly at: number; readonly count: number },
  deleted: readonly number[],
): Area {
  const isAdded = added.at >= area.startRow && added.at <= area.endRow;
  const endRow = area.endRow + (isAdded ? added.count : 0);
  const isOwn = (row: number) => row >= area.startRow && row < endRow;
  return { ...area, endRow: endRow - deleted.filter(isOwn).length };
}

/** Whether a cell is of a typed column. */
export const isTyped = (typed: readonly TypedColumn[], row: number, column: number): boolean =>
  typed.some(({ endRow, index, startRow }) => index === column && row >= startRow && row < endRow);
