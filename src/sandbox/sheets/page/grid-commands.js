/** A person's actions on the selected cells; `area` is `{ row, column, height, width }` in the sheet's own numbers. */

export const rangeOf = ({ row, column, height, width }) => ({
  startRow: row,
  endRow: row + height,
  startColumn: column,
  endColumn: column + width,
});

/** Who selects whole columns, or all there is, means the header as well, although no cell shows it. */
export function withHeader(area, { frozenRows, rowCount }) {
  const isWhole = frozenRows > 0 && area.row === 1 && area.height >= rowCount - 1;
  return isWhole ? { ...area, row: 0, height: area.height + 1 } : area;
}

/** Ctrl+D copies the first of the selected rows down, or the row above when only one is selected. */
function fillDown({ row, height, ...columns }) {
  const area = height > 1 || row === 0 ? { row, height } : { row: row - 1, height: 2 };
  return { kind: 'fillDown', range: rangeOf({ ...area, ...columns }) };
}

const COMMANDS = {
  undo: () => ({ kind: 'undo' }),
  redo: () => ({ kind: 'redo' }),
  clear: (area, sheet) => ({ kind: 'clear', range: rangeOf(withHeader(area, sheet)) }),
  fillDown,
  formatNumbers: (area, sheet) => ({
    kind: 'formatNumbers',
    range: rangeOf(withHeader(area, sheet)),
    pattern: '#,##0.00',
  }),
  insertRowAbove: ({ row }) => ({ kind: 'insertRows', row }),
  insertRow: ({ row, height }) => ({ kind: 'insertRows', row: row + height }),
  copyRow: ({ row }) => ({ kind: 'copyRow', row, to: row + 1, inserts: true }),
  moveRowsUp: ({ row, height }) => ({ kind: 'moveRows', row, count: height, to: Math.max(0, row - 1) }),
  moveRowsDown: ({ row, height }) => ({ kind: 'moveRows', row, count: height, to: row + height + 1 }),
  hideRows: ({ row, height }) => ({ kind: 'hideRows', row, count: height }),
  deleteRows: ({ row, height }) => ({ kind: 'deleteRows', row, count: height }),
  insertColumnLeft: ({ column }) => ({ kind: 'insertColumns', column }),
  insertColumnRight: ({ column, width }) => ({ kind: 'insertColumns', column: column + width }),
  moveColumnsLeft: ({ column, width }) => ({
    kind: 'moveColumns',
    column,
    count: width,
    to: Math.max(0, column - 1),
  }),
  moveColumnsRight: ({ column, width }) => ({
    kind: 'moveColumns',
    column,
    count: width,
    to: column + width + 1,
  }),
  hideColumns: ({ column, width }) => ({ kind: 'hideColumns', column, count: width }),
  deleteColumns: ({ column, width }) => ({ kind: 'deleteColumns', column, count: width }),
  sortAscending: ({ column }) => ({ kind: 'sort', column }),
  sortDescending: ({ column }) => ({ kind: 'sort', column, descending: true }),
  sortSelection: (area) => ({ kind: 'sort', column: area.column, range: rangeOf(area) }),
  sortSelectionBack: (area) => ({
    kind: 'sort',
    column: area.column,
    range: rangeOf(area),
    descending: true,
  }),
  showAll: () => ({ kind: 'showAll' }),
};

/** These would change rows or cells that nobody sees. */
const NOT_ON_HIDDEN = new Set([
  'clear',
  'fillDown',
  'deleteRows',
  'deleteColumns',
  'moveRowsUp',
  'moveRowsDown',
]);

const NEEDS_NO_CELL = new Set(['undo', 'redo', 'showAll']);

/**
 * The action of a command, or the words that say why there is none.
 * @returns {{ action?: object, problem?: string }}
 */
export function actionFor(name, area, sheet) {
  if (!area && !NEEDS_NO_CELL.has(name)) return { problem: 'Select a cell first.' };
  if (NOT_ON_HIDDEN.has(name) && coversHidden(area, sheet)) {
    return { problem: 'Some of the selected rows or columns are hidden. Show them first.' };
  }
  return { action: COMMANDS[name](area, sheet) };
}

export function coversHidden({ row, column, height, width }, sheet) {
  const hidesColumn = sheet.columns
    .slice(column, column + width)
    .some(({ hiddenByUser }) => hiddenByUser === true);
  return hidesColumn || sheet.hiddenRows.some((hidden) => hidden >= row && hidden < row + height);
}

/** The command that a key stands for; undefined when it is none. */
export function commandOfKey({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (altKey) return undefined;
  if (!ctrlKey && !metaKey) return key === 'Delete' || key === 'Backspace' ? 'clear' : undefined;
  const letter = key.toLowerCase();
  if (letter === 'z') return shiftKey ? 'redo' : 'undo';
  return { y: 'redo', d: 'fillDown' }[letter];
}

const plural = (count, noun) => (count > 1 ? `${count} ${noun}s` : noun);

/** The menu of a cell: `[label, command]`, or undefined for a line between them. */
export function cellMenu({ height, width }) {
  return [
    ['Insert row above', 'insertRowAbove'],
    ['Insert row below', 'insertRow'],
    ['Copy row below', 'copyRow'],
    undefined,
    ['Move up', 'moveRowsUp'],
    ['Move down', 'moveRowsDown'],
    [`Hide ${plural(height, 'row')}`, 'hideRows'],
    [`Delete ${plural(height, 'row')}`, 'deleteRows'],
    undefined,
    ...(height > 1 && width > 0
      ? [
          ['Sort only the selection A → Z', 'sortSelection'],
          ['Sort only the selection Z → A', 'sortSelectionBack'],
          ['Fill down', 'fillDown'],
        ]
      : []),
    ['Format as number', 'formatNumbers'],
    ['Clear', 'clear'],
  ];
}

export function columnMenu({ width }) {
  return [
    ['Sort A → Z', 'sortAscending'],
    ['Sort Z → A', 'sortDescending'],
    undefined,
    ['Insert column left', 'insertColumnLeft'],
    ['Insert column right', 'insertColumnRight'],
    ['Move left', 'moveColumnsLeft'],
    ['Move right', 'moveColumnsRight'],
    [`Hide ${plural(width, 'column')}`, 'hideColumns'],
    [`Delete ${plural(width, 'column')}`, 'deleteColumns'],
  ];
}
