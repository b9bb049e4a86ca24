import { element, find, showList } from './element.js';
import { clockWords, countWords, durationWords, now } from './words.js';

const works = {
  reading: (title) => `Reading ${title} from the CRM`,
  filling: (title) => `Filling in ${title}`,
  resync: () => 'Reading everything again',
};

/** Shows large pieces of work with how far they are, and when they end where that can be told. */
export function showProgress({ progress, resync }) {
  const isOver =
    resync !== undefined && resync.state !== 'running' && now() - resync.finishedAt < 10 * 60_000;
  find('#progress').hidden = progress.length === 0 && !isOver;
  find('#resync').disabled = resync?.state === 'running';
  const ended = isOver ? [{ work: 'ended', title: '', resync }] : [];
  showList(
    find('#progress ul'),
    [...progress, ...ended],
    ({ work, title }) => `${work} ${title}`,
    (item) => (item.work === 'ended' ? showEnded(item.resync) : showWork(item, resync)),
  );
}

function showWork({ work, title, done, total, endsAt }, resync) {
  const words = works[work](title);
  const bar = element('progress', {
    'aria-label': words,
    ...(total === undefined ? {} : { max: String(Math.max(1, total)), value: String(done) }),
  });
  const amount = total === undefined ? countWords(done) : `${countWords(done)} of ${countWords(total)}`;
  return element(
    'li',
    {},
    element('div.row', {}, element('strong', {}, words), element('span.amount', {}, amount)),
    bar,
    element('p.quiet', {}, endWords({ work, done, total, endsAt }, resync)),
  );
}

function endWords({ work, done, total, endsAt }, resync) {
  if (total === undefined) return 'The CRM has not said how many there are, so the end is not known.';
  if (work === 'resync' && done >= total) {
    const { crmWrites, tableSteps } = resync;
    return `Everything is read; ${countWords(tableSteps)} written to the sheet and ${countWords(crmWrites)} to the CRM so far.`;
  }
  if (endsAt === undefined) return 'The end can be told in a moment.';
  const then = work === 'resync' ? '; what is to be written is known then' : '';
  return `About ${durationWords(Math.max(1_000, endsAt - now()))} left, until ${clockWords(endsAt)}${then}.`;
}

function showEnded({ state, finishedAt, startedAt, tableSteps, crmWrites, unapplied, problem }) {
  const planned = unapplied === 0 ? '' : ` ${countWords(unapplied)} to be written once a plan is applied.`;
  const words =
    state === 'failed'
      ? `Reading everything again failed at ${clockWords(finishedAt)}: ${problem}`
      : `Everything was read again by ${clockWords(finishedAt)}, in ${durationWords(finishedAt - startedAt)}: ` +
        `${countWords(tableSteps)} written to the sheet, ${countWords(crmWrites)} to the CRM.${planned}`;
  return element('li', {}, element('p', {}, words));
}
