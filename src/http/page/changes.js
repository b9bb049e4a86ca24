import { command, read } from './commands.js';
import { ask, tell } from './dialog.js';
import { element, find, showList } from './element.js';
import { ago, countOf, countWords } from './words.js';

const pageSize = 100;
const limitMax = 1_000;
const pagesMax = 8;
/** More fields than this of one change are folded away. */
const openMax = 3;
/** So many changes of one run that are alike, and more, are folded into one. */
const alikeMin = 4;
/** More lines than this of what is taken back are only counted. */
const listedMax = 12;

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const zone = encodeURIComponent(timeZone);

let limit = pageSize;
let latest = '';

/** Reads the history again when the status shows that it grew. */
export function noteLatest(entries) {
  const looks = JSON.stringify(entries.slice(0, 1));
  if (looks === latest) return;
  latest = looks;
  void readChanges();
}

export function setUpChanges() {
  find('#more').addEventListener('click', () => {
    limit = Math.min(limitMax, limit + 4 * pageSize);
    void readChanges();
  });
}

async function readChanges() {
  try {
    const entries = await readPages();
    find('#changes .empty').hidden = entries.length > 0;
    find('#more').hidden = entries.length < limit || limit >= limitMax;
    showList(
      find('#changes ol'),
      foldAlike(entries),
      ([{ id }]) => String(id),
      (alike) => (alike.length === 1 ? showChange(alike[0]) : showAlike(alike)),
    );
  } catch {
    // The line to the daemon is cut, or its mirror can not be read, as the page says: what was read last stays, and is read again.
    latest = '';
  }
}

/** A page of the daemon holds fewer lines than are wanted where they are long; after some pages the rest is left out. */
async function readPages() {
  const entries = [];
  let before = '';
  for (let page = 0; page < pagesMax && entries.length < limit; page += 1) {
    const answer = await read(`api/history?zone=${zone}&limit=${limit - entries.length}${before}`);
    const said = await answer.json();
    entries.push(...said.entries);
    if (said.next === undefined) break;
    before = `&before=${said.next}`;
  }
  return entries;
}

/** What one run did alike to many records in a row, as one; the rest one by one. */
function foldAlike(entries) {
  const kindOf = ({ cause, key, kind, run, side }) => [run, side, kind, cause, key.entity].join(' ');
  const folds = [];
  for (const entry of entries) {
    const fold = folds.at(-1);
    if (fold && kindOf(fold[0]) === kindOf(entry)) fold.push(entry);
    else folds.push([entry]);
  }
  return folds.flatMap((fold) => (fold.length < alikeMin ? fold.map((entry) => [entry]) : [fold]));
}

function showAlike(entries) {
  const [{ at, cause, key, kind, run, side }] = entries;
  return element(
    'li',
    {},
    showHead(
      `${countWords(entries.length)} ${plurals[key.entity] ?? key.entity}`,
      { at, cause, kind, side },
      { run },
    ),
    element(
      'details',
      {},
      element('summary', {}, 'Each of them'),
      element('ol', {}, ...entries.map(showChange)),
    ),
  );
}

const plurals = { lead: 'leads', opportunity: 'opportunities', task: 'tasks', contact: 'contacts' };

/** What was done to whom, with the button that takes back what `order` names. */
function showHead(subject, { at, cause, kind, side }, order) {
  const takeBackButton = element(
    'button',
    { type: 'button', onclick: () => void takeBack(order) },
    'Take back',
  );
  takeBackButton.setAttribute('aria-label', `Take back: ${subject}, ${kind}, ${cause}`);
  return element(
    'div.row',
    {},
    element('strong', {}, subject),
    element('span.side', {}, sides[side]),
    element('span.quiet', {}, `${kind}, ${cause} · `, ago(at)),
    takeBackButton,
  );
}

const sides = { crm: '→ CRM', table: '→ sheet', both: 'CRM = sheet' };

function showChange({ at, cause, changes, id, kind, name, side, entityTitle }) {
  const lines = changes.map(showField);
  return element(
    'li',
    {},
    showHead(name, { at, cause: `${cause} · ${entityTitle}`, kind, side }, { id }),
    lines.length > openMax
      ? element(
          'details',
          {},
          element('summary', {}, countOf(lines.length, 'field')),
          element('dl', {}, ...lines),
        )
      : element('dl', {}, ...lines),
  );
}

const showField = ({ after, before, header, lost }) =>
  element(
    'div',
    {},
    element('dt', {}, header),
    element(
      'dd',
      {},
      element('del', {}, before),
      ' → ',
      element('ins', {}, after),
      lost === undefined ? undefined : element('span.quiet', {}, ` lost: ${lost}`),
    ),
  );

/** Shows what taking back would come to, and does it if the person wants that. */
async function takeBack(order) {
  const plan = await command('api/undo', { ...order, zone: timeZone, isDryRun: true });
  if (plan === undefined) return;
  const { steps, refusals } = plan;
  const lines = steps.flatMap(({ changes, key, kind, name }) =>
    kind === 'delete'
      ? [element('li', {}, `${name} goes from both sides${forGood(key)}`)]
      : changes.map(({ after, before, header }) =>
          element(
            'li',
            {},
            `${name} · ${header}: `,
            element('del', {}, before),
            ' → ',
            element('ins', {}, after),
          ),
        ),
  );
  const reasons = refusals.map(({ header, name, reason }) =>
    element('li', {}, `${header === undefined ? name : `${name} · ${header}`}: ${reason}`),
  );
  const content = [
    order.run === undefined || steps.length === 0 ? undefined : element('p', {}, describeRun(steps)),
    lines.length > 0
      ? element('ul.plain', {}, ...cut(lines))
      : element('p', {}, 'Nothing of it can be taken back.'),
    reasons.length > 0 ? element('ul.plain.quiet', {}, ...cut(reasons)) : undefined,
  ];
  const action = lines.length > 0 ? { label: 'Take back' } : undefined;
  if ((await ask('Take back', content, action)) !== true) return;
  const done = await command('api/undo', order);
  if (done === undefined) return;
  // Something may have been edited while the person looked.
  const [refusal] = done.refusals;
  if (done.steps.length > 0) tell('It is being taken back on both sides.');
  else tell(`Nothing is taken back any more. ${refusal?.reason ?? ''}`, true);
}

/** What stands in one line of the page may be a part of what its run did. */
function describeRun(steps) {
  const counts = [...Map.groupBy(steps, ({ key }) => key.entity)].map(([entity, own]) =>
    countOf(own.length, entity, plurals[entity]),
  );
  return `Everything that its run did: ${counts.join(', ')}.`;
}

const forGood = ({ entity }) =>
  entity === 'contact' ? ', and for good: the CRM has no trash for contacts' : '';

const cut = (lines) =>
  lines.length <= listedMax
    ? lines
    : [...lines.slice(0, listedMax), element('li', {}, `and ${countWords(lines.length - listedMax)} more`)];
