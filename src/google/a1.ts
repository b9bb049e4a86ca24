/** A tab's title in A1 notation; quoted always, because a tab may be called `A1`. */
export const quoteTitle = (title: string): string => `'${title.replaceAll("'", "''")}'`;

/** `A` for column 0, `Z` for 25, `AA` for 26. */
export function columnLetters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : columnLetters(Math.floor(index / 26) - 1) + last;
}

/** A cell by its zero-based row and column. */
export const cellName = (row: number, column: number): string => `${columnLetters(column)}${row + 1}`;

/** The rows of a tab from `start` on to before `end`, zero-based. */
export const rowRange = (title: string, start: number, end: number): string =>
  `${quoteTitle(title)}!${start + 1}:${end}`;

/** A rectangle of cells as Google's requests name it. */
export const area = (sheetId: number, row: number, column: number, height: number, width: number) => ({
  sheetId,
  startRowIndex: row,
  endRowIndex: row + height,
  startColumnIndex: column,
  endColumnIndex: column + width,
});
