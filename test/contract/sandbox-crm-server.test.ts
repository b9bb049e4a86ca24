import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type SandboxCrm, type SandboxCrmOptions, startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { keyOf, start } from '../support/sandbox-crm-calls.ts';

let crm: SandboxCrm;
afterEach(() => crm.close());

/** Starts the sandbox on a free port and answers a function that calls it. */
async function serve(options: Partial<SandboxCrmOptions> = {}) {
  const counts = { leads: 3, opportunities: 0, tasks: 0 };
  crm = await startSandboxCrm({ port: 0, seed: 7, counts, clock: () => start, ...options });
  return async (method: string, path: string, body?: unknown) => {
    const headers = { 'x-api-key': crm.apiKey, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetch(`${crm.baseUrl}${path}`, { method, headers, ...sent });
  };
}

const orderFaults = (order: unknown) => postControl('faults', order);
const postControl = (name: string, body: unknown) =>
  fetch(`${crm.pageUrl}__sandbox/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const readControl = async (name: string): Promise<unknown> =>
  (await fetch(`${crm.pageUrl}__sandbox/${name}`)).json();

const snapshot = z.object({
  leads: z.array(z.looseObject({ id: z.number(), title: z.string() })),
  trash: z.object({ leads: z.array(z.looseObject({ id: z.number() })) }),
});
const liveTitles = async () => snapshot.parse(await readControl('records')).leads.map(({ title }) => title);

test('requests are answered over HTTP with the envelope and the limit headers', async () => {
  const call = await serve();
  const answer = await call('POST', '/leads', { title: 'Über HTTP' });
  expect(answer.status).toBe(201);
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('99');
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(await answer.json()).toMatchObject({
    http_code: 201,
    status: 'success',
    data: { title: 'Über HTTP' },
  });
  expect(await liveTitles()).toContain('Über HTTP');
});

test('a query reaches the listing, and a body that is no JSON gets an envelope', async () => {
  const call = await serve();
  expect(await (await call('GET', '/leads?limit=2&order=asc')).json()).toMatchObject({
    data: { items: [{ id: 1001 }, { id: 1002 }], total: 3, limit: 2 },
  });
  const headers = { 'x-api-key': crm.apiKey, 'content-type': 'application/json' };
  const answer = await fetch(`${crm.baseUrl}/leads`, { method: 'POST', headers, body: '{' });
  expect(await answer.json()).toEqual({ http_code: 400, status: 'failed', message: 'body: Invalid JSON' });
});

test('an address that can not be decoded gets an envelope too', async () => {
  const call = await serve();
  const answer = await call('GET', '/leads/%zz?page=1');
  expect(answer.headers.get('x-ratelimit-limit')).toBe('100');
  expect(await answer.json()).toEqual({ http_code: 404, status: 'failed', message: 'Resource not found' });
});

test('a body of two megabytes is read', async () => {
  const call = await serve();
  const answer = await call('POST', '/leads', { title: 'x'.repeat(2_000_000) });
  expect(await answer.json()).toMatchObject({ http_code: 400, message: expect.stringMatching(/^title: /) });
});

test('the key follows from the seed, and further keys have scopes of their own', async () => {
  await serve({ keys: [{ key: keyOf('c'), scopes: ['read:leads'] }] });
  const first = crm.apiKey;
  const headers = { authorization: `Bearer ${keyOf('c')}` };
  expect((await fetch(`${crm.baseUrl}/leads`, { headers })).status).toBe(200);
  expect((await fetch(`${crm.baseUrl}/tasks`, { headers })).status).toBe(403);
  await crm.close();
  await serve();
  expect(crm.apiKey).toBe(first);
  expect(first).toMatch(/^svc_live_[0-9a-f]{64}$/);
});

test('a connection cut before the commit leaves nothing behind, one cut after it does', async () => {
  const call = await serve();
  await orderFaults({ faults: [{ kind: 'dropBefore', method: 'POST', path: '/leads' }] });
  await expect(call('POST', '/leads', { title: 'lost' })).rejects.toThrow('fetch failed');
  await orderFaults({ faults: [{ kind: 'dropAfter', method: 'POST', path: '/leads' }] });
  await expect(call('POST', '/leads', { title: 'kept' })).rejects.toThrow('fetch failed');
  const titles = await liveTitles();
  expect(titles).toContain('kept');
  expect(titles).not.toContain('lost');
  expect(await readControl('requests')).toEqual(
    ['POST', 'POST'].map((method) => ({ at: start, method, path: '/leads' })),
  );
});

test('an error after the commit hides that the record was created', async () => {
  const call = await serve();
  await orderFaults({ faults: [{ kind: 'status', status: 500, method: 'POST', afterCommit: true }] });
  expect((await call('POST', '/leads', { title: 'hidden' })).status).toBe(500);
  expect(await liveTitles()).toContain('hidden');
});

test('a fault waits for a request that the limit lets through', async () => {
  const call = await serve({ limits: { ipRequestsPerWindow: 0 } });
  await orderFaults({ faults: [{ kind: 'status', status: 503 }] });
  expect((await call('GET', '/leads')).status).toBe(429);
  expect(await readControl('faults')).toMatchObject({ faults: [{ kind: 'status', times: 1 }] });
});

test('faults hit the requests that match them, as often as ordered', async () => {
  const call = await serve();
  await orderFaults({
    faults: [
      { kind: 'status', status: 503, path: '/leads/*', times: 2 },
      { kind: 'status', status: 403, method: 'GET', path: '/tasks' },
      { kind: 'garbage', path: '/pipelines' },
      { kind: 'rateLimited', path: '/custom-fields' },
    ],
  });
  const statusOf = async (path: string) => (await call('GET', path)).status;
  expect(await statusOf('/leads')).toBe(200);
  expect([await statusOf('/leads/1001'), await statusOf('/leads/1002')]).toEqual([503, 503]);
  expect(await statusOf('/leads/1001')).toBe(200);
  expect(await (await call('GET', '/tasks')).json()).toMatchObject({ message: 'Insufficient scope' });
  const garbage = await call('GET', '/pipelines');
  expect(garbage.headers.get('content-type')).toContain('text/html');
  expect(await garbage.text()).toContain('<h1>');
  const limited = await call('GET', '/custom-fields');
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60']);
  expect(await readControl('faults')).toEqual({ faults: [], latencyMs: 0 });
});

test('a listing can come out empty or stale while the records are there', async () => {
  const call = await serve();
  const before = await (await call('GET', '/leads')).json();
  await call('POST', '/leads', { title: 'newest' });
  await orderFaults({
    faults: [
      { kind: 'staleList', path: '/leads' },
      { kind: 'emptyList', path: '/leads' },
    ],
  });
  expect(await (await call('GET', '/leads')).json()).toEqual(before);
  expect(await (await call('GET', '/leads')).json()).toMatchObject({ data: { items: [], total: 0 } });
  expect(await (await call('GET', '/leads')).json()).toMatchObject({ data: { total: 4 } });
});

test('a slow request is carried out although its client has gone', async () => {
  const call = await serve();
  await orderFaults({ faults: [{ kind: 'slow', method: 'POST', path: '/leads', delayMs: 300 }] });
  const gone = AbortSignal.timeout(50);
  const headers = { 'x-api-key': crm.apiKey };
  const body = JSON.stringify({ title: 'late' });
  await expect(
    fetch(`${crm.baseUrl}/leads`, { method: 'POST', headers, body, signal: gone }),
  ).rejects.toThrow();
  await expect.poll(liveTitles, { timeout: 10_000 }).toContain('late');
  expect((await call('GET', '/leads')).status).toBe(200);
});

test('an order that cannot be understood is refused and changes nothing', async () => {
  await serve();
  expect((await orderFaults({ faults: [{ kind: 'explode' }] })).status).toBe(400);
  expect(await readControl('faults')).toEqual({ faults: [], latencyMs: 0 });
});

test('what a person does by hand passes the same checks and uses no budget', async () => {
  const call = await serve({ limits: { requestsPerWindow: 1, windowMs: 1000 } });
  const refused = await postControl('by-hand', { method: 'PUT', path: '/leads/1001', body: { title: '' } });
  expect(refused.status).toBe(400);
  await postControl('by-hand', { method: 'PUT', path: '/leads/1001', body: { title: 'by hand' } });
  await postControl('by-hand', { method: 'DELETE', path: '/leads/1002' });
  expect(await readControl('usage')).toMatchObject({ keys: {}, ips: {} });
  expect((await call('GET', '/leads')).status).toBe(200);
  expect((await call('GET', '/leads')).status).toBe(429);
  const { leads, trash } = snapshot.parse(await readControl('records'));
  expect(leads).toContainEqual(expect.objectContaining({ id: 1001, title: 'by hand' }));
  expect(trash.leads.map(({ id }) => id)).toEqual([1002]);
  expect(await readControl('usage')).toMatchObject({
    requestsPerWindow: 1,
    windowMs: 1000,
    keys: { [crm.apiKey]: { requests: 2, refused: 1, largestWindow: 2 } },
  });
});
