import { element, find, showList, symbol } from './element.js';
import { ago, clockWords, countOf, countWords, durationWords } from './words.js';

/** What each standing is shown with. */
export const signs = {
  inStep: 'done',
  working: 'moves',
  planned: 'asks',
  asking: 'asks',
  filling: 'begins',
  failing: 'failed',
};

/** Below a name of its own the page is that of one link of several. */
const isOneOfSeveral = location.pathname !== '/';

/** Says which link the page is about, so that nobody answers in the wrong one. */
function nameLink(link) {
  find('#link').textContent = `: ${link}`;
  find('#links').hidden = false;
}

/** Shows in one line whether all is well, and since when. */
export function showStanding(status) {
  const { forUser, lastCycleAt, link, restlessRows, sides, standing, tabs } = status;
  const things = countOf(forUser, 'thing waits', 'things wait');
  const title = forUser === 0 ? standing.title : `${standing.title}; ${things} for you`;
  const section = find('#standing');
  if (section.dataset.state !== standing.state || find('#standing-title').textContent !== title) {
    section.dataset.state = standing.state;
    find('#standing-symbol').replaceChildren(symbol(signs[standing.state]));
    find('#standing-title').textContent = title;
    const mark = standing.state === 'inStep' ? '✓' : standing.state === 'failing' ? '✕' : '…';
    document.title = `${mark} ${title}${isOneOfSeveral ? ` · ${link}` : ''}`;
  }
  if (isOneOfSeveral) nameLink(link);
  find('#standing-since').replaceChildren(`since ${clockWords(standing.since)}, `, ago(standing.since));
  const sum = (name) => tabs.reduce((total, tab) => total + tab[name], 0);
  const sheet = sides.find(({ name }) => name === 'sheet');
  find('#sides').textContent = sides.map(({ name }) => name).join(', ');
  const place = isOneOfSeveral ? ['Link', link] : ['Database', link];
  showFacts('#facts', [
    ['Records', countWords(sum('recordsInCrm'))],
    ['On their way to the CRM', countWords(sum('pending'))],
    ['Rows being edited', countWords(restlessRows)],
    [
      sheet ? 'Sheet last compared' : 'Last compared',
      lastCycleAt === undefined ? 'not yet' : ago(lastCycleAt),
    ],
    ...(isOneOfSeveral || !sheet ? [place] : []),
    ...(sheet?.url === undefined ? [] : [['Spreadsheet', linkTo(sheet.url, 'Open it')]]),
  ]);
  showTechnical(status);
}

/** What nobody needs as long as all is well. */
function showTechnical({ budget, queue }) {
  const waiting = Object.values(budget.waiting).reduce((total, count) => total + count, 0);
  showFacts('#technical', [
    ['Requests to the CRM in the window', `${countWords(budget.taken)} of ${countWords(budget.requests)}`],
    ['Requests waiting', countWords(waiting)],
    ...(budget.parkedMs > 0 ? [['CRM asked to wait', durationWords(budget.parkedMs)]] : []),
    ['Queue', queue.kind === 'bullmq' ? 'Redis' : 'in process'],
  ]);
}

const linkTo = (url, words) => element('a', { href: url, target: '_blank', rel: 'noreferrer' }, words);

/** Shows names and what each has. An element that is there already stays, so that a link keeps the focus. */
function showFacts(selector, facts) {
  showList(
    find(selector),
    facts.map(([name, value]) => ({ name, value, looks: value.outerHTML ?? value })),
    ({ name }) => name,
    ({ name, value }) => element('div', {}, element('dt', {}, name), element('dd', {}, value)),
  );
}

/** What other parts of the page show already. */
const shownElsewhere = new Set(['HELD', 'BRAKE', 'QUESTIONS', 'NOT_READ_YET']);

/** Shows what does not work, with the daemon's own words: what failed just now, and what is late. */
export function showProblems({ conditions, problems: failures }) {
  const failed = new Set(failures.map(({ code }) => code));
  const late = conditions.filter(({ name }) => !failed.has(name) && !shownElsewhere.has(name));
  const problems = [
    ...failures,
    ...late.map(({ name, since, words }) => ({ source: name, code: name, message: words, since })),
  ];
  find('#problems').hidden = problems.length === 0;
  showList(
    find('#problems ul'),
    problems,
    ({ source }) => source,
    ({ code, failures, message, since, source }) =>
      element(
        'li.card.problem',
        {},
        element('h3', {}, symbol('failed'), source),
        element('p', {}, message),
        element(
          'p.quiet',
          {},
          `since ${clockWords(since)}, `,
          ago(since),
          `${failures === undefined ? '' : ` · ${countOf(failures, 'attempt')}`} · ${code}`,
        ),
      ),
  );
}
