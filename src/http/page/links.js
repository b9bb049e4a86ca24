import { read, setUpAccess } from './commands.js';
import { element, find, showList, symbol } from './element.js';
import { signs } from './standing.js';
import { setUpTheme } from './theme.js';
import { clockWords, countOf, saidIn } from './words.js';

const lookEveryMs = 2_000;
/** A line may fall silent without being cut. */
const silenceMaxMs = 10_000;

/** What is shown of a link that this process does not run. */
const elsewhere = (url) =>
  url === undefined
    ? { sign: 'begins', title: 'No process runs it yet' }
    : { sign: 'moves', title: `Another process runs it, at ${url}` };

function buildLink({ conditions, isHere, name, standing, url, waiting }) {
  const { sign, title } = standing ? { ...standing, sign: signs[standing.state] } : elsewhere(url);
  const address = isHere ? `/links/${name}/` : url && `${url}/links/${name}/`;
  return element(
    'li.card',
    {},
    element('h3', {}, symbol(sign), address ? element('a', { href: address }, name) : name),
    element('p', {}, standing ? `${title}, since ${clockWords(standing.since)}` : title),
    waiting ? element('p', {}, `${countOf(waiting, 'question')} for a person`) : undefined,
    ...conditions.map(({ words }) => element('p.quiet', {}, words)),
  );
}

async function look() {
  const line = find('#line');
  try {
    const said = await (await read('api/links', { signal: AbortSignal.timeout(silenceMaxMs) })).json();
    showList(find('#links ul'), said.links, ({ name }) => name, buildLink);
    line.dataset.state = 'live';
    line.textContent = 'Live';
  } catch (error) {
    line.dataset.state = 'lost';
    line.textContent = `Not connected: what you see is from before. ${saidIn(error) ?? 'Trying again…'}`;
  }
  document.body.classList.toggle('stale', line.dataset.state === 'lost');
  setTimeout(look, lookEveryMs);
}

setUpAccess();
setUpTheme(find('#theme'), () => {});
void look();
