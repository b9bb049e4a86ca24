import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { localTime } from '../../src/cli/local-time.ts';
import { run } from '../../src/cli/program.ts';
import { signature } from '../../src/http/guard.ts';

const title = '\u001b[2J\u009b31mAcme\r\u007f Ünï';

/** A status in which all is well. */
const calm = {
  now: 0,
  standing: { state: 'inStep', since: 0, title: 'In step' },
  lastCycleAt: 0,
  forUser: 0,
  queue: { kind: 'inprocess' },
  isManual: false,
  sides: [],
  tabs: [],
  problems: [],
  conditions: [],
  restlessRows: 0,
  brakes: [],
  holds: [],
  refusals: [],
  waiting: [],
  toMend: [],
};

/** The status of a link in which all is well, but for this. */
function statusWith(parts: object) {
  const status = { ...calm, ...parts };
  return { ...status, counts: { waiting: status.waiting.length, toMend: status.toMend.length } };
}

/** A daemon that answers everything like this. Answers the environment of those who ask it. */
async function answering(
  answer: object | ((url: string) => object),
  status = 200,
  hear: (body: unknown) => void = () => undefined,
) {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (body !== '') hear(JSON.parse(body));
    response.writeHead(status, { [signature.name]: signature.value });
    response.end(JSON.stringify(typeof answer === 'function' ? answer(request.url ?? '') : answer));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return { HTTP_HOST: '127.0.0.1', HTTP_PORT: String(address.port) };
}

/** Runs a command. Answers its exit code, and what it prints and says of an error. */
async function execute(words: readonly string[], environment: Record<string, string>) {
  const lines: string[] = [];
  for (const method of ['log', 'error'] as const) {
    const spy = vi.spyOn(console, method).mockImplementation((line: string) => void lines.push(line));
    onTestFinished(() => spy.mockRestore());
  }
  const code = await run(words, environment);
  return { code, said: lines.join('\n') };
}

const printed = async (words: readonly string[], environment: Record<string, string>): Promise<string> =>
  (await execute(words, environment)).said;

const waiting = {
  name: 'Acme (#42)',
  entityTitle: 'Leads',
  scope: 'conflict:lead-42:title',
  what: `Title of ${title} was changed.`,
  answers: ['crm', 'sheet'],
  about: { tab: 'Leads', record: '42', title, crm: title },
};

test('what somebody typed steers no terminal in which a command shows it', async () => {
  const shown = await printed(['status'], await answering(statusWith({ waiting: [waiting] })));
  expect(shown).not.toMatch(/(?!\n)\p{Cc}/u);
  expect(shown).toContain('    CRM has: \\u001b[2J\\u009b31mAcme\\u000d\\u007f Ünï\n');
});

test('what somebody typed steers no terminal in which a refusal quotes it', async () => {
  const shown = await printed(['status'], await answering({ error: `Put “${title}” back.` }, 400));
  expect(shown).toContain('Put “\\u001b[2J\\u009b31mAcme\\u000d\\u007f Ünï” back.');
});

test('JSON says the same as the daemon, and steers no terminal either', async () => {
  const answer = statusWith({ waiting: [waiting] });
  const shown = await printed(['status', '--json'], await answering(answer));
  expect(shown).not.toMatch(/\p{Cc}/u);
  expect(JSON.parse(shown)).toEqual(answer);
});

test('JSON has all of a list of which the status has the first alone', async () => {
  const [first, second, third] = ['a', 'b', 'c'].map((scope) => ({ ...waiting, scope }));
  const status = { ...calm, waiting: [first], counts: { waiting: 3 } };
  const parts: Readonly<Record<string, object>> = {
    '/api/status': status,
    '/api/status/waiting?from=1': { items: [second], next: 2 },
    '/api/status/waiting?from=2': { items: [third] },
  };
  const shown = await printed(['status', '--json'], await answering((url) => parts[url] ?? {}));
  expect(JSON.parse(shown)).toMatchObject({ waiting: [{ scope: 'a' }, { scope: 'b' }, { scope: 'c' }] });
});

/** A value that would pass for a line of ours, turn what follows around, and end a line in other ways. */
const forger = '1001\nWaits: forged (answer everything)\r\u0085\u2028\u202e\u2066Eve';
const shownForger = '1001\\nWaits: forged (answer everything)\\u000d\\u0085\\u2028\\u202e\\u2066Eve';
const forgedKey = { entity: 'lead', id: forger };
const forgedQuestion = { ...waiting, name: forger, what: forger, about: { tab: forger, crm: forger } };

test.each<[words: string, answer: object]>([
  [
    'status',
    statusWith({
      waiting: [forgedQuestion],
      toMend: [{ kind: 'error', name: forger, reason: forger }],
    }),
  ],
  ['plan', { id: 'run', conditions: [], told: [forger], brakes: [], holds: [], refusals: [], conflicts: [] }],
  [
    'history',
    {
      entries: [
        {
          id: 1,
          at: 0,
          run: 'r',
          key: forgedKey,
          kind: 'update',
          side: 'crm',
          before: {},
          after: {},
          lost: {},
          cause: forger,
          name: forger,
          entityTitle: 'Leads',
          changes: [],
        },
      ],
    },
  ],
  [
    'undo --run r',
    { steps: [], refusals: [{ key: forgedKey, name: forger, header: 'Title', reason: forger }] },
  ],
  ['apply r', { isApplied: false, differences: [{ place: forger, planned: forger }] }],
  ['answer --all retry', { answered: [{ name: forger }], left: [{ name: forger }] }],
  ['backup', { error: forger }],
])('`%s` shows a value with ends of lines and marks of direction on one line', async (words, answer) => {
  const status = 'error' in answer ? 400 : 200;
  const lines = (await printed(words.split(' '), await answering(answer, status))).split('\n');

  expect(lines.filter((line) => line.startsWith('Waits: forged'))).toEqual([]);
  expect(lines.join('\n')).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\u2028]/u);
  expect(lines.some((line) => line.includes(shownForger))).toBe(true);
});

const saidIn = async (status: object) =>
  (await printed(['status'], await answering(statusWith(status)))).split('\n');

test('`status` says in its first sentence whether the sides are in step, since when, and what waits for a person', async () => {
  const now = new Date(2026, 10, 25, 9, 20).getTime();
  const standing = { title: 'In step', since: new Date(2026, 10, 25, 9, 14).getTime() };
  const first = async (more: object) => (await saidIn({ now, standing, ...more }))[0];
  expect(await first({})).toBe('In step since 09:14.');
  expect(await first({ forUser: 1 })).toBe('In step since 09:14; 1 thing waits for you.');
  expect(await first({ forUser: 3 })).toBe('In step since 09:14; 3 things wait for you.');
  expect(await first({ lastCycleAt: undefined })).toMatch(
    /^In step since 09:14\. It is not known yet what waits/,
  );
});

test('`status` names whom a question is about, shows what both sides have, and says how to answer', async () => {
  const about = { tab: 'Leads', crm: 'Acme', table: 'Acme Ltd', agreed: 'A' };
  const conflict = { ...waiting, what: 'Title was changed.', about, since: 0 };
  expect((await saidIn({ waiting: [conflict] })).slice(1, 9)).toEqual([
    '',
    'Waits for you',
    expect.stringMatching(/^ {2}Acme \(#42\), Leads, since \d\d:\d\d$/),
    '    Title was changed.',
    '    CRM has: Acme',
    '    sheet has: Acme Ltd',
    '    both had: A',
    '    answer lead-42 title crm|sheet',
  ]);
  const gone = { ...conflict, scope: 'vanished:lead-42', answers: ['trash', 'restore'] };
  expect(await saidIn({ waiting: [gone] })).toContain('    answer vanished:lead-42 trash|restore');
  const told = await saidIn({ waiting: [{ ...conflict, answered: 'sheet' }] });
  expect(told.join('\n')).toMatch(/^ {4}answered: sheet\. It is done in the next cycle/m);
});

test('`status` says what does not work once, though it is a condition and a problem', async () => {
  const problem = { code: 'CRM_UNAUTHORIZED', message: 'The CRM refuses the key.', since: 0, source: 'crm' };
  const condition = { name: 'CRM_UNAUTHORIZED', words: 'crm: The CRM refuses the key.', since: 0 };
  const braked = { name: 'BRAKE', words: 'Stopped.', since: 0 };
  const lines = await saidIn({ problems: [problem], conditions: [condition, braked] });
  expect(lines.slice(2, 5)).toEqual([
    'Does not work',
    expect.stringMatching(/^ {2}Since \d\d:\d\d: crm: The CRM refuses the key\.$/),
    '',
  ]);
});

test('the history shows what was lost of a field of which nothing else is known', async () => {
  const entry = {
    id: 1,
    at: 0,
    run: 'r',
    name: 'Acme (#42)',
    entityTitle: 'Leads',
    kind: 'delete',
    side: 'table',
  };
  const changes = [
    { header: 'Title', before: 'Acme', after: 'empty' },
    { header: 'City', before: 'empty', after: 'empty', lost: 'Rome' },
  ];
  const entries = [{ ...entry, changes, cause: 'deleted in the CRM' }];
  const shown = await printed(['history'], await answering({ entries }));
  expect(shown.split('\n')).toEqual([
    expect.stringMatching(/^\S+ \S+ {2}Acme \(#42\)$/),
    '    Title: Acme → empty',
    '    City: empty → empty (lost: Rome)',
    '    Leads: delete in the sheet, deleted in the CRM · line 1, run r',
  ]);
});

test('a change of one field is said in one line', async () => {
  const entry = {
    id: 7,
    at: 0,
    run: 'r',
    name: 'Oak & Ember GmbH (#1018)',
    entityTitle: 'Leads',
    kind: 'update',
  };
  const changes = [{ header: 'Yearly budget (€)', before: '48,750', after: '1,250.50' }];
  const entries = [{ ...entry, changes, side: 'crm', cause: 'edited in the sheet' }];
  const [line] = (await printed(['history'], await answering({ entries }))).split('\n');
  expect(line).toMatch(/ {2}Oak & Ember GmbH \(#1018\) · Yearly budget \(€\): 48,750 → 1,250\.50$/);
});

test('a line without a number is refused, and does not take back the whole record', async () => {
  const asked: unknown[] = [];
  const environment = await answering({ steps: [], refusals: [] }, 200, (body) => asked.push(body));
  await printed(['undo', '--record', 'lead-42', '--line', ''], environment);
  expect(asked).toEqual([{ record: 'lead-42', id: '', isDryRun: false, zone: expect.any(String) }]);
});

test('what was typed wrongly is told as wrong usage, by the daemon too, and not as something it failed to do', async () => {
  const environment = await answering({ error: 'since: must be a day or a time.' }, 400);
  const said = await printed(['history', '--since', 'yesterday'], environment);
  expect(said).toContain('since: must be a day or a time.');
  expect(said).not.toContain('status says more');
  expect(await run(['undo', '--since', 'yesterday'], environment)).toBe(2);
});

const emptyPlan = {
  id: 'run',
  told: [],
  conflicts: [],
  brakes: [],
  holds: [],
  refusals: [],
  conditions: [],
};

test('a plan in which nothing is to be done calls both sides the same only where both are known', async () => {
  expect(await printed(['plan'], await answering(emptyPlan))).toBe('Nothing to do: both sides are the same.');
  const conditions = [{ words: "Not read completely yet: the CRM's Leads.", since: 0 }];
  expect(await printed(['plan'], await answering({ ...emptyPlan, conditions }))).toBe(
    `Nothing to do by what is known of both sides.\nSince ${localTime(0)}: Not read completely yet: the CRM's Leads.`,
  );
});

test('a plan is told side by side, with how to do exactly each', async () => {
  const warehouse = { ...emptyPlan, id: 'other', side: 'warehouse', told: ['Warehouse  write 3 Leads'] };
  const answer = { ...emptyPlan, told: ['CRM  update Acme (#42) · Title: A → B'], others: [warehouse] };
  expect((await printed(['plan'], await answering(answer))).split('\n')).toEqual([
    'CRM  update Acme (#42) · Title: A → B',
    'Warehouse  write 3 Leads',
    'To do exactly this at the sheet: apply run',
    'To do exactly this at the warehouse: apply other',
  ]);
});

test('what is to be mended is named by its tab, its record, or the row of the sheet that has none yet', async () => {
  const toMend = [
    { kind: 'stopped', entityTitle: 'Leads, Tasks', reason: 'The key is a new one.' },
    { kind: 'held', entityTitle: 'Leads', position: 4, reason: 'It looks like record 7.' },
    { kind: 'held', entityTitle: 'Leads', name: 'Acme (#42)', position: 1, reason: 'Paused.' },
    { kind: 'ignored', entityTitle: 'Leads', name: 'Acme (#42)', reason: 'No.', scope: 'refused:lead-42' },
  ];
  const told = await saidIn({ toMend, restlessRows: 1 });
  expect(told.slice(3, 7)).toEqual([
    '  Stopped: Leads, Tasks: The key is a new one.',
    '  Held: Leads, row 5: It looks like record 7.',
    '  Held: Acme (#42), Leads: Paused.',
    '  Ignored: Acme (#42), Leads: No. (answer refused:lead-42 retry takes it up again)',
  ]);
  expect(told).toContain('1 rows changed just now and are taken once they rest.');
});

test('`status` and `plan` need a person for everything that they list as held or refused, but for what somebody ignores or nobody has to have', async () => {
  const codesOf = async (listed: object) => {
    const status = statusWith(listed);
    const { code } = await execute(['status'], await answering(status));
    return [code, (await execute(['plan'], await answering({ ...emptyPlan, ...listed }))).code];
  };
  const refusal = { entity: 'lead', position: 8, reason: 'Not a date.' };
  expect(await codesOf({})).toEqual([0, 0]);
  expect(await codesOf({ refusals: [refusal] })).toEqual([3, 3]);
  expect(await codesOf({ refusals: [{ ...refusal, isIgnored: true }] })).toEqual([0, 0]);
  expect(await codesOf({ holds: [{ entity: 'lead', reason: 'Not added.', isOffer: true }] })).toEqual([0, 0]);
  expect(await codesOf({ holds: [{ entity: 'question', reason: 'It has no column “ID”.' }] })).toEqual([
    3, 3,
  ]);
});
