// The CRM's own interface: what people do here reaches the records beside the API, so it uses none of its budget.

import { tabs, textOf } from './columns.js';
import { flash } from './flash.js';

const pollMs = 2000;
const element = (id) => document.getElementById(id);
const [head, body] = [document.querySelector('thead'), document.querySelector('tbody')];

/** @type {any} The latest answer of `/__sandbox/records`. */
let records;
let recordsTag = '';
/** Records of the open tab that were there at the look before; `undefined` before the first. */
let knownIds;
let tab = 'leads';
/** Rows on screen by record id. */
const rows = new Map();

// --- Talking to the sandbox.

async function change(method, path, fields) {
  const response = await fetch('/__sandbox/by-hand', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method, path, body: fields }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message ?? answer.error);
  await refresh();
  return answer.data;
}

async function refresh() {
  const response = await fetch('/__sandbox/records', {
    headers: { 'if-none-match': recordsTag },
    cache: 'no-store',
  });
  if (response.status === 304) return;
  recordsTag = response.headers.get('etag') ?? '';
  records = await response.json();
  render();
}

async function showUsage() {
  const { keys, requestsPerWindow, windowMs } = await (await fetch('/__sandbox/usage')).json();
  const used = Object.values(keys);
  const sum = (name) => used.reduce((total, usage) => total + usage[name], 0);
  const most = Math.max(0, ...used.map((usage) => usage.largestWindow));
  const peak = `at most ${most} of ${requestsPerWindow} in ${windowMs / 1000} s`;
  element('usage').textContent = `API: ${sum('requests')} requests, ${sum('refused')} refused, ${peak}`;
}

async function poll() {
  try {
    await refresh();
    await showUsage();
  } catch {
    element('usage').textContent = 'The sandbox does not answer; trying again';
  }
  setTimeout(poll, pollMs);
}

let noticeTimer;
function showNotice(text) {
  const notice = element('notice');
  notice.textContent = text;
  notice.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => {
    notice.hidden = true;
  }, 6000);
}

// --- The table. A refresh touches only cells whose text is another one, and never the cell that is being edited.

function make(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function render() {
  const columns = tabs[tab].columns(records);
  renderTabs();
  renderHead(columns);
  const wanted = element('filter').value.trim().toLowerCase();
  const shown = records[tab]
    .filter((record) =>
      [`#${record.id}`, ...columns.map((each) => textOf(each, each.read(record)))].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
    )
    .toSorted((left, right) => left.id - right.id);
  const ids = new Set(shown.map((record) => record.id));
  for (const [id, row] of rows) {
    if (ids.has(id)) continue;
    row.remove();
    rows.delete(id);
  }
  shown.forEach((record, index) => {
    const row = rows.get(record.id) ?? makeRow(record, columns);
    if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null);
    updateRow(row, record, columns, knownIds?.has(record.id) === false);
  });
  knownIds = new Set(records[tab].map(({ id }) => id));
  element('nothing').hidden = shown.length > 0;
}

/** Made once: a button that is replaced while somebody presses it would lose the click. */
const tabButtons = Object.entries(tabs).map(([name, { label }]) => {
  const button = make('button', { type: 'button', role: 'tab', onclick: () => openTab(name) }, label);
  button.append(make('span'));
  return [name, button];
});
element('tabs').append(...tabButtons.map(([, button]) => button));

function renderTabs() {
  for (const [name, button] of tabButtons) {
    button.lastElementChild.textContent = records[name].length;
    button.setAttribute('aria-selected', String(name === tab));
  }
  element('create').textContent = `New ${tabs[tab].noun}`;
}

const cellClass = (each, index) =>
  `${index === 0 ? 'leading' : ''} ${each.kind === 'number' ? 'number' : ''}`.trim();

function renderHead(columns) {
  const cells = columns.map((each, index) =>
    make('th', { textContent: each.label, className: cellClass(each, index) }),
  );
  head.replaceChildren(make('tr', {}, make('th', { textContent: 'ID', className: 'id' }), ...cells));
}

function openTab(name) {
  tab = name;
  knownIds = undefined;
  rows.clear();
  body.replaceChildren();
  if (records) render();
}

function makeRow(record, columns) {
  const id = make('span', { textContent: record.id });
  const row = make('tr', {}, make('td', { className: 'id' }, id, ' ', makeTrashButton(record.id)));
  row.dataset.id = record.id;
  for (const [index, each] of columns.entries()) {
    const cell = make('td', { className: cellClass(each, index), tabIndex: 0 });
    cell.dataset.field = each.key;
    row.append(cell);
  }
  rows.set(record.id, row);
  return row;
}

function updateRow(row, record, columns, isNew) {
  for (const [index, each] of columns.entries()) {
    const cell = row.children[index + 1];
    const value = each.read(record);
    const text = textOf(each, value);
    cell.edit = () => editCell(cell, each, record.id, value);
    if (cell.classList.contains('editing')) continue;
    if (cell.dataset.text !== text) showText(cell, text, isNew || cell.dataset.text !== undefined);
    const color = each.color?.(value);
    cell.firstElementChild.className = color ? 'dot' : '';
    if (color) cell.firstElementChild.style.setProperty('--dot', color);
  }
}

function showText(cell, text, isChange) {
  cell.replaceChildren(make('span', { textContent: text }));
  cell.dataset.text = text;
  cell.title = text;
  if (isChange) flash(cell);
}

function makeTrashButton(id) {
  const button = make('button', {
    type: 'button',
    className: 'trash',
    textContent: '✕',
    title: 'Move to trash',
  });
  button.onclick = () => {
    if (button.classList.contains('armed')) {
      change('DELETE', `/${tab}/${id}`, {}).catch((error) => showNotice(error.message));
      return;
    }
    button.classList.add('armed');
    button.textContent = 'Trash?';
    setTimeout(() => {
      button.classList.remove('armed');
      button.textContent = '✕';
    }, 3000);
  };
  return button;
}

// --- Editing.

/** An input for a column, with `read()` that gives what is to be sent. */
function makeEditor(each, value) {
  const { kind, names } = each;
  if (kind === 'choice' || kind === 'choices') return makeSelect(each, value);
  const type = { number: 'number', date: 'date' }[kind] ?? 'text';
  const editor = kind === 'paragraph' ? make('textarea', { rows: 3 }) : make('input', { type });
  if (type === 'number') editor.step = 'any';
  if (kind === 'suggested') {
    const options = [...names].map(([name, label]) => make('option', { value: name, label }));
    document.getElementById('suggestions')?.remove();
    document.body.append(make('datalist', { id: 'suggestions' }, ...options));
    editor.setAttribute('list', 'suggestions');
  }
  editor.value = value ?? '';
  editor.read = () => {
    if (editor.value === '' && each.key !== 'title') return null;
    return kind === 'number' ? Number(editor.value) : editor.value;
  };
  return editor;
}

function makeSelect({ kind, names, isRequired }, value) {
  const isMultiple = kind === 'choices';
  const chosen = isMultiple ? (value ?? []) : [value ?? null];
  const values = [...(isMultiple || (isRequired && value != null) ? [] : [null]), ...names.keys()];
  const options = values.map((each) =>
    make('option', { textContent: names.get(each) ?? '—', selected: chosen.includes(each) }),
  );
  const editor = make('select', { multiple: isMultiple }, ...options);
  editor.read = () => {
    const picked = [...editor.options].flatMap((option, index) => (option.selected ? [values[index]] : []));
    if (!isMultiple) return picked[0] ?? null;
    return picked.length > 0 ? picked : null;
  };
  return editor;
}

function editCell(cell, each, id, value) {
  if (cell.classList.contains('editing')) return;
  const editor = makeEditor(each, value);
  const before = JSON.stringify(editor.read());
  let isOpen = true;
  const close = async (isKept) => {
    if (!isOpen) return;
    isOpen = false;
    const written = editor.read();
    cell.classList.remove('editing');
    showText(cell, cell.dataset.text, false);
    render();
    if (!isKept || JSON.stringify(written) === before) return;
    await change('PUT', `/${tab}/${id}`, each.write(written)).catch((error) => showNotice(error.message));
  };
  editor.onblur = () => close(true);
  editor.onkeydown = (event) => {
    if (event.key === 'Escape') close(false);
    if (event.key === 'Enter' && !event.shiftKey) close(true);
  };
  if (each.kind === 'choice') editor.onchange = () => close(true);
  cell.classList.add('editing');
  cell.replaceChildren(editor);
  editor.focus();
  if (editor.tagName === 'INPUT' && editor.type === 'text') editor.select();
}

body.onclick = (event) => event.target.closest('td[data-field]')?.edit?.();
body.onkeydown = (event) => {
  if (event.key === 'Enter' && event.target.matches('td[data-field]')) {
    event.preventDefault();
    event.target.edit();
  }
};

element('create').onclick = () => {
  if (!records) return;
  const columns = tabs[tab].columns(records).filter((each) => each.inCreate);
  const editors = columns.map((each) => [each, makeEditor(each, undefined)]);
  element('creation-title').textContent = `New ${tabs[tab].noun}`;
  element('creation-problem').textContent = '';
  element('creation-fields').replaceChildren(
    ...editors.map(([each, editor]) => make('label', {}, make('span', { textContent: each.label }), editor)),
  );
  element('creation').querySelector('form').onsubmit = (event) => {
    event.preventDefault();
    const filled = editors.filter(([, editor]) => editor.read() !== null && editor.value !== '');
    const fields = Object.assign({}, ...filled.map(([each, editor]) => each.write(editor.read())));
    change('POST', `/${tab}`, fields).then(
      ({ id }) => {
        element('creation').close();
        rows.get(id)?.scrollIntoView({ block: 'nearest' });
      },
      (error) => {
        element('creation-problem').textContent = error.message;
      },
    );
  };
  element('creation').showModal();
};
element('creation-cancel').onclick = () => element('creation').close();
element('filter').oninput = () => records && render();

poll();
