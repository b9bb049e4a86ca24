import { once } from 'node:events';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type ErrorCode, explainError, SyncError } from '../../src/core/errors.ts';
import type { Crm } from '../../src/core/ports.ts';
import type { Entity } from '../../src/core/record.ts';
import type { Fields } from '../../src/core/value.ts';
import { createCrmBench, timeoutMs } from '../support/crm-bench.ts';
import {
  answerFailure,
  answerJson,
  answerSuccess,
  type Script,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';

const lead = { entity: 'lead', id: '42' } as const;
const apiKey = `svc_live_${'a1'.repeat(32)}`;

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function serve(script: Script) {
  server = await startScriptedServer(script);
  return { server, ...createCrmBench(server.baseUrl, { apiKey }) };
}

async function failureOf(call: Promise<unknown>): Promise<SyncError> {
  const end = await call.catch((error: unknown) => error);
  if (end instanceof SyncError) return end;
  throw new Error(`expected a SyncError, got ${JSON.stringify(end)}`);
}

const writes: readonly [string, (crm: Crm) => Promise<unknown>][] = [
  ['a create', (crm) => crm.createRecord('lead', { title: 'Anna' })],
  ['an update', (crm) => crm.updateRecord(lead, { title: 'Anna' })],
  ['a delete', (crm) => crm.deleteRecord(lead)],
];

const html = '<!doctype html><title>Bad gateway</title>';
const sendHtml = (status: number): Script => {
  return (response) => response.writeHead(status, { 'content-type': 'text/html' }).end(html);
};
const cutAfter = (text: string): Script => {
  return (response) => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write(text, () => response.destroy());
  };
};

const latin1 = '{"http_code":200,"status":"success","data":{"id":42,"title":"Müller"}}';
const switchProtocols: Script = (response) =>
  response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');

const unclear: readonly [string, Script, ErrorCode][] = [
  ['the connection is cut without an answer', (response) => response.destroy(), 'CRM_UNREACHABLE'],
  ['the connection is cut within the answer', cutAfter('{"http_code":200,'), 'CRM_UNREACHABLE'],
  ['the answer is 500', (response) => answerFailure(response, 500, 'Oops'), 'CRM_UNREACHABLE'],
  ['the answer is 502 with a page', sendHtml(502), 'CRM_UNREACHABLE'],
  ['the answer is 503 without a body', (response) => response.writeHead(503).end(), 'CRM_UNREACHABLE'],
  ['the answer is 408', (response) => answerFailure(response, 408, 'Too slow'), 'CRM_UNREACHABLE'],
  ['the answer is 200 with a page', sendHtml(200), 'CRM_UNREADABLE'],
  ['the answer is truncated JSON', (response) => response.end('{"http_code":200,"da'), 'CRM_UNREADABLE'],
  [
    'the answer is JSON of somebody else',
    (response) => answerJson(response, 200, { id: 42 }),
    'CRM_UNREADABLE',
  ],
  ['the answer is empty', (response) => response.end(), 'CRM_UNREADABLE'],
  ['the answer is not UTF-8', (response) => response.end(Buffer.from(latin1, 'latin1')), 'CRM_UNREADABLE'],
  ['the answer is 101', switchProtocols, 'CRM_UNREACHABLE'],
  [
    'the answer is a redirect',
    (response) => response.writeHead(302, { location: '/x' }).end(),
    'CRM_UNREADABLE',
  ],
  ['a proxy answers 404', sendHtml(404), 'CRM_UNREADABLE'],
  ['a proxy answers 403', sendHtml(403), 'CRM_UNREADABLE'],
  [
    'a failure has no error status',
    (response) => answerJson(response, 200, { status: 'failed' }),
    'CRM_UNREADABLE',
  ],
];

describe('an unclear answer', () => {
  describe.each(unclear)('when %s', (_, script, readCode) => {
    it('is a failed read', async () => {
      const { crm, overPauses } = await serve(script);
      const failure = await failureOf(overPauses(crm.getRecord(lead, 'edit')));
      expect(failure.code).toBe(readCode);
      expect(failure.message).toContain('GET /leads/42');
    });

    it.each(writes)('is an unknown outcome of %s, which is not sent again', async (__, write) => {
      const { crm, server } = await serve(script);
      expect((await failureOf(write(crm))).code).toBe('CRM_UNKNOWN_OUTCOME');
      expect(server.requests).toHaveLength(1);
    });
  });

  it('is an unknown outcome of a write when nothing comes in time', async () => {
    const { crm, server, clock, budget } = await serve(() => {});
    const failed = failureOf(crm.createRecord('lead', { title: 'Anna' }));
    await server.arrived(1);
    await clock.advance(timeoutMs);
    expect(await failed).toMatchObject({ code: 'CRM_UNKNOWN_OUTCOME' });
    await clock.advance(60_060);
    expect(budget.usage().taken).toBe(1);
    await clock.advance(30_000);
    expect(budget.usage().taken).toBe(0);
  });

  it('fault 29: is an unknown outcome of a write when the answer drips past the deadline', async () => {
    const { crm, server, clock } = await serve((response) => response.write('{'));
    const failed = failureOf(crm.updateRecord(lead, { title: 'Anna' }));
    await server.arrived(1);
    await clock.advance(timeoutMs);
    expect(await failed).toMatchObject({ code: 'CRM_UNKNOWN_OUTCOME' });
  });

  it('is an unknown outcome when a create does not say which record it made', async () => {
    const { crm } = await serve((response) => answerSuccess(response, { created: true }, 201));
    const failed = failureOf(crm.createRecord('task', { title: 'Call' }));
    expect(await failed).toMatchObject({ code: 'CRM_UNKNOWN_OUTCOME' });
  });
});

describe('a request that surely was not sent', () => {
  it.each(writes)('fails %s as unreachable when the connection is refused', async (_, write) => {
    const closed = await startScriptedServer(() => {});
    await closed.close();
    const { crm } = createCrmBench(closed.baseUrl);
    expect(await failureOf(write(crm))).toMatchObject({ code: 'CRM_UNREACHABLE' });
  });

  it('fault 1: fails a write as unreachable when the name does not resolve', async () => {
    const { crm } = createCrmBench('http://crm.invalid/api');
    expect(await failureOf(crm.deleteRecord(lead))).toMatchObject({ code: 'CRM_UNREACHABLE' });
  });

  it('fails a write as unreachable when no encrypted connection comes about', async () => {
    const plain = createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n')));
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const address = plain.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { crm } = createCrmBench(`https://127.0.0.1:${port}`);
    const failed = failureOf(crm.createRecord('lead', { title: 'Anna' }));
    expect(await failed).toMatchObject({ code: 'CRM_UNREACHABLE' });
    plain.close();
  });
});

describe('a read that fails', () => {
  it('is tried again and goes on when the CRM is back', async () => {
    const { crm, server, overPauses } = await serve((response, { index }) =>
      index < 3
        ? answerFailure(response, 503, 'Back soon')
        : answerSuccess(response, { id: 42, title: 'Anna' }),
    );
    expect(await overPauses(crm.getRecord(lead, 'edit'))).toMatchObject({ fields: { title: 'Anna' } });
    expect(server.requests).toHaveLength(4);
  });

  it('gives up after four tries, each counted in the budget', async () => {
    const { crm, server, budget, overPauses } = await serve((response) => response.writeHead(503).end());
    await failureOf(overPauses(crm.getRecord(lead, 'edit')));
    expect(server.requests).toHaveLength(4);
    expect(budget.usage().taken).toBe(4);
  });

  it('waits longer before each try', async () => {
    const { crm, clock, server } = await serve((response) => response.writeHead(503).end());
    const failed = failureOf(crm.getRecord(lead, 'edit'));
    const pauses: number[] = [];
    for (let tries = 1; tries < 4; tries += 1) {
      await server.arrived(tries);
      await clock.sleepStarted(timeoutMs - 1);
      pauses.push(clock.nextWakeMs());
      await clock.advance(clock.nextWakeMs());
    }
    expect(pauses).toEqual([500, 1000, 2000]);
    await failed;
  });
});

describe('a refusal in the CRM’s envelope', () => {
  it.each([400, 409, 422])('%i carries the CRM’s words and nothing else', async (status) => {
    const { crm } = await serve((response) => answerFailure(response, status, 'title: Required'));
    const failure = await failureOf(crm.updateRecord(lead, { title: '' }));
    expect(failure).toMatchObject({ code: 'CRM_REFUSED', message: 'title: Required' });
  });

  it('counts too when the HTTP status says success', async () => {
    const refusal = { http_code: 400, status: 'failed', message: 'title: Required' };
    const { crm } = await serve((response) => answerJson(response, 200, refusal));
    expect(await failureOf(crm.updateRecord(lead, { title: '' }))).toMatchObject({ code: 'CRM_REFUSED' });
  });

  it.each(['error', undefined])(
    'counts too when only the envelope’s own number tells of it',
    async (status) => {
      const refusal = { http_code: 400, ...(status ? { status } : {}), message: 'title: Required' };
      const { crm } = await serve((response) => answerJson(response, 200, refusal));
      expect(await failureOf(crm.updateRecord(lead, { title: '' }))).toMatchObject({ code: 'CRM_REFUSED' });
    },
  );

  it('without a word says at least its status', async () => {
    const { crm } = await serve((response) => answerFailure(response, 400, ' '));
    const failure = await failureOf(crm.updateRecord(lead, { title: '' }));
    expect(failure).toMatchObject({
      code: 'CRM_REFUSED',
      message: 'The CRM answered 400 without a reason.',
    });
  });

  it('401 is a refused key', async () => {
    const { crm } = await serve((response) => answerFailure(response, 401, 'Invalid or missing API key'));
    expect((await failureOf(crm.getRecord(lead, 'edit'))).code).toBe('CRM_UNAUTHORIZED');
  });

  it('403 names the scope that is missing', async () => {
    const { crm } = await serve((response) => answerFailure(response, 403, 'Insufficient scope'));
    const failure = await failureOf(crm.deleteRecord({ entity: 'task', id: '7' }));
    expect(failure.code).toBe('CRM_FORBIDDEN');
    expect(failure.message).toContain('delete:tasks');
  });

  it('403 names both scopes of a lead with custom fields', async () => {
    const { crm } = await serve((response) => answerFailure(response, 403, 'Insufficient scope'));
    const failure = await failureOf(crm.createRecord('lead', { title: 'Anna', 'custom.region': 'North' }));
    expect(failure.message).toContain('write:leads and write:custom_fields');
  });

  it('404 for a list tells that the address is that of something else, and of no record', async () => {
    const { crm } = await serve((response) => answerFailure(response, 404, 'Resource not found'));
    const problem = { code: 'CRM_UNREADABLE', message: expect.stringContaining('was answered 404') };
    expect(await failureOf(crm.listRecords('lead', 1, 'sweep'))).toMatchObject(problem);
    expect(await failureOf(crm.readCatalog('newest'))).toMatchObject(problem);
  });

  it.each([
    [['title: Required', 'status_name: Too long'], 'title: Required; status_name: Too long'],
    [null, 'The CRM answered 400 without a reason.'],
    [{ title: 'Required' }, 'The CRM answered 400 without a reason.'],
  ])('400 is a refusal also where its message is no text: %j', async (message, words) => {
    const { crm } = await serve((response) =>
      answerJson(response, 400, { http_code: 400, status: 'failed', message }),
    );
    const failed = failureOf(crm.createRecord('lead', { title: 'Anna' }));
    expect(await failed).toMatchObject({ code: 'CRM_REFUSED', message: words });
  });

  it.each<[Entity, Fields, string]>([
    ['opportunity', { lead_id: 7, stage_id: 3 }, 'the lead #7 or the stage #3 of this opportunity'],
    ['task', { title: 'Call', lead_id: 7, parent_task_id: null }, 'the lead #7 of this task'],
    ['task', { title: 'Call', parent_task_id: 5 }, 'the parent task #5 of this task'],
  ])('404 for a create names what is missing: %s %j', async (entity, fields, named) => {
    const { crm } = await serve((response) => answerFailure(response, 404, 'Resource not found'));
    expect(await failureOf(crm.createRecord(entity, fields))).toMatchObject({
      code: 'CRM_NOT_FOUND',
      message: `The CRM does not have ${named} any more. Restore it there and retry, or write another one.`,
    });
  });

  it.each([
    [404, 'Resource not found'],
    [410, 'Resource is in the trash'],
  ])('%i is no record for a read, done for a delete and an error for an update', async (status, words) => {
    const { crm } = await serve((response) => answerFailure(response, status, words));
    expect(await crm.getRecord(lead, 'edit')).toBeUndefined();
    await crm.deleteRecord(lead);
    expect(await failureOf(crm.updateRecord(lead, { title: 'Anna' }))).toMatchObject({
      code: 'CRM_NOT_FOUND',
      message: `PUT /leads/42 was answered ${status}: ${words}.`,
    });
  });
});

describe('connections', () => {
  it('fault 30: are not used twice, because one that is just closing leaves a write without an outcome', async () => {
    const { crm, server } = await serve((response) => answerSuccess(response, { id: 42 }));
    await crm.getRecord(lead, 'edit');
    await crm.createRecord('lead', { title: 'Anna' });
    await crm.updateRecord(lead, { title: 'Anna' });
    expect(server.connectionCount()).toBe(3);
    expect(server.requests.map(({ headers }) => headers.connection)).toEqual(['close', 'close', 'close']);
  });
});

it('an answer is read of a server that packs whatever may come packed', async () => {
  const { crm } = await serve((response, { headers }) => {
    const text = JSON.stringify({ http_code: 200, status: 'success', data: { id: 42 } });
    // Who names none takes every coding: https://www.rfc-editor.org/rfc/rfc9110#field.accept-encoding
    if (headers['accept-encoding'] === 'identity') response.end(text);
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
  });
  expect(await crm.getRecord(lead, 'edit')).toMatchObject({ id: '42' });
});

describe('S16: the key', () => {
  it('is sent as a header', async () => {
    const { crm, server } = await serve((response) => answerSuccess(response, { id: 42 }));
    await crm.getRecord(lead, 'edit');
    expect(server.requests[0]?.headers['x-api-key']).toBe(apiKey);
  });

  it.each([301, 302, 303, 307, 308])('is not sent on when the answer is a redirect by %i', async (status) => {
    const elsewhere = await startScriptedServer((response) => answerSuccess(response, { id: 42 }));
    const { crm, overPauses } = await serve((response, { url }) =>
      response.writeHead(status, { location: elsewhere.baseUrl + url }).end(),
    );
    expect(await failureOf(overPauses(crm.getRecord(lead, 'edit')))).toMatchObject({
      code: 'CRM_UNREADABLE',
    });
    for (const [, write] of writes)
      expect(await failureOf(write(crm))).toMatchObject({ code: 'CRM_UNKNOWN_OUTCOME' });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it.each([
    ['a refusal', (response) => answerFailure(response, 400, `No such key: ${apiKey}`)],
    ['a refused key', (response) => answerFailure(response, 401, `No such key: ${apiKey}`)],
    ['a page', (response) => response.writeHead(200).end(`<p>${apiKey}</p>`)],
  ] satisfies [string, Script][])('is in no error and no log line when %s quotes it', async (_, script) => {
    const { crm, log } = await serve(script);
    const failure = await failureOf(crm.updateRecord(lead, { title: 'Anna' }));
    const told = [explainError(failure), failure.stack, JSON.stringify(failure), JSON.stringify(log.lines)];
    expect(told.join('\n')).not.toContain(apiKey);
  });
});
