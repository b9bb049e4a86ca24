import { element, find, symbol } from './element.js';
import { ago, countWords, durationWords } from './words.js';

/** The columns behind those that count the records of each system; `alert` marks what somebody should look at when it is not zero. */
const columns = [
  { header: 'Pending', count: 'pending' },
  { header: 'Errors', count: 'refused', alert: true },
  { header: 'Conflicts', count: 'conflicts', alert: true },
  { header: 'Held', count: 'held', alert: true },
];

const stateOf = (tab, isStopped) => {
  const { conflicts, held, pending, recordsInTable, recordsWanted, refused, sweep } = tab;
  if (isStopped) return ['asks', 'stopped'];
  if (!sweep?.isComplete) return ['begins', 'first reading'];
  if (conflicts + held + refused > 0) return ['asks', 'waits for a person'];
  return pending > 0 || recordsInTable !== recordsWanted ? ['moves', 'on its way'] : ['done', 'in step'];
};

/** Shows every tab in a row of numbers, and which of them are stopped. */
export function showTabs({ brakes, sides, tabs }) {
  const stopped = new Set(brakes.map(({ entity }) => entity));
  const headers = [
    'Tab',
    'State',
    'In CRM',
    ...sides.map(({ name }) => `In ${name}`),
    ...columns.map(({ header }) => header),
    'Last full sweep',
    '95 % no older than',
  ];
  find('#tabs thead').replaceChildren(
    element('tr', {}, ...headers.map((header) => element('th', { scope: 'col' }, header))),
  );
  find('#tabs tbody').replaceChildren(...tabs.map((tab) => showTab(tab, sides, stopped.has(tab.entity))));
}

function showTab(tab, sides, isStopped) {
  const [sign, words] = stateOf(tab, isStopped);
  const cell = (label, content, isAlert = false) =>
    element(isAlert ? 'td.alert' : 'td', { 'data-label': label }, content);
  const { recordAgeP95Ms, sweep } = tab;
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, tab.title),
    element('td.state', { 'data-label': 'State' }, element('span', {}, symbol(sign), words)),
    cell('In CRM', countWords(tab.recordsInCrm)),
    ...sides.map(({ name }) =>
      cell(`In ${name}`, tab.rows[name] === undefined ? '–' : countWords(tab.rows[name])),
    ),
    ...columns.map(({ alert, count, header }) =>
      cell(header, countWords(tab[count]), alert === true && tab[count] > 0),
    ),
    cell('Last full sweep', sweep?.isComplete ? ago(sweep.finishedAt ?? sweep.startedAt) : 'not yet'),
    cell('95 % no older than', recordAgeP95Ms === undefined ? '–' : durationWords(recordAgeP95Ms)),
  );
}
