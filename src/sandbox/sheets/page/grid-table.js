/* global Tabulator */
import { flash } from '/flash.js';
import {
  cellElement,
  choiceEditor,
  columnLetters,
  columnNumber,
  contentWidth,
  headerElement,
  listEditor,
  noteOrOverflow,
  textEditor,
} from '/grid-cells.js';
import { changedCells } from '/grid-changes.js';

/**
 * Draws one tab with Tabulator. The frozen first row is shown as the header; the rows below it keep their own numbers.
 * `on` holds what follows: `edit({ row, column, text })`, `moveColumn(from, to)`, `renameHeader(column, text)`,
 * `select()`, `menuClosed()` and the entries of `cellMenu()` and `columnMenu(column)`.
 */
export function createGridTable(element, sheet, on) {
  const headerRows = Math.min(sheet.frozenRows, 1);
  const grid = {
    sheet,
    on,
    headerRows,
    widths: sheet.columns.map(({ pixelSize }, column) => pixelSize ?? contentWidth(sheet, column)),
    shown: rowsOf(sheet, headerRows),
    typedAhead: undefined,
    isDestroyed: false,
  };
  const table = new Tabulator(element, tableOptions(grid));
  grid.table = table;
  grid.drawn = new Promise((resolve) => table.on('tableBuilt', resolve));
  table.on('cellEdited', (cell) => {
    // What was typed is shown at once and drawn again from the sheet's answer, also when that refuses it.
    grid.shown = grid.shown.map((row) => (row.row === cell.getData().row ? { row: row.row } : row));
    on.edit({ ...placeOf(cell), text: cell.getValue().typed });
  });
  table.on('columnMoved', (column, columns) => {
    const fields = columns.map((one) => one.getField()).filter((field) => field !== 'row');
    const [from, to] = [columnNumber(column.getField()), fields.indexOf(column.getField())];
    on.moveColumn(from, to > from ? to + 1 : to);
  });
  for (const name of ['rangeAdded', 'rangeChanged']) table.on(name, () => on.select());
  table.on('menuClosed', () => on.menuClosed());

  return {
    sheet: () => grid.sheet,
    shape: shapeOf(sheet),
    isEditing: () => element.querySelector('.tabulator-editing') !== null,
    hasMenuOpen: () => document.querySelector('.tabulator-menu') !== null,
    destroy() {
      grid.isDestroyed = true;
      table.destroy();
    },
    hasFocus: () => element.contains(document.activeElement),
    focus: () => holderOf(element)?.focus(),
    selection: () => selectionOf(table),
    select: (area) => grid.drawn.then(() => (grid.isDestroyed ? undefined : select(grid, area))),
    show: (next) => show(grid, next),
    /** Opens the editor of the first selected cell; a letter that was typed replaces what it holds. */
    edit(typedAhead) {
      const area = selectionOf(table);
      if (!area) return;
      grid.typedAhead = typedAhead;
      cellOf(grid, area)?.edit(true);
    },
  };
}

/** What a table is built for; when it changes, the table is built anew. */
export function shapeOf({ sheetId, frozenRows, frozenColumns, columns, rows }) {
  return JSON.stringify([sheetId, frozenRows, frozenColumns, columns, frozenRows > 0 ? rows[0] : null]);
}

export function holderOf(element) {
  return element.querySelector('.tabulator-tableholder');
}

function tableOptions(grid) {
  const { sheet, on, shown } = grid;
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
    movableColumns: true,
    selectableRange: 1,
    selectableRangeColumns: true,
    selectableRangeRows: true,
    editTriggerEvent: 'dblclick',
    rowContextMenu: () => on.cellMenu(),
  };
}

function columnDefinition(grid, { hiddenByUser }, column) {
  const { sheet, on, headerRows, widths } = grid;
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
    // Opening an editor counts as a click without a target.
    cellClick: (event, cell) => {
      if (event?.target?.type !== 'checkbox') return;
      event.preventDefault();
      toggleCheckbox(grid, cell);
    },
    headerContextMenu: () => on.columnMenu(column),
    headerMenu: () => on.columnMenu(column),
    headerDblClick: () => (headerRows > 0 ? on.renameHeader(column, header?.text ?? '') : undefined),
  };
}

function editCell(grid, cell, onRendered, success, cancel) {
  const value = cell.getValue();
  const { on, typedAhead } = grid;
  grid.typedAhead = undefined;
  if (value?.isCheckbox && typedAhead === undefined) {
    toggleCheckbox(grid, cell);
    return false;
  }
  const before = value?.typed ?? '';
  const { row, column } = placeOf(cell);
  const callbacks = {
    onRendered,
    finish: (text) => (text === before ? cancel() : success({ ...value, text, typed: text })),
    cancel,
    leave: (down, right) => select(grid, { row: row + down, column: column + right, height: 1, width: 1 }),
  };
  if (value?.options && typedAhead === undefined) return choiceEditor(value, callbacks);
  if (value?.list) return listEditor(on.list(value.list), { ...callbacks, text: typedAhead ?? before });
  return textEditor({ ...callbacks, text: typedAhead ?? before, isTypedAhead: typedAhead !== undefined });
}

function toggleCheckbox(grid, cell) {
  const value = cell.getValue();
  if (value?.isCheckbox) grid.on.edit({ ...placeOf(cell), text: value.text === 'TRUE' ? 'FALSE' : 'TRUE' });
}

function placeOf(cell) {
  return { row: cell.getData().row, column: columnNumber(cell.getField()) };
}

/** Undefined for a row that is hidden or not there. */
function cellOf({ table, shown, sheet }, { row, column }) {
  const isThere = column in sheet.columns && shown.some((one) => one.row === row);
  return isThere ? table.getRow(row).getCell(`c${column}`) : undefined;
}

/** The selected rectangle in the sheet's own row and column numbers, hidden lines within it included. */
function selectionOf(table) {
  const range = table.getRanges()[0];
  const rows = range?.getRows().map((row) => row.getData().row) ?? [];
  const fields = range?.getColumns().map((column) => column.getField()) ?? [];
  const columns = fields.filter((field) => field !== 'row').map(columnNumber);
  if (rows.length === 0 || columns.length === 0) return undefined;
  const [row, column] = [Math.min(...rows), Math.min(...columns)];
  return { row, column, height: Math.max(...rows) - row + 1, width: Math.max(...columns) - column + 1 };
}

/** Selects a rectangle as far as it is shown, and scrolls to where it begins. */
function select(grid, { row, column, height, width }) {
  const { table } = grid;
  const first = cellOf(grid, { row, column });
  if (!first?.getColumn().isVisible()) return;
  const last = cellOf(grid, { row: row + height - 1, column: column + width - 1 }) ?? first;
  table.getRanges()[0]?.setBounds(first, last);
  table.scrollToRow(first.getRow(), 'nearest', false);
  table.scrollToColumn(first.getColumn(), 'left', false);
}

/** Draws what changed, one state after the other, and leaves the rest, the selection and the scrolling alone. */
function show(grid, next) {
  grid.drawn = grid.drawn.then(async () => {
    if (grid.isDestroyed) return;
    const changed = changedCells(grid.sheet, next);
    await drawChanges(grid, next);
    for (const place of changed) {
      const cell = cellOf(grid, place);
      if (cell) flash(cell.getElement());
    }
  });
  return grid.drawn;
}

async function drawChanges(grid, next) {
  const { table, shown } = grid;
  const rows = rowsOf(next, grid.headerRows);
  grid.shown = rows;
  grid.sheet = next;
  widenColumns(grid, next);
  const both = Math.min(rows.length, shown.length);
  if (rows.slice(0, both).some(({ row }, index) => row !== shown[index].row)) {
    const area = selectionOf(table);
    await table.replaceData(copiesOf(rows));
    if (area) select(grid, area);
    return;
  }
  const changed = rows
    .slice(0, both)
    .filter((row, index) => JSON.stringify(row) !== JSON.stringify(shown[index]));
  if (changed.length > 0) await table.updateData(copiesOf(changed));
  if (rows.length > both) await table.addData(copiesOf(rows.slice(both)));
  if (shown.length > both) await table.deleteRow(shown.slice(both).map(({ row }) => row));
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
  const hidden = new Set(sheet.hiddenRows);
  return sheet.rows.flatMap((cells, row) =>
    row < headerRows || hidden.has(row)
      ? []
      : {
          row,
          ...Object.fromEntries(sheet.columns.map((_, column) => [`c${column}`, cells[column] ?? null])),
        },
  );
}

/** Tabulator writes into the rows it is given; the ones compared with later stay as they are. */
function copiesOf(rows) {
  return rows.map((row) => ({ ...row }));
}
