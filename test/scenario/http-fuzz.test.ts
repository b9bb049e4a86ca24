import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fc from 'fast-check';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { describe, expect, test } from 'vitest';
import type { HttpOptions } from '../../src/http/server.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { type RawAnswer, sendRaw } from '../support/raw-http.ts';
import { controlToken, serve } from '../support/served.ts';

/** Addresses of this machine: too many wrong tokens shut out the one that they come from. */
const [guesser, operator] = ['127.0.0.2', '127.0.0.3'];

interface Route {
  readonly method: string;
  readonly url: string;
}

/** Starts the HTTP side of a daemon; answers every route it has, as the server itself tells them. */
async function openServed(more: Partial<HttpOptions> = {}) {
  const stage = await openLinkStage({ leads: 3, opportunities: 1, tasks: 1 });
  const engine = await stage.fill();
  const routes: Route[] = [];
  const noteRoute = ({ method, url }: RouteOptions) => {
    for (const each of [method].flat()) routes.push({ method: each, url });
  };
  const watch = (message: unknown) => {
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', noteRoute);
  };
  subscribe('fastify.initialization', watch);
  const hostNames = ['sync.example', 'proxy.example:8443', 'büro.example'];
  const { url } = await serve(engine, { hostNames, ...more });
  unsubscribe('fastify.initialization', watch);
  return { url, routes };
}

const anyText = fc.string({ unit: 'binary', maxLength: 40 });
const oddText = fc.oneof(
  anyText,
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    '../../etc/passwd',
    '%00',
    '%',
    '👍',
    'a\0b',
    '\u202e',
  ),
);
/** JSON with keys that some code would take for its own, and nearly right commands. */
const oddJson = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.constantFrom(
    '{"__proto__":{"isDryRun":true}}',
    '{"constructor":{"prototype":{"x":1}}}',
    '{"question":"brake:lead:torn","answer":"approve","__proto__":{}}',
    '{"run":"__proto__","isDryRun":true}',
    '{"record":"lead-__proto__"}',
    '{"id":1e309}',
    '{"since":"99999999-01-01"}',
    '{"a":1,"a":',
    '[[[[[[[[',
    '',
    'null',
    '"\ud800"',
  ),
  fc.record({ question: oddText, answer: oddText }).map((body) => JSON.stringify(body)),
  fc
    .record({ field: oddText, record: oddText, isDryRun: fc.anything() })
    .map((body) => JSON.stringify(body) ?? ''),
);
/** So many bytes, so that a failure shows the number and not all of them. */
const hugeBody = fc.integer({ min: 65_000, max: 300_000 });
const contentType = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'application/xml',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  '',
);
const host = fc.constantFrom(
  '127.0.0.1',
  'localhost:8080',
  '[::1]:80',
  'sync.example',
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1@evil.example',
  'evil.example#127.0.0.1',
  '127.0.0.1.nip.io',
  '',
  'a b',
  '::1',
  '[',
);
const odd = {
  method: fc.constantFrom(
    'GET',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'HEAD',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'get',
    'X',
  ),
  query: fc.oneof(
    fc.constant(''),
    fc.webQueryParameters(),
    fc.constantFrom(
      '__proto__[a]=1',
      'limit=-1',
      'limit=1e9',
      'record=lead-1&record=lead-2',
      'since=never',
      'id=%FF',
    ),
    oddText.map((text) => `record=${encodeURIComponent(text.toWellFormed())}`),
  ),
  body: fc.oneof({ weight: 5, arbitrary: oddJson }, { weight: 1, arbitrary: hugeBody }),
  contentType,
  host,
  header: fc.constantFrom(
    'x-test: 1',
    'x-forwarded-host: localhost',
    'origin: https://evil.example',
    'x-test: a\r\nx-injected: 1',
    'transfer-encoding: chunked',
    'content-length: 7',
    'expect: 100-continue',
    'upgrade: websocket\r\nconnection: upgrade',
    'accept-version: 9',
    'if-modified-since: never',
    ' folded',
    'no colon',
    `cookie: ${'a'.repeat(20_000)}`,
  ),
};

const wrongToken = fc.constantFrom(
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'Bearer undefined',
  'Bearer null',
  `Bearer ${controlToken.slice(0, -1)}`,
  `Bearer ${controlToken}x`,
  `bearer  ${controlToken}`,
  `Basic ${btoa(`operator:${controlToken}`)}`,
  controlToken,
);

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: string | number;
  readonly contentType: string;
  readonly host: string;
  readonly header: string;
  readonly authorization: string | undefined;
}

/** An odd length of the body may leave the server waiting for more. */
const hasOddLength = (header: string) => /^(content-length|transfer-encoding)/.test(header);

function bytesOf(asked: Asked): Buffer {
  const { authorization, header, method, path, query } = asked;
  const body =
    typeof asked.body === 'string' ? asked.body : JSON.stringify({ scope: 'a'.repeat(asked.body) });
  const head = [
    `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1`,
    `Host: ${asked.host}`,
    'Connection: close',
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ...(asked.contentType === '' ? [] : [`Content-Type: ${asked.contentType}`]),
    header,
    ...(hasOddLength(header) ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

const send = (url: string, asked: Asked, localAddress: string): Promise<RawAnswer> =>
  sendRaw(url, { bytes: bytesOf(asked), localAddress, hangsUp: hasOddLength(asked.header) });

const isFailure = ({ status = 0 }: RawAnswer) => status >= 500 && status !== 503;

/** What holds for every answer there is. */
function expectHarmless(answer: RawAnswer): void {
  expect(isFailure(answer), answer.body).toBe(false);
  const whole = [...answer.headers, answer.body].flat().join('\n');
  expect(whole).not.toContain(controlToken);
  expect(whole).not.toContain('svc_live_');
  expect(whole).not.toMatch(/\bat .+\.(ts|js):\d+/);
  expect([...answer.headers.keys()].filter((name) => /^access-control|^x-injected/.test(name))).toEqual([]);
}

/** Odd requests to a route: mostly by its own method, sometimes on paths that only resemble it. */
const requestTo = (
  { method, url }: Route,
  authorization: fc.Arbitrary<string | undefined>,
): fc.Arbitrary<Asked> =>
  fc.record({
    ...odd,
    method: fc.oneof({ weight: 3, arbitrary: fc.constant(method) }, { weight: 1, arbitrary: odd.method }),
    path: fc.oneof(
      { weight: 6, arbitrary: fc.constant(url) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          `/${url}`,
          `${url}/`,
          `${url}%00`,
          `/..${url}`,
          `${url}/../x`,
          url.toUpperCase(),
          '*',
          '/%',
        ),
      },
      { weight: 1, arbitrary: oddText.map((text) => `${url}/${encodeURIComponent(text.toWellFormed())}`) },
    ),
    host: fc.oneof({ weight: 2, arbitrary: fc.constant('127.0.0.1') }, { weight: 1, arbitrary: host }),
    authorization,
  });

describe('whatever is sent to the daemon', { timeout: 120_000 }, () => {
  test('no route breaks, hangs or tells a secret, and no command is taken without the token', async () => {
    const { url, routes } = await openServed();
    const commands = routes.filter(({ method }) => method === 'POST');
    expect(commands.map((route) => route.url)).toContain('/api/answer');
    expect(routes.map((route) => route.url)).toContain('/healthz');
    for (const route of routes) {
      await fc.assert(
        fc.asyncProperty(requestTo(route, wrongToken), async (asked) => {
          const answer = await send(url, asked, guesser);
          expectHarmless(answer);
          if (asked.method === 'POST') expect(answer.status ?? 400).toBeGreaterThanOrEqual(400);
        }),
        { numRuns: 60 },
      );
      await fc.assert(
        fc.asyncProperty(requestTo(route, fc.constant(`Bearer ${controlToken}`)), async (asked) => {
          expectHarmless(await send(url, asked, operator));
        }),
        { numRuns: 60 },
      );
    }
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('isDryRun');
  });

  test('bytes that are no HTTP are refused', async () => {
    const { url } = await openServed();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (bytes) => {
        const answer = await sendRaw(url, {
          bytes: Buffer.from(bytes),
          localAddress: guesser,
          hangsUp: true,
        });
        expectHarmless(answer);
        expect(answer.status ?? 400).toBeGreaterThanOrEqual(400);
      }),
      { numRuns: 100 },
    );
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('the guard of the daemon', () => {
  const ask = (url: string, path: string, headers: Record<string, string>, localAddress: string) => {
    const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const method = path === '/api/plan' ? 'POST' : 'GET';
    const head = [`${method} ${path} HTTP/1.1`, ...lines, 'Connection: close', 'Content-Length: 0'];
    return sendRaw(url, { bytes: Buffer.from(`${head.join('\r\n')}\r\n\r\n`), localAddress, hangsUp: false });
  };

  test('answers only under names it is known by, so that no page of somebody else can read here', async () => {
    const { url } = await openServed();
    const statusUnder = async (name: string) =>
      (await ask(url, '/api/status', { host: name }, operator)).status;
    for (const name of [
      ...['localhost:8080', '127.0.0.1', '192.168.1.7:80', '[::1]:8080', 'SYNC.example:443'],
      // As a browser sends what stands with a port, or with letters of its own, in the settings.
      ...['proxy.example:8443', 'xn--bro-hoa.example'],
    ]) {
      expect({ name, status: await statusUnder(name) }).toEqual({ name, status: 200 });
    }
    for (const name of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.nip.io',
      '127.0.0.1@evil.example',
    ]) {
      expect({ name, status: await statusUnder(name) }).toEqual({ name, status: 421 });
    }
  });

  test('turns away an address that sent ten wrong tokens, but never the right token, also from there', async () => {
    const { url } = await openServed();
    const command = async (token: string, from: string) =>
      (await ask(url, '/api/plan', { authorization: `Bearer ${token}` }, from)).status;
    for (let guess = 0; guess < 10; guess += 1) expect(await command(`guess-${guess}`, guesser)).toBe(401);
    expect(await command('guess-10', guesser)).toBe(429);
    expect(await command('guess-0', operator)).toBe(401);
    expect(await command(controlToken, guesser)).toBe(200);
    expect(await command('guess-11', guesser)).toBe(429);
    expect((await ask(url, '/api/plan', {}, guesser)).status).toBe(401);
  });

  test.each(['four words in it', 'Schlüssel für alle'])(
    'takes a token as it is sent, also one of several words: %s',
    async (token) => {
      const { url } = await openServed({ controlToken: token });
      const headers = (sent: string) => ({ headers: { authorization: `Bearer ${sent}` }, method: 'POST' });
      expect((await fetch(`${url}/api/access`, headers(token))).status).toBe(200);
      expect((await fetch(`${url}/api/access`, headers(token.slice(0, 4)))).status).toBe(401);
    },
  );

  test.each([
    ['where other machines reach the daemon', { host: '0.0.0.0' }],
    ['where the settings say so', { readWithToken: true }],
  ])('asks for the token for everything but health and the empty page %s', async (_, options) => {
    const { url, routes } = await openServed(options);
    const open = /^\/((livez|readyz|healthz)?|page\/.*)$/;
    const reading = routes.filter((route) => route.method !== 'POST' && !open.test(route.url));
    const paths = reading.map((route) => route.url);
    expect(paths).toEqual(expect.arrayContaining(['/api/status', '/api/events', '/api/history', '/metrics']));
    const status = async (path: string, headers: Record<string, string>, from = operator) =>
      (await ask(url, path, headers, from)).status;
    for (const [index, path] of [...paths, '/nothing-there'].entries()) {
      expect({ path, status: await status(path, {}) }).toEqual({ path, status: 401 });
      // One address that sends many wrong ones is turned away.
      const from = `127.0.1.${index + 1}`;
      expect(await status(path, { authorization: `Basic ${btoa(`x:${controlToken}`)}` }, from)).toBe(401);
      expect(await status(path, { authorization: `Bearer ${controlToken}` })).not.toBe(401);
    }
    for (const { url: path } of routes.filter((route) => open.test(route.url)))
      expect({ path, isOpen: (await status(path, {})) !== 401 }).toEqual({ path, isOpen: true });
  });

  test('says of the health to those who do not have the token how it is, and not what is wrong with what', async () => {
    const { url } = await openServed({ host: '0.0.0.0' });
    for (const path of ['/livez', '/readyz', '/healthz']) {
      const answer = async (headers: Record<string, string>) =>
        JSON.parse((await ask(url, path, headers, operator)).body);
      const status = expect.stringMatching(/^(ok|degraded|failing|ready|not ready)$/);
      expect(await answer({})).toEqual({ status });
      expect(await answer({ authorization: 'Bearer wrong' })).toEqual({ status });
      const whole = { status, conditions: expect.any(Array) };
      expect(await answer({ authorization: `Bearer ${controlToken}` })).toEqual(whole);
    }
  });
});
