/* global Tabulator */
import {
  cellElement,
  choiceEditor,
  columnLetters,
  columnNumber,
  contentWidth,
  headerElement,
  noteOrOverflow,
  textEditor,
} from '/grid-cells.js';

/**
 * Draws one tab with Tabulator. `perform(action)` sends a person's action, `menus` give the entries of the
 * context menus. The frozen first row is shown as the header; the rows below it keep their own numbers.
 */
export function createGridTable(element, sheet, perform, menus) {
  const headerRows = Math.min(sheet.frozenRows, 1);
  const grid = {
    sheet,
    perform,
    menus,
    headerRows,
    widths: sheet.columns.map(({ pixelSize }, column) => pixelSize ?? contentWidth(sheet, column)),
    shown: rowsOf(sheet, headerRows),
    typedAhead: undefined,
    isDestroyed: false,
  };
  const table = new Tabulator(element, tableOptions(grid));
  grid.table = table;
  grid.drawn = new Promise((resolve) => table.on('tableBuilt', resolve));
  table.on('cellEdited', (cell) =>
    perform({ ...placeOf(grid, cell), kind: 'edit', text: cell.getValue().typed }),
  );

  const isEditing = () => element.querySelector('.tabulator-editing') !== null;
  const onKeyDown = (event) => (isEditing() ? undefined : typeOnSelection(grid, event));
  element.addEventListener('keydown', onKeyDown);

  function destroy() {
    grid.isDestroyed = true;
    element.removeEventListener('keydown', onKeyDown);
    table.destroy();
  }

  return {
    sheetId: sheet.sheetId,
    shape: shapeOf(sheet),
    isEditing,
    destroy,
    selection: () => selectionOf(table),
    show: (next) => show(grid, next),
  };
}

/** What a table is built for; when it changes, the table is built anew. */
export function shapeOf({ sheetId, frozenRows, frozenColumns, columns, rows }) {
  return JSON.stringify([sheetId, frozenRows, frozenColumns, columns, frozenRows > 0 ? rows[0] : null]);
}

function tableOptions(grid) {
  const { sheet, menus, shown } = grid;
  return {
    data: copiesOf(shown),
    index: 'row',
    height: '100%',
    layout: 'fitData',
    columnDefaults: { headerSort: false, resizable: 'header', minWidth: 48 },
    columns: sheet.columns.map((properties, column) => columnDefinition(grid, properties, column)),
    rowHeader: {
      formatter: (cell) => String(cell.getData().row + 1),
      field: 'row',
      width: 44,
      frozen: true,
      resizable: false,
      hozAlign: 'center',
      cssClass: 'row-number',
    },
    selectableRange: 1,
    selectableRangeColumns: true,
    selectableRangeRows: true,
    editTriggerEvent: 'dblclick',
    rowContextMenu: (_event, row) => menus.row(row.getData().row),
  };
}

function columnDefinition(grid, { hiddenByUser }, column) {
  const { sheet, menus, headerRows, widths } = grid;
  const header = headerRows > 0 ? (sheet.rows[0]?.[column] ?? null) : null;
  return {
    field: `c${column}`,
    title: columnLetters(column),
    titleFormatter: () => headerElement(column, header),
    width: widths[column],
    visible: hiddenByUser !== true,
    frozen: column < sheet.frozenColumns,
    formatter: (cell) => cellElement(cell),
    tooltip: (_event, cell) => noteOrOverflow(cell),
    editor: (cell, ...callbacks) => editCell(grid, cell, ...callbacks),
    cellClick: (_event, cell) => toggleCheckbox(grid, cell),
    headerContextMenu: () => menus.column(column),
    headerMenu: () => menus.column(column),
    headerDblClick: () => (headerRows > 0 ? menus.renameHeader(column, header?.text ?? '') : undefined),
  };
}

function editCell(grid, cell, onRendered, success, cancel) {
  const value = cell.getValue();
  const before = value?.typed ?? '';
  const start = grid.typedAhead ?? before;
  grid.typedAhead = undefined;
  const finish = (text) => (text === before ? cancel() : success({ ...value, text, typed: text }));
  return value?.options
    ? choiceEditor(value, onRendered, finish, cancel)
    : textEditor(start, onRendered, finish, cancel);
}

function toggleCheckbox(grid, cell) {
  const value = cell.getValue();
  if (!value?.isCheckbox) return;
  grid.perform({ ...placeOf(grid, cell), kind: 'edit', text: value.text === 'TRUE' ? 'FALSE' : 'TRUE' });
}

function placeOf({ sheet }, cell) {
  return { sheet: sheet.sheetId, row: cell.getData().row, column: columnNumber(cell.getField()) };
}

/** Delete empties the selected cells, a letter begins to replace the first of them. */
function typeOnSelection(grid, event) {
  const { table, sheet, perform } = grid;
  const area = selectionOf(table);
  if (!area || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Delete' || event.key === 'Backspace') {
    event.preventDefault();
    const rows = Array.from({ length: area.height }, () => Array(area.width).fill(''));
    perform({ kind: 'paste', sheet: sheet.sheetId, row: area.row, column: area.column, rows });
  } else if (event.key.length === 1) {
    event.preventDefault();
    grid.typedAhead = event.key;
    table.getRow(area.row).getCell(`c${area.column}`).edit(true);
  }
}

/** The selected rectangle in the sheet's own row and column numbers. */
function selectionOf(table) {
  const range = table.getRanges()[0];
  const rows = range?.getRows().map((row) => row.getData().row) ?? [];
  const fields = range?.getColumns().map((column) => column.getField()) ?? [];
  const columns = fields.filter((field) => field !== 'row').map(columnNumber);
  if (rows.length === 0 || columns.length === 0) return undefined;
  return {
    row: Math.min(...rows),
    column: Math.min(...columns),
    height: rows.length,
    width: columns.length,
  };
}

/** Draws what changed, one state after the other, and leaves the rest, the selection and the scrolling alone. */
function show(grid, next) {
  grid.drawn = grid.drawn.then(() => (grid.isDestroyed ? undefined : drawChanges(grid, next)));
  return grid.drawn;
}

async function drawChanges(grid, next) {
  const { table, shown } = grid;
  const rows = rowsOf(next, grid.headerRows);
  const known = new Map(shown.map((row) => [row.row, JSON.stringify(row)]));
  const changed = rows.filter((row) => known.has(row.row) && known.get(row.row) !== JSON.stringify(row));
  const added = rows.filter((row) => !known.has(row.row));
  const gone = shown.slice(rows.length).map(({ row }) => row);
  grid.shown = rows;
  widenColumns(grid, next);
  if (changed.length > 0) await table.updateData(copiesOf(changed));
  if (added.length > 0) await table.addData(copiesOf(added));
  if (gone.length > 0) await table.deleteRow(gone);
}

/** A column grows with its longest text, so that a new message can be read; it never shrinks by itself. */
function widenColumns({ table, widths }, next) {
  for (const [column, { pixelSize }] of next.columns.entries()) {
    const width = pixelSize ?? contentWidth(next, column);
    if (width <= widths[column]) continue;
    widths[column] = width;
    table.getColumn(`c${column}`).setWidth(width);
  }
}

function rowsOf(sheet, headerRows) {
  return sheet.rows.slice(headerRows).map((cells, offset) => ({
    row: offset + headerRows,
    ...Object.fromEntries(sheet.columns.map((_, column) => [`c${column}`, cells[column] ?? null])),
  }));
}

/** Tabulator writes into the rows it is given; the ones compared with later stay as they are. */
function copiesOf(rows) {
  return rows.map((row) => ({ ...row }));
}
