import { describe, expect, test } from 'vitest';
import { keyOf, openModel, start } from '../support/sandbox-crm-calls.ts';

const failed = (code: number, message: string) => ({ http_code: code, status: 'failed', message });

describe('the rate limit, where the specification is silent', () => {
  const open = (choices = {}) => {
    const limits = { requestsPerWindow: 3, ipRequestsPerWindow: 5, windowMs: 1000 };
    const { model } = openModel({ limits, choices });
    const headers = { 'x-api-key': keyOf('a') };
    const at = (ms: number) => model.apply(start + ms, { method: 'GET', path: '/pipelines', headers });
    return { model, at };
  };

  test('refused requests take no place unless that is chosen', () => {
    const refuseOften = (choices: object) => {
      const { at } = open(choices);
      for (const ms of [0, 1, 2, 500]) at(ms);
      return [at(1001), at(1002), at(1003)].map((answer) => answer?.status);
    };
    expect(refuseOften({})).toEqual([200, 200, 200]);
    expect(refuseOften({ refusedRequestsCount: true })).toEqual([200, 200, 429]);
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
    [{ limitBody: 'otherJson' }, '1', { error: 'rate_limited' }],
  ])('over the limit the answer follows the choices %o', (choices, retryAfter, body) => {
    const { at } = open(choices);
    for (const ms of [0, 0, 0]) at(ms);
    const answer = at(0);
    expect(answer).toMatchObject({ status: 429, body });
    expect(answer?.headers['retry-after']).toBe(retryAfter);
  });

  test('a refusal can go without the headers of other answers', () => {
    const { at } = open({ limitHeadersOnRefusal: false, retryAfter: 'absent' });
    for (const ms of [0, 0, 0]) at(ms);
    expect(at(0)).toMatchObject({ status: 429, headers: {} });
    expect(Object.keys(at(0)?.headers ?? {})).toEqual([]);
  });

  test('the usage tells the fullest window that ever was, refused requests included', () => {
    const { at, model } = open();
    for (const ms of [0, 100, 200, 300, 5000, 5900, 6899]) at(ms);
    expect(model.usage().keys[keyOf('a')]).toEqual({ requests: 7, refused: 1, largestWindow: 4 });
  });
});
