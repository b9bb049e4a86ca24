// The tables as SQL shows them, with a line of SQL to change them.

import { make, readerOf, shortInstant, shortNumber } from './element.js';
import { flash } from './flash.js';
import { choose, isChosen, refreshHistory } from './history.js';
import { followEdit, offerSql } from './sql.js';

const pollMs = 1000;
const element = (id) => document.getElementById(id);
const [panel, notice] = [element('rows'), element('notice-line')];
const [head, body] = [panel.querySelector('thead'), panel.querySelector('tbody')];

const recordTables = ['lead', 'opportunity', 'task'];
const plainTables = ['freshness', 'edit'];
const names = [...recordTables, 'opportunity_overview', 'pipeline_by_stage', 'stage_history', 'freshness'];

let open = names[0];
let read = readerOf(`/tables/${open}`);
/** @type {any} What the open table last held. */
let shown;
/** Rows on screen by their key. */
const rows = new Map();
/** Keys of all rows at the look before; `undefined` before the first. */
let knownKeys;

// --- Tabs: the arrow keys go from one to the next.

const tabs = new Map();

function addTab(name) {
  const className = [...recordTables, ...plainTables].includes(name) ? '' : 'view';
  const tab = make('button', { type: 'button', role: 'tab', id: `tab-${name}`, className }, name);
  tab.setAttribute('aria-controls', panel.id);
  if (recordTables.includes(name)) tab.append(make('span'));
  tab.onclick = () => openTable(name);
  tabs.set(name, tab);
  element('tabs').append(tab);
}

for (const name of names) addTab(name);
element('tabs').onkeydown = ({ key }) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (step === undefined) return;
  openTable(names.at((names.indexOf(open) + step) % names.length));
  tabs.get(open).focus();
};

function markTabs() {
  for (const [name, tab] of tabs) {
    tab.setAttribute('aria-selected', String(name === open));
    tab.tabIndex = name === open ? 0 : -1;
  }
  panel.setAttribute('aria-labelledby', `tab-${open}`);
}

function openTable(name) {
  open = name;
  read = readerOf(`/tables/${name}`);
  shown = undefined;
  knownKeys = undefined;
  rows.clear();
  head.replaceChildren();
  body.replaceChildren();
  element('nothing').hidden = true;
  markTabs();
  choose(open, undefined);
  refresh();
}

// --- Rows. A refresh touches only cells whose text is another one, and marks them.

function textOf({ kind }, value) {
  if (value === null) return '';
  if (kind === 'instant') return shortInstant(value);
  return kind === 'number' ? shortNumber(value) : value;
}

const cellClass = ({ kind, name }) => (name === 'id' ? 'key' : kind === 'number' ? 'number' : '');

function render() {
  const { columns, counts, key } = shown;
  for (const [name, count] of Object.entries(counts))
    tabs.get(name).querySelector('span').textContent = count;
  const headers = columns.map(({ name }) => name);
  if ([...head.querySelectorAll('th')].map((cell) => cell.textContent).join() !== headers.join()) {
    rows.clear();
    body.replaceChildren();
    const cells = columns.map((each) =>
      make('th', { scope: 'col', textContent: each.name, className: cellClass(each) }),
    );
    head.replaceChildren(make('tr', {}, ...cells));
  }
  const wanted = element('filter').value.trim().toLowerCase();
  const keyPlaces = key.map((name) => headers.indexOf(name));
  const keyOf = (values) => JSON.stringify(keyPlaces.map((place) => values[place]));
  const keyed = shown.rows
    .filter((values) => values.some((value) => value?.toLowerCase().includes(wanted) || wanted === ''))
    .map((values) => [keyOf(values), values]);
  const kept = new Set(keyed.map(([name]) => name));
  for (const [name, row] of rows) {
    if (kept.has(name)) continue;
    row.remove();
    rows.delete(name);
  }
  keyed.forEach(([name, values], index) => {
    const isShown = rows.has(name);
    const row = rows.get(name) ?? makeRow(columns, values);
    rows.set(name, row);
    if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null);
    updateRow(row, columns, values, isShown || knownKeys?.has(name) === false);
  });
  knownKeys = new Set(shown.rows.map(keyOf));
  element('nothing').hidden = keyed.length > 0;
}

function makeRow(columns, values) {
  const row = make('tr', {}, ...columns.map((each) => make('td', { className: cellClass(each) })));
  const place = recordTables.includes(open) ? columns.findIndex(({ name }) => name === 'id') : -1;
  if (place < 0) return row;
  const id = values[place];
  row.dataset.id = id;
  const button = make('button', { type: 'button', className: 'row-key', textContent: id });
  button.setAttribute('aria-label', `History of ${open} ${id}`);
  button.setAttribute('aria-controls', 'history');
  row.children[place].append(button);
  row.children[place].dataset.text = id;
  row.onclick = () => {
    // Text that is being selected to copy it is no wish for another row.
    if (String(getSelection()) === '') chooseRow(id);
  };
  return row;
}

function updateRow(row, columns, values, isMarked) {
  for (const [index, each] of columns.entries()) {
    const cell = row.children[index];
    cell.dataset.field = each.name;
    const text = textOf(each, values[index]);
    if (cell.dataset.text === text) continue;
    cell.textContent = text;
    cell.dataset.text = text;
    cell.title = values[index] ?? '';
    if (isMarked) flash(cell);
  }
}

function markChosen() {
  for (const row of rows.values()) {
    const isOpen = row.dataset.id !== undefined && isChosen(open, row.dataset.id);
    row.classList.toggle('chosen', isOpen);
    row.querySelector('.row-key')?.setAttribute('aria-expanded', String(isOpen));
  }
}

function chooseRow(id) {
  choose(open, id).then(showGood, showBad);
  markChosen();
}

element('history-close').onclick = () => {
  const row = [...rows.values()].find(({ dataset }) => isChosen(open, dataset.id));
  chooseRow(undefined);
  (row?.querySelector('.row-key') ?? tabs.get(open)).focus();
};
element('filter').oninput = () => shown && render();

// --- Looking again and again.

const showGood = () => {
  notice.textContent = 'Times in UTC';
};
const showBad = (error) => {
  notice.textContent = error instanceof TypeError ? 'The page lost its server; trying again.' : error.message;
};

async function refresh() {
  const asked = open;
  try {
    const table = await read();
    // Another tab may have been opened meanwhile.
    if (asked !== open) return;
    if (table) {
      shown = table;
      render();
      markChosen();
    }
    await refreshHistory();
    await followEdit();
    showGood();
  } catch (error) {
    showBad(error);
  }
}

async function poll() {
  await refresh();
  setTimeout(poll, pollMs);
}

markTabs();
poll();

if (await offerSql()) {
  names.push('edit');
  addTab('edit');
  markTabs();
}
