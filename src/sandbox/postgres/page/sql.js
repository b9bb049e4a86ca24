// A line of SQL, with what came of it beside it.

import { readerOf } from './element.js';

const [form, line, output] = ['sql', 'sql-line', 'sql-outcome'].map((id) => document.getElementById(id));

/** Shows the line where rows can be edited. Returns whether they can be. */
export async function offerSql() {
  const response = await fetch('/edits');
  const { areOn } = await response.json();
  form.hidden = !areOn;
  return areOn;
}

/** Reads the newest edit, as long as nothing came of it. */
let watched;

const post = (sql) =>
  fetch('/sql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql }),
  });

form.onsubmit = async (event) => {
  event.preventDefault();
  try {
    const response = await post(line.value);
    const { error, words } = await response.json();
    output.textContent = error ?? words;
    watched = error === undefined ? { read: readerOf('/tables/edit'), words } : undefined;
  } catch {
    output.textContent = 'The page lost its server.';
  }
};

/** To be called again and again: shows what the newest edit came to. */
export async function followEdit() {
  if (!watched) return;
  const { read, words } = watched;
  const table = await read();
  const [newest] = table?.rows ?? [];
  if (!newest) return;
  const shown = (name) => newest[table.columns.findIndex((column) => column.name === name)];
  const note = shown('note');
  output.textContent = `${words}: ${shown('state')}${note ? `. ${note}` : ''}`;
  if (shown('ended_at') !== null) watched = undefined;
}
