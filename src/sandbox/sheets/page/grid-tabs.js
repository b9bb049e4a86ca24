import { ask } from '/grid-dialog.js';
import { showMenu } from '/grid-menu.js';

/** Draws the tabs of the spreadsheet; `choose(sheetId)` shows another one, `send(action)` changes them. */
export function drawTabs(element, sheets, chosenSheetId, { choose, send }) {
  const tabs = sheets.map(({ sheetId, title }) => {
    const tab = button(title, 'Double-click to rename, right-click for more');
    tab.role = 'tab';
    tab.ariaSelected = String(sheetId === chosenSheetId);
    tab.addEventListener('click', () => choose(sheetId));
    tab.addEventListener('dblclick', () => rename(sheetId, title, send));
    tab.addEventListener('contextmenu', (event) => {
      event.preventDefault();
      showMenu(entries(sheetId, title, send), { left: event.clientX, top: event.clientY });
    });
    return tab;
  });
  const add = button('+', 'Add a tab');
  add.className = 'add-tab';
  add.addEventListener('click', async () => {
    const name = await ask({ title: 'Name of the new tab', value: `Sheet${sheets.length + 1}` });
    if (name) send({ kind: 'addTab', title: name });
  });
  const drawn = [...tabs, add];
  const textOf = (buttons) => buttons.map((one) => one.outerHTML).join();
  if (textOf(drawn) !== textOf([...element.children])) element.replaceChildren(...drawn);
}

function button(text, title) {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.title = title;
  return made;
}

const entries = (sheet, title, send) => [
  { label: 'Rename…', action: () => rename(sheet, title, send) },
  { label: 'Duplicate', action: () => send({ kind: 'duplicateTab', sheet }) },
  { label: 'Delete', action: () => remove(sheet, title, send) },
];

async function rename(sheet, title, send) {
  const renamed = await ask({ title: 'Name of the tab', value: title });
  if (renamed) send({ kind: 'renameTab', sheet, title: renamed });
}

async function remove(sheet, title, send) {
  const isSure = await ask({ title: `Delete “${title}”?`, text: 'Undo brings it back.', confirm: 'Delete' });
  if (isSure) send({ kind: 'deleteTab', sheet });
}
