/** So many cells change where somebody types, pastes or writes; more are a tab that is filled, and nobody could look at them all. */
const CELLS_MAX = 200;

const ID_HEADER = 'ID';

/**
 * Finds the cells whose text is another one than before, as `{ row, column }`. Rows are known by their ID where the tab has such a column,
 * and columns by their header: a row or column that only moved has not changed.
 */
export function changedCells(before, after) {
  const [textsBefore, found] = [textsOf(before), []];
  if (textsBefore.size === 0) return [];
  for (const [key, { row, texts }] of textsOf(after)) {
    const known = textsBefore.get(key)?.texts;
    for (const [header, { column, text }] of texts)
      if (text !== (known?.get(header)?.text ?? '')) found.push({ row, column });
  }
  return found.length > CELLS_MAX ? [] : found;
}

/** The rows below the header that hold something, by their ID; by their place where they have none. */
function textsOf({ rows, frozenRows, columns }) {
  const headers = columns.map((_, column) => (frozenRows > 0 && rows[0]?.[column]?.text) || `c${column}`);
  const idColumn = headers.indexOf(ID_HEADER);
  return new Map(
    rows.slice(frozenRows).flatMap((cells, index) => {
      if (!cells.some((cell) => cell?.text)) return [];
      const row = frozenRows + index;
      const texts = headers.map((header, column) => [header, { column, text: cells[column]?.text ?? '' }]);
      const id = cells[idColumn]?.text;
      return [[id ? `ID ${id}` : row, { row, texts: new Map(texts) }]];
    }),
  );
}
