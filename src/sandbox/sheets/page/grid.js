import { fetchGrid, performAction } from '/grid-api.js';
import { copyCells, pasteAction } from '/grid-clipboard.js';
import { actionFor, cellMenu, columnMenu, commandOfKey, withHeader } from '/grid-commands.js';
import { ask } from '/grid-dialog.js';
import { createFormulaBar } from '/grid-formula-bar.js';
import { createGridTable, holderOf, shapeOf } from '/grid-table.js';
import { drawTabs } from '/grid-tabs.js';
import { isMeant } from '/grid-warnings.js';

const POLL_MS = 1000;
const MESSAGE_MS = 8000;

const gridElement = document.querySelector('#grid');
const messageElement = document.querySelector('#message');

let view;
let chosenSheetId;
let table;
/** What was copied here last, for pasting it with all it holds. */
let copied;
let isValuesOnly = false;
/** Actions are sent one after the other, as they were done. */
let sent = Promise.resolve();
let hideMessageTimer;

const formulaBar = createFormulaBar(document.querySelector('#formula'), {
  commit: (place, text) => send({ kind: 'edit', ...place, text }),
  leave: () => table.focus(),
});

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
  drawTabs(document.querySelector('#tabs'), view.sheets, chosenSheetId, { choose, send });
  document.querySelector('[data-command="showAll"]').hidden =
    sheet.hiddenRows.length === 0 && !sheet.columns.some(({ hiddenByUser }) => hiddenByUser);
  // The cell being typed into and a menu that is open stay; what changed meanwhile is drawn after they are left.
  if (table?.hasMenuOpen()) return;
  if (table?.isEditing()) gridElement.addEventListener('focusout', drawLater, { once: true });
  else if (table?.shape === shapeOf(sheet)) table.show(sheet).then(showSelection);
  else rebuild(sheet);
}

const drawLater = () => setTimeout(draw);

/** Builds the table anew; the same tab is shown from the same place on, with the same cells selected. */
function rebuild(sheet) {
  const isSameTab = table?.sheet().sheetId === sheet.sheetId;
  const { scrollLeft, scrollTop } = (isSameTab && holderOf(gridElement)) || { scrollLeft: 0, scrollTop: 0 };
  const [area, hasFocus] = [isSameTab && table.selection(), table?.hasFocus() ?? true];
  table?.destroy();
  table = createGridTable(gridElement, sheet, {
    edit: (place) => perform({ kind: 'edit', ...place }),
    moveColumn: (column, to) => perform({ kind: 'moveColumns', column, to }, rebuildShown),
    renameHeader,
    select: showSelection,
    menuClosed: drawLater,
    list: (source) => view.lists[source] ?? [],
    cellMenu: () => menuOf(cellMenu(table.selection())),
    columnMenu: menuOfColumn,
  });
  const built = table;
  built.show(sheet).then(() => {
    if (built !== table) return;
    if (area) table.select(area);
    holderOf(gridElement).scrollTo(scrollLeft, scrollTop);
    if (hasFocus) table.focus();
    showSelection();
  });
}

function rebuildShown() {
  rebuild(table.sheet());
}

function choose(sheetId) {
  chosenSheetId = sheetId;
  draw();
}

function showSelection() {
  if (table) formulaBar.show(table.sheet(), table.selection());
}

/** Sends an action on the shown tab, with how much of its moves the person has seen. */
function perform(action, onRefused) {
  const { sheetId, moves } = table.sheet();
  return send({ sheet: sheetId, movesSeen: moves, ...action }, onRefused);
}

function send(action, onRefused = () => undefined) {
  sent = sent.then(async () => {
    try {
      const sheet = view.sheets.find(({ sheetId }) => sheetId === action.sheet);
      if (sheet && !(await isMeant(action, sheet))) throw new Error('Nothing was changed.');
      await performAction(action);
    } catch (error) {
      showMessage(error.message);
      view.revision = undefined;
      onRefused();
    }
    await refresh();
  });
  return sent;
}

function run(command, area = table?.selection()) {
  const { action, problem } = actionFor(command, area, table.sheet());
  if (problem) showMessage(problem);
  else perform(action);
}

function showMessage(text) {
  messageElement.textContent = text;
  clearTimeout(hideMessageTimer);
  hideMessageTimer = setTimeout(() => messageElement.replaceChildren(), MESSAGE_MS);
}

async function renameHeader(column, current) {
  const text = await ask({ title: 'Header of the column', value: current });
  if (text !== undefined) perform({ kind: 'renameHeader', column, text });
}

function menuOf(entries, area = table.selection()) {
  return entries.map((entry) =>
    entry ? { label: entry[0], action: () => run(entry[1], area) } : { separator: true },
  );
}

/** The menu of a column is about all selected columns when it is one of them. */
function menuOfColumn(column) {
  const area = table.selection();
  const isSelected = area && column >= area.column && column < area.column + area.width;
  const columns = isSelected ? area : { ...area, column, width: 1 };
  const header = table.sheet().rows[0]?.[column]?.text ?? '';
  return [
    ...menuOf(columnMenu(columns), columns),
    { separator: true },
    { label: 'Filter by values…', action: () => filterBy(column, header) },
    { label: 'Rename header…', action: () => renameHeader(column, header) },
  ];
}

async function filterBy(column, header) {
  const sheet = table.sheet();
  const used = sheet.rows.slice(sheet.frozenRows).filter((cells) => cells.some((cell) => cell?.text));
  const choices = [...new Set(used.map((cells) => cells[column]?.text ?? ''))].toSorted();
  const shown = await ask({ title: `Show rows by ${header || 'value'}`, choices, confirm: 'Show' });
  if (shown) perform({ kind: 'filter', column, shown });
}

document.querySelector('#toolbar').addEventListener('click', (event) => {
  const { command } = event.target.dataset;
  if (command) run(command);
});

/** Keys and the clipboard belong to a field or dialog while the cursor is in one. */
const isElsewhere = () =>
  !table || table.isEditing() || document.activeElement?.closest('input, textarea, select, dialog, .menu');

document.addEventListener('keydown', (event) => {
  isValuesOnly = event.shiftKey;
  if (isElsewhere()) return;
  const command = commandOfKey(event);
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const isTyped = isPlain && event.key.length === 1;
  const isAll = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'a';
  if (!command && !isTyped && !isAll && event.key !== 'F2') return;
  event.preventDefault();
  if (command) run(command);
  else if (isAll) selectAll();
  else table.edit(event.key === 'F2' || isSpaceOnCheckbox(event.key) ? undefined : event.key);
});

function isSpaceOnCheckbox(key) {
  const { row, column } = table.selection() ?? {};
  return key === ' ' && table.sheet().rows[row]?.[column]?.isCheckbox === true;
}

function selectAll() {
  const { frozenRows, rowCount, columns } = table.sheet();
  const row = Math.min(frozenRows, 1);
  table.select({ row, column: 0, height: rowCount - row, width: columns.length });
}

for (const name of ['copy', 'cut']) {
  document.addEventListener(name, (event) => {
    const area = table?.selection();
    if (isElsewhere() || !area) return;
    event.preventDefault();
    const sheet = table.sheet();
    copied = copyCells(sheet, withHeader(area, sheet), name === 'cut');
    event.clipboardData.setData('text/plain', copied.text);
  });
}

document.addEventListener('paste', (event) => {
  const area = table?.selection();
  if (isElsewhere() || !area) return;
  event.preventDefault();
  const target = withHeader(area, table.sheet());
  perform(pasteAction(copied, event.clipboardData.getData('text/plain'), target, isValuesOnly));
  // What was cut can be pasted once.
  if (copied?.cut) copied = undefined;
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
