/** What each address is for, in the order of the page. */
const meanings: readonly (readonly [route: string, meaning: string])[] = [
  ['GET /', 'The status page'],
  [
    'GET /livez',
    'Whether the daemon is alive: 200 or 503; with every [condition](#conditions) for those who may read',
  ],
  ['GET /healthz', 'The same'],
  ['GET /readyz', 'Whether it does all of its work: 200 or 503; with every condition for those who may read'],
  ['GET /metrics', 'Numbers for Prometheus: [metrics](#metrics)'],
  [
    'GET /api/status',
    'What is the same on both sides, what waits, and why; of each long list the first, and in `counts` how long it is',
  ],
  [
    'GET /api/status/:list',
    'The next of such a list, `waiting` for example, from the place `from` on; where there is more, `next` says from where to ask on',
  ],
  ['GET /api/events', 'The same, live, as server-sent events'],
  [
    'GET /api/history',
    'A page of the history, newest first: by `record` (its id, key or title), `field` (its name or header), `run`, `id` and `since`, at most `limit` lines and some 1 MB; each line also in labels, with times of `zone`; where there is more, `next` says with which `before` to ask on',
  ],
  [
    'GET /api/commands',
    'Which commands were given and by which token, newest first: at most `limit`; where there is more, `next` says with which `before` to ask on',
  ],
  ['POST /api/access', 'The name of the token, and what it may do'],
  ['POST /api/resync', 'Reads everything again; the status says how far it is'],
  [
    'POST /api/compare',
    'Compares every row of the warehouse with the CRM, writes what differs, and counts it',
  ],
  ['POST /api/plan', 'Makes a plan, with an id'],
  ['POST /api/apply', 'Does what a plan showed: `{"id"}`'],
  [
    'POST /api/undo',
    'Takes back what the body names, as the history does: `run`, `record`, `field`, `id` and `since`; with `"isDryRun": true` it only says what that comes to',
  ],
  ['POST /api/backup', 'Copies the mirror'],
  [
    'POST /api/answer',
    'Answers a question: `{"question", "answer"}`, where the question is a scope, or a record by its id, key or title, with `"field"` in a conflict, and in place of the answer `"text"` puts a value on both sides of one. With `"seen": {"what", "about"}` as the status showed them it is refused where they have changed. `{"all": answer}` with `crm`, `sheet`, `retry`, `revert` or `ignore` answers everything that takes it',
  ],
];

/** The routes that the page has to list: what a page is made of, and what a server adds by itself, are left out. */
const isListed = (route: string): boolean => !/^(HEAD|OPTIONS) |^GET \/page\//.test(route);

/** Addresses that answer everybody with what they may know. */
const open: readonly string[] = ['GET /', 'GET /livez', 'GET /healthz', 'GET /readyz'];

/** What the token of a request has to let do. */
function needOf(route: string): string {
  if (open.includes(route)) return 'no';
  if (!route.startsWith('POST ')) return 'to read';
  if (route === 'POST /api/access') return 'any';
  return route === 'POST /api/answer' ? 'answer' : 'operate';
}

/** The addresses in Markdown. Throws where one is not described, or what is described does not exist. */
export function routesTable(routes: readonly string[]): string {
  const found = new Set(routes.filter(isListed));
  const described = new Set(meanings.map(([route]) => route));
  const wrong = [...found.symmetricDifference(described)];
  if (wrong.length > 0)
    throw new Error(`Describe these in test/docs/routes-table.ts, or take them out: ${wrong.join(', ')}.`);
  const lines = meanings.map(([route, meaning]) => `| \`${route}\` | ${needOf(route)} | ${meaning} |`);
  return ['| address | token | what it answers or does |', '|---|---|---|', ...lines].join('\n');
}
