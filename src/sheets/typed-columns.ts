import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';

/** Field mask of what {@link readTypedColumns} needs of a tab. */
export const tableFields = 'tables(range,columnProperties(columnIndex,columnType))';

/**
 * A column of a table to which people gave a type, from below its header on. The type decides how its cells look and what their dropdown
 * is: Google refuses a batch that sets a number format or a dropdown there.
 */
export interface TypedColumn {
  readonly index: number;
  readonly isOfCheckboxes: boolean;
  readonly startRow: number;
  /** The row behind the last one. */
  readonly endRow: number;
}

export const readTypedColumns = (tables: readonly sheets_v4.Schema$Table[]): TypedColumn[] =>
  tables.flatMap(({ columnProperties, range }) =>
    (columnProperties ?? [])
      .filter(({ columnType }) => columnType && columnType !== 'COLUMN_TYPE_UNSPECIFIED')
      .map(({ columnIndex, columnType }) => ({
        index: (range?.startColumnIndex ?? 0) + (columnIndex ?? 0),
        isOfCheckboxes: columnType === 'BOOLEAN',
        startRow: (range?.startRowIndex ?? 0) + 1,
        endRow: range?.endRowIndex ?? Number.POSITIVE_INFINITY,
      })),
  );

/** Whether a cell is of a typed column. */
export const isTyped = (typed: readonly TypedColumn[], row: number, column: number): boolean =>
  typed.some(({ endRow, index, startRow }) => index === column && row >= startRow && row < endRow);
