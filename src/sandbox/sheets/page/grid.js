import { fetchGrid, performAction } from '/grid-api.js';
import { createGridTable, shapeOf } from '/grid-table.js';

const POLL_MS = 1000;
const MESSAGE_MS = 6000;

const gridElement = document.querySelector('#grid');
const tabsElement = document.querySelector('#tabs');
const messageElement = document.querySelector('#message');

let view;
let chosenSheetId;
let table;
let hideMessageTimer;

async function refresh() {
  const next = await fetchGrid(view?.revision);
  if (next) view = next;
  if (next || !table) draw();
}

function draw() {
  const sheet = view.sheets.find(({ sheetId }) => sheetId === chosenSheetId) ?? view.sheets[0];
  chosenSheetId = sheet.sheetId;
  document.title = view.title;
  document.querySelector('#title').textContent = view.title;
  drawTabs();
  if (table?.isEditing()) {
    // The cell being typed into stays; what changed meanwhile is drawn after it is left.
    gridElement.addEventListener('focusout', () => setTimeout(draw), { once: true });
  } else if (table?.shape === shapeOf(sheet)) table.show(sheet);
  else rebuild(sheet);
}

/** Builds the table anew; the same tab is shown from the same place on. */
function rebuild(sheet) {
  const { scrollLeft = 0, scrollTop = 0 } = table?.sheetId === sheet.sheetId ? gridHolder() : {};
  table?.destroy();
  table = createGridTable(gridElement, sheet, perform, { row: rowMenu, column: columnMenu, renameHeader });
  table.show(sheet).then(() => gridHolder().scrollTo(scrollLeft, scrollTop));
}

function gridHolder() {
  return gridElement.querySelector('.tabulator-tableholder');
}

function drawTabs() {
  const tabs = view.sheets.map(({ sheetId, title }) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.role = 'tab';
    tab.ariaSelected = String(sheetId === chosenSheetId);
    tab.textContent = title;
    tab.title = 'Double-click to rename';
    tab.addEventListener('click', () => {
      chosenSheetId = sheetId;
      draw();
    });
    tab.addEventListener('dblclick', () => renameTab(sheetId, title));
    return tab;
  });
  const isSame =
    tabs.map((tab) => tab.outerHTML).join() === [...tabsElement.children].map((tab) => tab.outerHTML).join();
  if (!isSame) tabsElement.replaceChildren(...tabs);
}

async function perform(action) {
  try {
    await performAction(action);
  } catch (error) {
    showMessage(error.message);
    view.revision = undefined;
  }
  await refresh();
}

function showMessage(text) {
  messageElement.textContent = text;
  clearTimeout(hideMessageTimer);
  hideMessageTimer = setTimeout(() => messageElement.replaceChildren(), MESSAGE_MS);
}

function renameTab(sheet, title) {
  const renamed = prompt('Name of the tab', title);
  if (renamed) perform({ kind: 'renameTab', sheet, title: renamed });
}

function renameHeader(column, current) {
  const text = prompt('Header of the column', current);
  if (text !== null) perform({ kind: 'renameHeader', sheet: chosenSheetId, column, text });
}

/** The rows an action is about: the selected ones when the clicked row is among them. */
function rowsAround(row) {
  const area = table.selection();
  const isSelected = area && row >= area.row && row < area.row + area.height;
  return isSelected ? { row: area.row, count: area.height } : { row, count: 1 };
}

function rowMenu(row) {
  const sheet = chosenSheetId;
  const rows = rowsAround(row);
  const last = rows.row + rows.count;
  return [
    entry('Insert row above', { kind: 'insertRows', sheet, row }),
    entry('Insert row below', { kind: 'insertRows', sheet, row: row + 1 }),
    entry('Copy row below', { kind: 'copyRow', sheet, row, to: row + 1, inserts: true }),
    { separator: true },
    entry('Move up', { kind: 'moveRows', sheet, ...rows, to: Math.max(0, rows.row - 1) }),
    entry('Move down', { kind: 'moveRows', sheet, ...rows, to: last + 1 }),
    { separator: true },
    entry(rows.count > 1 ? `Delete ${rows.count} rows` : 'Delete row', {
      kind: 'deleteRows',
      sheet,
      ...rows,
    }),
  ];
}

function columnMenu(column) {
  const sheet = chosenSheetId;
  const header = view.sheets.find(({ sheetId }) => sheetId === sheet)?.rows[0]?.[column]?.text ?? '';
  return [
    entry('Sort A → Z', { kind: 'sort', sheet, column }),
    entry('Sort Z → A', { kind: 'sort', sheet, column, descending: true }),
    { separator: true },
    { label: 'Rename header…', action: () => renameHeader(column, header) },
    { separator: true },
    entry('Insert column left', { kind: 'insertColumns', sheet, column }),
    entry('Insert column right', { kind: 'insertColumns', sheet, column: column + 1 }),
    entry('Move left', { kind: 'moveColumns', sheet, column, to: Math.max(0, column - 1) }),
    entry('Move right', { kind: 'moveColumns', sheet, column, to: column + 2 }),
    entry('Delete column', { kind: 'deleteColumns', sheet, column }),
  ];
}

function entry(label, action) {
  return { label, action: () => perform(action) };
}

const TOOLBAR = {
  undo: () => ({ kind: 'undo' }),
  insertRow: ({ row, height }) => ({ kind: 'insertRows', row: row + height }),
  copyRow: ({ row }) => ({ kind: 'copyRow', row, to: row + 1, inserts: true }),
  deleteRows: ({ row, height }) => ({ kind: 'deleteRows', row, count: height }),
  sortAscending: ({ column }) => ({ kind: 'sort', column }),
  sortDescending: ({ column }) => ({ kind: 'sort', column, descending: true }),
};

document.querySelector('#toolbar').addEventListener('click', (event) => {
  const action = TOOLBAR[event.target.dataset.action];
  const area = table?.selection();
  if (!action) return;
  if (!area) showMessage('Select a cell first.');
  else perform({ sheet: chosenSheetId, ...action(area) });
});

document.addEventListener('copy', (event) => {
  const area = table?.selection();
  if (!area || table.isEditing()) return;
  const { rows } = view.sheets.find(({ sheetId }) => sheetId === chosenSheetId);
  const lines = rows.slice(area.row, area.row + area.height);
  const block = lines.map((cells) =>
    Array.from({ length: area.width }, (_, right) => cells[area.column + right]?.text ?? '').join('\t'),
  );
  event.clipboardData.setData('text/plain', block.join('\n'));
  event.preventDefault();
});

document.addEventListener('paste', (event) => {
  const area = table?.selection();
  if (!area || table.isEditing()) return;
  event.preventDefault();
  const text = event.clipboardData.getData('text/plain').replace(/\r?\n$/, '');
  const rows = text.split(/\r?\n/).map((line) => line.split('\t'));
  perform({ kind: 'paste', sheet: chosenSheetId, row: area.row, column: area.column, rows });
});

async function poll() {
  try {
    await refresh();
  } catch (error) {
    showMessage(`The sheet does not answer: ${error.message}`);
  }
  setTimeout(poll, POLL_MS);
}

poll();
