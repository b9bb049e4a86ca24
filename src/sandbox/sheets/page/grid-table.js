/* global Tabulator */

const LETTER_WIDTH_PX = 7.2;
const CELL_PADDING_PX = 26;
const LEAST_WIDTH_PX = 84;
const MOST_WIDTH_PX = 520;

/**
 * Draws one tab with Tabulator. `perform(action)` sends a person's action, `menus` give the entries of the
 * context menus. The frozen first row is shown as the header; the rows below it keep their own numbers.
 */
export function createGridTable(element, sheet, perform, menus) {
  const headerRows = Math.min(sheet.frozenRows, 1);
  const widths = sheet.columns.map(({ pixelSize }, column) => pixelSize ?? contentWidth(sheet, column));
  let shown = rowsOf(sheet, headerRows);
  let typedAhead;
  let isDestroyed = false;

  const table = new Tabulator(element, {
    data: shown.map((row) => ({ ...row })),
    index: 'row',
    height: '100%',
    layout: 'fitData',
    headerSortClickElement: 'icon',
    columnDefaults: { headerSort: false, resizable: 'header', minWidth: 48 },
    columns: sheet.columns.map((properties, column) => columnDefinition(properties, column)),
    rowHeader: {
      formatter: (cell) => String(cell.getData().row + 1),
      field: 'row',
      width: 44,
      frozen: true,
      resizable: false,
      hozAlign: 'center',
      cssClass: 'row-number',
      contextMenu: (_event, cell) => menus.row(cell.getData().row),
    },
    selectableRange: 1,
    selectableRangeColumns: true,
    selectableRangeRows: true,
    editTriggerEvent: 'dblclick',
    rowContextMenu: (_event, row) => menus.row(row.getData().row),
  });

  function columnDefinition({ hiddenByUser }, column) {
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
      editor: editCell,
      cellClick: (_event, cell) => toggleCheckbox(cell),
      headerContextMenu: () => menus.column(column),
      headerMenu: () => menus.column(column),
      headerDblClick: () => (headerRows > 0 ? menus.renameHeader(column, header?.text ?? '') : undefined),
    };
  }

  function editCell(cell, onRendered, success, cancel) {
    const value = cell.getValue();
    const typed = typedAhead ?? value?.typed ?? '';
    typedAhead = undefined;
    const finish = (text) =>
      text === (value?.typed ?? '') ? cancel() : success({ ...value, text, typed: text });
    return value?.options
      ? choiceEditor(value, onRendered, finish, cancel)
      : textEditor(typed, onRendered, finish, cancel);
  }

  function toggleCheckbox(cell) {
    const value = cell.getValue();
    if (!value?.isCheckbox) return;
    perform({ ...placeOf(cell), kind: 'edit', text: value.text === 'TRUE' ? 'FALSE' : 'TRUE' });
  }

  function placeOf(cell) {
    return { sheet: sheet.sheetId, row: cell.getData().row, column: columnNumber(cell.getField()) };
  }

  table.on('cellEdited', (cell) => perform({ ...placeOf(cell), kind: 'edit', text: cell.getValue().typed }));

  element.addEventListener('keydown', onKeyDown);

  function onKeyDown(event) {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const area = selection();
    if (isEditing() || !isPlain || !area) return;
    if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault();
      const rows = Array.from({ length: area.height }, () => Array(area.width).fill(''));
      perform({ kind: 'paste', sheet: sheet.sheetId, row: area.row, column: area.column, rows });
    } else if (event.key.length === 1) {
      event.preventDefault();
      typedAhead = event.key;
      table.getRow(area.row).getCell(`c${area.column}`).edit(true);
    }
  }

  function isEditing() {
    return element.querySelector('.tabulator-editing') !== null;
  }

  /** The selected rectangle in the sheet's own row and column numbers. */
  function selection() {
    const range = table.getRanges()[0];
    const rows = range?.getRows().map((row) => row.getData().row) ?? [];
    const columns = (range?.getColumns() ?? [])
      .map((column) => column.getField())
      .filter((field) => field !== 'row');
    const numbers = columns.map(columnNumber);
    if (rows.length === 0 || numbers.length === 0) return undefined;
    return {
      row: Math.min(...rows),
      column: Math.min(...numbers),
      height: rows.length,
      width: numbers.length,
    };
  }

  let drawn = new Promise((resolve) => table.on('tableBuilt', resolve));

  /** Draws what changed, one state after the other, and leaves the rest, the selection and the scrolling alone. */
  function show(next) {
    drawn = drawn.then(() => (isDestroyed ? undefined : drawChanges(next)));
    return drawn;
  }

  async function drawChanges(next) {
    const rows = rowsOf(next, headerRows);
    const known = new Map(shown.map((row) => [row.row, JSON.stringify(row)]));
    const changed = rows.filter((row) => known.has(row.row) && known.get(row.row) !== JSON.stringify(row));
    const added = rows.filter((row) => !known.has(row.row));
    const gone = shown.slice(rows.length).map(({ row }) => row);
    shown = rows;
    widenColumns(next);
    if (changed.length > 0) await table.updateData(changed.map((row) => ({ ...row })));
    if (added.length > 0) await table.addData(added.map((row) => ({ ...row })));
    if (gone.length > 0) await table.deleteRow(gone);
  }

  /** A column grows with its longest text, so that a new message can be read; it never shrinks by itself. */
  function widenColumns(next) {
    for (const [column, { pixelSize }] of next.columns.entries()) {
      const width = pixelSize ?? contentWidth(next, column);
      if (width <= widths[column]) continue;
      widths[column] = width;
      table.getColumn(`c${column}`).setWidth(width);
    }
  }

  function destroy() {
    isDestroyed = true;
    element.removeEventListener('keydown', onKeyDown);
    table.destroy();
  }

  return { show, isEditing, selection, destroy, sheetId: sheet.sheetId, shape: shapeOf(sheet) };
}

/** What a table is built for; when it changes, the table is built anew. */
export function shapeOf(sheet) {
  return JSON.stringify([
    sheet.sheetId,
    sheet.frozenRows,
    sheet.columns,
    sheet.frozenRows > 0 ? sheet.rows[0] : null,
  ]);
}

function rowsOf(sheet, headerRows) {
  return sheet.rows.slice(headerRows).map((cells, offset) => ({
    row: offset + headerRows,
    ...Object.fromEntries(sheet.columns.map((_, column) => [`c${column}`, cells[column] ?? null])),
  }));
}

function columnNumber(field) {
  return Number(field.slice(1));
}

function columnLetters(column) {
  const rest = Math.floor(column / 26) - 1;
  return (rest >= 0 ? columnLetters(rest) : '') + String.fromCharCode(65 + (column % 26));
}

/** Wide enough for most of what the column holds, so that sentences can be read. */
function contentWidth(sheet, column) {
  const lengths = sheet.rows.map(
    (cells) => (cells[column]?.text?.length ?? 0) + (cells[column]?.options ? 3 : 0),
  );
  const widest = Math.max(0, ...lengths) * LETTER_WIDTH_PX + CELL_PADDING_PX;
  return Math.round(Math.min(Math.max(widest, LEAST_WIDTH_PX), MOST_WIDTH_PX));
}

function headerElement(column, header) {
  const element = document.createElement('div');
  element.className = 'column-title';
  element.dataset.column = column;
  const letters = document.createElement('small');
  letters.textContent = columnLetters(column);
  const text = document.createElement('b');
  text.textContent = header?.text ?? '';
  if (header?.note) element.title = header.note;
  element.append(letters, text);
  return element;
}

function cellElement(cell) {
  const value = cell.getValue();
  const element = cell.getElement();
  element.dataset.row = cell.getData().row;
  element.dataset.column = columnNumber(cell.getField());
  element.style.backgroundColor = value?.background ?? '';
  element.style.color = value?.color ?? (value?.background ? 'black' : '');
  element.classList.toggle('is-number', value?.isNumber === true);
  element.classList.toggle('is-bold', value?.isBold === true);
  element.classList.toggle('has-note', Boolean(value?.note));
  if (value?.isCheckbox) return checkbox(value);
  const text = document.createElement('span');
  text.className = value?.options && value.text !== '' ? 'choice' : 'text';
  text.textContent = value?.text ?? '';
  if (value?.options) element.classList.add('has-options');
  return text;
}

function checkbox(value) {
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = value.text === 'TRUE';
  box.tabIndex = -1;
  return box;
}

function noteOrOverflow(cell) {
  const element = cell.getElement().firstElementChild;
  const isCut = element && element.scrollWidth > element.clientWidth;
  return cell.getValue()?.note ?? (isCut ? cell.getValue()?.text : '');
}

function textEditor(text, onRendered, finish, cancel) {
  const input = document.createElement('textarea');
  input.rows = 1;
  input.value = text;
  input.setAttribute('aria-label', 'Cell');
  onRendered(() => {
    input.focus();
    input.setSelectionRange(text.length, text.length);
  });
  input.addEventListener('blur', () => finish(input.value));
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') cancel();
    if (event.key === 'Enter' && !event.altKey) {
      event.preventDefault();
      finish(input.value);
    }
    event.stopPropagation();
  });
  return input;
}

function choiceEditor(value, onRendered, finish, cancel) {
  const select = document.createElement('select');
  select.setAttribute('aria-label', 'Choice');
  const choices = new Set(['', value.text, ...value.options]);
  for (const choice of choices) select.add(new Option(choice, choice, false, choice === value.text));
  onRendered(() => {
    select.focus();
    // A browser opens the list only after a person's own click; without one it opens with the space bar.
    if (navigator.userActivation?.isActive) select.showPicker?.();
  });
  select.addEventListener('change', () => finish(select.value));
  select.addEventListener('blur', () => cancel());
  select.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') cancel();
    event.stopPropagation();
  });
  return select;
}
