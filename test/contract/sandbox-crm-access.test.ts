import { describe, expect, test } from 'vitest';
import { endpoints, scopes } from '../../src/crm/contract.ts';
import { keyOf, openModel, scopesWithout, start } from '../support/sandbox-crm-calls.ts';

const failed = (code: number, message: string) => ({ http_code: code, status: 'failed', message });

describe('the key', () => {
  const bearer = { authorization: `Bearer ${keyOf('a')}` };
  const apiKey = { 'x-api-key': keyOf('a') };
  test.each([
    ['in X-API-Key', apiKey, 200],
    ['as a bearer', bearer, 200],
    ['in both headers', { ...apiKey, ...bearer }, 401],
    ['nowhere', {}, 401],
    ['that nobody has', { 'x-api-key': keyOf('b') }, 401],
    ['of another form', { 'x-api-key': 'svc_live_short' }, 401],
    ['without the word Bearer', { authorization: keyOf('a') }, 401],
  ])('%s is answered as specified', (_where, headers, status) => {
    const { call } = openModel();
    const answer = call('GET', '/pipelines', undefined, { headers });
    expect(answer.status).toBe(status);
    if (status === 401) expect(answer.body).toEqual(failed(401, 'Invalid or missing API key'));
  });
});

describe('scopes', () => {
  test.each(Object.entries(endpoints))('%s needs its scope and no other', (_name, endpoint) => {
    const { method, path, scope } = endpoint;
    const asked = path.replace(/\{\w+\}/g, '1');
    const without = openModel({ keys: [{ key: keyOf('a'), scopes: scopesWithout(scope) }] });
    expect(without.call(method, asked, {}).body).toEqual(failed(403, 'Insufficient scope'));
    const withOnly = openModel({ keys: [{ key: keyOf('a'), scopes: [scope] }] });
    expect(withOnly.call(method, asked, {}).status).not.toBe(403);
  });

  test('creating a lead with custom fields takes a second scope, updating one does not', () => {
    const keys = [{ key: keyOf('a'), scopes: scopesWithout('write:custom_fields') }];
    const { outcome, create } = openModel({ keys });
    const custom = { custom_fields: { city: 'Berlin' } };
    expect(outcome('POST', '/leads', { title: 'A', ...custom }).status).toBe(403);
    const id = create('/leads', { title: 'A' });
    expect(outcome('PUT', `/leads/${id}`, custom)).toEqual({ status: 200, message: 'Lead updated' });
  });
});

describe('limits', () => {
  const open = (choices = {}) => {
    const limits = { requestsPerWindow: 3, ipRequestsPerWindow: 5, windowMs: 1000 };
    const keys = ['a', 'b'].map((digit) => ({ key: keyOf(digit), scopes }));
    const { model } = openModel({ limits, keys, choices });
    const at = (ms: number, digit = 'a', ip = 'here') => {
      const headers = { 'x-api-key': keyOf(digit) };
      return model.apply(start + ms, { method: 'GET', path: '/pipelines', headers, ip });
    };
    return { model, at };
  };

  test('a request counts from its arrival until exactly one window later', () => {
    const { at } = open();
    const statuses = [0, 400, 800, 999, 1000, 1001, 1400].map((ms) => at(ms)?.status);
    expect(statuses).toEqual([200, 200, 200, 429, 200, 429, 200]);
  });

  test('keys have windows of their own', () => {
    const { at } = open();
    for (const ms of [0, 1, 2]) at(ms);
    expect(at(3, 'a', 'elsewhere')?.status).toBe(429);
    expect(at(4, 'b', 'elsewhere')?.status).toBe(200);
  });

  test('an address is limited before its key is looked at', () => {
    const { at } = open();
    const statuses = [0, 1, 2, 3, 4, 5].map((ms) => at(ms, 'c')?.status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });

  test('refused requests take no place unless that is chosen', () => {
    const refuseOften = (choices: object) => {
      const { at } = open(choices);
      for (const ms of [0, 1, 2, 500]) at(ms);
      return [at(1001), at(1002), at(1003)].map((answer) => answer?.status);
    };
    expect(refuseOften({})).toEqual([200, 200, 200]);
    expect(refuseOften({ refusedRequestsCount: true })).toEqual([200, 200, 429]);
  });

  test('every answer says what is left and when the oldest request is forgotten', () => {
    const { at } = open();
    expect(at(0)?.headers).toMatchObject({
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '2',
      'x-ratelimit-reset': String(start / 1000 + 1),
    });
    expect(at(10)?.headers).toMatchObject({ 'x-ratelimit-remaining': '1' });
    expect(at(20, 'c')?.headers).toMatchObject({ 'x-ratelimit-limit': '5' });
  });

  test.each([
    ['epochMs', String(start + 1000)],
    ['deltaSeconds', '1'],
  ] as const)('the reset can be told as %s', (resetFormat, expected) => {
    const { at } = open({ resetFormat });
    expect(at(0)?.headers['x-ratelimit-reset']).toBe(expected);
  });

  test.each([
    [{}, '1', failed(429, 'Too Many Requests')],
    [{ retryAfter: 'date', limitBody: 'html' }, new Date(start + 1000).toUTCString(), '<h1>Slow down</h1>'],
    [{ retryAfter: 'absent', limitBody: 'empty' }, undefined, ''],
  ])('over the limit the answer follows the choices %o', (choices, retryAfter, body) => {
    const { at } = open(choices);
    for (const ms of [0, 0, 0]) at(ms);
    const answer = at(0);
    expect(answer).toMatchObject({ status: 429, body });
    expect(answer?.headers['retry-after']).toBe(retryAfter);
  });

  test('the usage tells the fullest window that ever was, refused requests included', () => {
    const { at, model } = open();
    for (const ms of [0, 100, 200, 300, 5000, 5900, 6899]) at(ms);
    expect(model.usage().keys[keyOf('a')]).toEqual({ requests: 7, refused: 1, largestWindow: 4 });
  });
});
