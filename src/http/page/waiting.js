import { command } from './commands.js';
import { ask, tell } from './dialog.js';
import { element, find, showList, symbol } from './element.js';
import { capitalize, countOf, countWords } from './words.js';

/** Answers in the words of the sheet's own tab of questions; one that is not named here is shown as it is. */
const labels = {
  crm: 'Take the CRM’s',
  sheet: 'Take the sheet’s',
  new: 'New record',
  trash: 'Move to trash',
  value: 'Another value',
};
const labelOf = (answer) => labels[answer] ?? capitalize(answer);

/** More than these are not read by anybody. */
const shownMax = 50;

/** When answers are carried out. */
let whenDone = '';

/** Shows what only a person can settle: first what can be answered here, then what has to be mended at its row. */
export function showWaiting({ counts, forUser, isManual, lastCycleAt, toMend, waiting }) {
  whenDone = isManual ? 'once the next plan is applied' : 'with the next cycle';
  const all = [...waiting, ...toMend.map((item, index) => ({ ...item, scope: `row ${index}` }))];
  const shown = all.slice(0, shownMax);
  const more = counts.waiting + counts.toMend - shown.length;
  if (more > 0) shown.push({ scope: 'more', reason: `And ${countOf(more, 'more', 'more')}.` });
  find('#waiting .count').textContent = forUser === 0 ? '' : countWords(forUser);
  const empty = find('#waiting .empty');
  empty.hidden = all.length > 0;
  empty.textContent =
    lastCycleAt === undefined
      ? 'It is not known yet: both sides were not compared since the daemon started.'
      : 'Nothing waits for anybody.';
  showList(
    find('#waiting ul'),
    shown,
    ({ scope }) => scope,
    (item) => (item.answers === undefined ? showToMend(item) : showQuestion(item)),
  );
}

/** The heading of a card: who it is about, and where that is. */
const heading = (name, ...places) => {
  const [first, ...others] = [name, ...places].filter((part) => part !== undefined && part !== '');
  return element('h3', {}, symbol('asks'), first ?? '', element('small', {}, others.join(' · ')));
};

/** A record by its name, which leads to it in the CRM where the configuration says how. */
const linked = (name, url) =>
  name === undefined || url === undefined
    ? name
    : element('a', { href: url, target: '_blank', rel: 'noreferrer' }, name);

const showToMend = ({ entityTitle, kind, name, position, reason }) =>
  element(
    'li.card',
    {},
    // By the number that people see beside a row.
    heading(
      name,
      entityTitle,
      name !== undefined || position === undefined ? undefined : `row ${position + 1}`,
      capitalize(kind),
    ),
    element('p', {}, reason),
  );

function showQuestion({ about, answered, answers, entityTitle, name, scope, stopped, url, what }) {
  const tab = about.tab ?? entityTitle;
  const asked = { scope, seen: { what, about }, subject: name ?? tab ?? scope };
  const choices = answers.map((choice) =>
    element('button', { type: 'button', onclick: () => void choose(asked, choice) }, labelOf(choice)),
  );
  if (scope.startsWith('conflict:')) {
    const settle = () => void chooseValue(asked, about.field);
    choices.push(element('button', { type: 'button', onclick: settle }, `${labelOf('value')}…`));
  }
  return element(
    'li.card',
    {},
    heading(linked(name, url), tab),
    element('p', {}, what),
    showValues(about),
    showStopped(stopped),
    answered === undefined
      ? element('p.buttons', {}, ...choices)
      : element('p.quiet', {}, `Answered: ${labelOf(answered)}. It is done ${whenDone}.`),
  );
}

/** The values that stand against each other, where the question is about a field. */
function showValues({ agreed, crm, field, table }) {
  const values = [
    ['CRM has', crm],
    ['Sheet has', table],
    ['Agreed before', agreed],
  ].filter(([, value]) => value !== undefined);
  if (values.length === 0) return undefined;
  return element(
    'dl.values',
    { 'aria-label': field ?? 'Values' },
    ...values.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
}

/** What a stopped tab would have done. */
function showStopped({ count, shown } = { count: 0, shown: [] }) {
  if (count === 0) return undefined;
  const lines = shown.map(({ after, before, header, name, what }) =>
    element(
      'li',
      {},
      header === undefined ? `${name}: ` : `${name} · ${header}: `,
      // Where a cell cannot be read, there is no value after the change.
      ...(header === undefined || after === undefined
        ? [before === undefined ? what : `${what} from ${before}`]
        : [element('del', {}, before), ' → ', element('ins', {}, after)]),
    ),
  );
  if (count > shown.length) lines.push(element('li', {}, `and ${countWords(count - shown.length)} more`));
  return element(
    'details',
    {},
    element('summary', {}, `What waits behind it: ${countOf(count, 'change')}`),
    element('ul.plain', {}, ...lines),
  );
}

/** Gives an answer to the question as it was shown when the button was pressed. */
async function choose({ scope, seen, subject }, choice) {
  if (choice === 'trash') {
    const what = scope.startsWith('brake:')
      ? `Every record whose row is gone from “${subject}”`
      : `“${subject}”`;
    const words = /^\w+:contact\b/.test(scope)
      ? `${what} is deleted for good: the CRM has no trash for contacts.`
      : `${what} goes to the trash of the CRM. It can be restored there.`;
    const isMeant = await ask('Move to trash?', [element('p', {}, words)], { label: 'Move to trash' });
    if (isMeant !== true) return;
  }
  const done = await command('api/answer', { question: scope, answer: choice, seen });
  if (done === undefined) return;
  tell(`${labelOf(choice)}: it is done ${whenDone}.`);
}

/** What was typed to settle a conflict and not taken, by scope: whoever mends it does not type it again. */
const drafts = new Map();

/** Settles a conflict with what neither side has. */
async function chooseValue({ scope, seen }, field) {
  const input = element('textarea', { id: 'value', rows: '3' });
  input.value = drafts.get(scope) ?? '';
  const content = [
    element('p', {}, 'It is put on both sides, and read like something typed into the cell.'),
    element('label', { for: 'value' }, field),
    input,
  ];
  const text = await ask(labelOf('value'), content, {
    label: 'Put it on both sides',
    read: () => input.value,
  });
  if (text === undefined) return;
  drafts.set(scope, text);
  const done = await command('api/answer', { question: scope, text, seen });
  if (done === undefined) return;
  drafts.delete(scope);
  tell(`${labelOf('value')}: it is done ${whenDone}.`);
}
