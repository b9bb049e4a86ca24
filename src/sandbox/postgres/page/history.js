// The versions of one record, below the rows.

import { make, readerOf, shortInstant } from './element.js';

const [section, title] = [document.getElementById('history'), document.getElementById('history-title')];
const body = section.querySelector('tbody');

/** @type {{ table: string, id: string, read: () => Promise<any> } | undefined} */
let chosen;

export const isChosen = (table, id) => chosen?.table === table && chosen.id === id;

/** Shows the history of a row from now on; without one, none. */
export async function choose(table, id) {
  chosen = undefined;
  section.hidden = id === undefined;
  body.replaceChildren();
  if (id === undefined) return;
  title.textContent = `History of ${table} ${id}`;
  chosen = { table, id, read: readerOf(`/tables/${table}/${encodeURIComponent(id)}/history`) };
  await refreshHistory();
}

export async function refreshHistory() {
  const asked = chosen;
  const versions = await asked?.read();
  // Another row may have been chosen meanwhile.
  if (versions && asked === chosen) body.replaceChildren(...versions.map(makeVersion));
}

function makeVersion({ validFrom, validAfter, validUntil, ended, madeBy, changes }, index, all) {
  const isFirst = index === all.length - 1;
  return make(
    'tr',
    {},
    instantCell(validFrom, 'unknown'),
    make('td', {}, changes.length > 0 ? changeList(changes) : isFirst ? 'First version' : 'Seen again'),
    instantCell(validAfter, isFirst ? '' : 'unknown'),
    instantCell(validUntil, 'now', endWords[ended]),
    make('td', { textContent: madeBy ?? '' }),
  );
}

const endWords = { trashed: 'in the trash', left_out: 'no longer listed' };

const instantCell = (text, absent, more) =>
  make(
    'td',
    { title: text ?? '' },
    [text === null ? absent : shortInstant(text), more].filter((words) => words).join(', '),
  );

const changeList = (changes) =>
  make(
    'ul',
    {},
    ...changes.map(({ column, before, after }) =>
      make('li', {}, `${column}: `, valueElement('del', before), ' → ', valueElement('ins', after)),
    ),
  );

const valueElement = (tag, text) =>
  text === null || text === ''
    ? make(tag, { className: 'none', textContent: text === '' ? 'empty text' : 'empty' })
    : make(tag, { textContent: text });
