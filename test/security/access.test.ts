import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { controlToken, openStage, type StageOptions } from '../support/process-stage.ts';
import { type RawAnswer, sendRaw } from '../support/raw-http.ts';

const tokens = {
  read: 'a-token-that-may-only-read',
  answer: 'a-token-that-may-also-answer',
  operate: 'a-token-that-may-do-everything',
};
const lines = [
  '# of the day shift',
  `grafana read ${tokens.read}`,
  '',
  `anna answer ${tokens.answer}`,
  `ben operate ${tokens.operate}`,
];
const local = '127.0.0.1';

/** A daemon that other machines reach, with tokens for a reader, one who answers and an operator. */
async function openDaemon(http: object = {}, options: StageOptions = {}) {
  const stage = await openStage({ counts: { leads: 3, opportunities: 0, tasks: 0 }, ...options });
  const { environment } = stage;
  const file = environment['CRM_SYNC_CONFIG'] ?? '';
  const settings = parse(await readFile(file, 'utf8'));
  await writeFile(file, stringify({ ...settings, http }));
  const own = { ...environment, HTTP_HOST: '0.0.0.0', CONTROL_TOKENS: lines.join('\n') };
  Object.assign(environment, own);
  const daemon = await stage.startDaemon();
  const url = `http://${local}:${environment['HTTP_PORT']}`;
  const ask = (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<RawAnswer> => {
    const all = {
      host: `${local}:${environment['HTTP_PORT']}`,
      connection: 'close',
      'content-length': '0',
      ...headers,
    };
    const head = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    const bytes = Buffer.from([`${method} ${path} HTTP/1.1`, ...head, '', ''].join('\r\n'));
    return sendRaw(url, { bytes, localAddress: local, hangsUp: false });
  };
  const statusOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).status;
  return {
    ...stage,
    daemon,
    ask,
    statusOf,
    bearer: (token: string) => ({ authorization: `Bearer ${token}` }),
  };
}

/** The lines of a daemon's log. */
const logged = (daemon: { said(): string }): Record<string, unknown>[] =>
  daemon
    .said()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));

describe('who reaches the daemon from elsewhere', () => {
  test('sees and does as much as the token lets: nothing, read, answer, operate', async () => {
    const { ask, bearer, runCommand, statusOf } = await openDaemon();
    const asked = [
      ['GET', '/api/status'],
      ['GET', '/api/commands'],
      ['POST', '/api/answer'],
      ['POST', '/api/resync'],
    ] as const;
    const statuses = (headers: Record<string, string>) =>
      Promise.all(asked.map(([method, path]) => statusOf(method, path, headers)));
    expect(await statuses({})).toEqual([401, 401, 401, 401]);
    expect(await statuses(bearer(tokens.read))).toEqual([200, 200, 403, 403]);
    // What is asked is no question.
    expect(await statuses(bearer(tokens.answer))).toEqual([200, 200, 400, 403]);
    expect(await statuses(bearer(tokens.operate))).toEqual([200, 200, 400, 202]);
    expect(await statuses(bearer(controlToken))).toEqual([200, 200, 400, 202]);
    const refused = await ask('POST', '/api/resync', bearer(tokens.answer));
    expect(JSON.parse(refused.body)).toEqual({
      error: 'The token anna may answer; this needs one that may operate.',
    });
    expect(JSON.parse((await ask('POST', '/api/access', bearer(tokens.read))).body)).toEqual({
      name: 'grafana',
      scope: 'read',
    });
    const commands = await runCommand('history', '--commands');
    expect(commands.stdout).toMatch(/ben.*resync/);
  });

  test('has to wait after ten wrong tokens, which are logged and counted; the right one always gets in', async () => {
    const { ask, bearer, daemon, statusOf } = await openDaemon();
    for (let guess = 0; guess < 10; guess += 1)
      expect(await statusOf('POST', '/api/resync', bearer(`wrong-${guess}`))).toBe(401);
    for (let guess = 0; guess < 20; guess += 1)
      expect(await statusOf('POST', '/api/resync', bearer(`more-${guess}`))).toBe(429);
    expect(await statusOf('GET', '/api/status', bearer(tokens.read))).toBe(200);
    const { body } = await ask('GET', '/metrics', bearer(tokens.read));
    expect(body).toMatch(/^crm_sheet_sync_refused_tokens_total 30$/m);
    const refusals = logged(daemon).filter(({ event }) => event === 'http.token_refused');
    expect(refusals.map(({ address, count }) => [address, count])).toEqual([
      [local, 1],
      [local, 11],
    ]);
    expect(JSON.stringify(logged(daemon))).not.toMatch(/wrong-\d|more-\d/);
  });

  test('has the address that a proxy names, where the settings trust the proxy, and its own elsewhere', async () => {
    const trusting = await openDaemon({ trustedProxies: ['127.0.0.0/8'] });
    const wrong = (from: string) => ({ ...trusting.bearer('wrong'), 'x-forwarded-for': from });
    for (let guess = 0; guess <= 10; guess += 1)
      await trusting.statusOf('POST', '/api/resync', wrong('192.0.2.1'));
    expect(await trusting.statusOf('POST', '/api/resync', wrong('192.0.2.1'))).toBe(429);
    expect(await trusting.statusOf('POST', '/api/resync', wrong('192.0.2.2'))).toBe(401);

    const wary = await openDaemon();
    for (let guess = 0; guess <= 10; guess += 1)
      await wary.statusOf('POST', '/api/resync', wrong(`192.0.2.${guess}`));
    expect(await wary.statusOf('POST', '/api/resync', wrong('192.0.2.99'))).toBe(429);
  });
});

test('a page of another site is refused, with or without a token, and a link to the page is none', async () => {
  const { bearer, environment, statusOf } = await openDaemon();
  const own = `http://${local}:${environment['HTTP_PORT']}`;
  const right = bearer(tokens.operate);
  const crossSite = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
  for (const headers of [
    crossSite,
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    { ...crossSite, 'sec-fetch-mode': 'navigate' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ])
    expect(await statusOf('POST', '/api/resync', { ...right, ...headers })).toBe(403);
  expect(await statusOf('GET', '/api/status', { ...right, ...crossSite })).toBe(403);
  expect(await statusOf('GET', '/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(
    200,
  );
  expect(await statusOf('POST', '/api/resync', { ...right, origin: own })).toBe(202);
  expect(await statusOf('POST', '/api/resync', { ...right, 'sec-fetch-site': 'same-origin' })).toBe(202);
});

test('a daemon that others reach does not start without any token, and says what to give it', async () => {
  const { environment, runCommand } = await openStage({ counts: { leads: 1, opportunities: 0, tasks: 0 } });
  Object.assign(environment, { HTTP_HOST: '0.0.0.0', CONTROL_TOKEN: '' });
  const { code, stderr } = await runCommand('start');
  expect(code).not.toBe(0);
  expect(stderr).toContain('other machines reach the daemon at 0.0.0.0, so it needs a token');
});

test.each([
  ['a scope that there is not', 'anna admin a-token-that-is-long-enough', 'read, answer or operate'],
  ['a token that is short', 'anna read short', 'at least 16 characters'],
  ['a name twice', `anna read ${tokens.read}\nanna answer ${tokens.answer}`, 'two tokens have the same name'],
  ['a token twice', `anna read ${tokens.read}\nben answer ${tokens.read}`, 'two tokens have the same token'],
])('tokens with %s are refused in a sentence that does not show them', async (_, text, words) => {
  const { environment, runCommand } = await openStage({ counts: { leads: 1, opportunities: 0, tasks: 0 } });
  const file = join(environment['STATE_DIR'] ?? '', '..', 'tokens');
  await writeFile(file, text);
  Object.assign(environment, { CONTROL_TOKENS_FILE: file });
  const { code, stderr } = await runCommand('start');
  expect(code).not.toBe(0);
  expect(stderr).toContain(words);
  for (const line of text.split('\n')) expect(stderr).not.toContain(line.split(' ')[2] ?? line);
});
