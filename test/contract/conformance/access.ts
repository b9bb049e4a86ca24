import { expect } from 'vitest';
import { apiKeyPattern, scopes } from '../../../src/crm/contract.ts';
import { keyFromSeed } from '../../../src/sandbox/crm/random.ts';
import { keyOf, start } from '../../support/sandbox-crm-calls.ts';
import { eachRow, failed, openAgency, type Section } from './section.ts';

const bearer = { authorization: `Bearer ${keyOf('a')}` };
const apiKey = { 'x-api-key': keyOf('a') };
const unauthorized = failed(401, 'Invalid or missing API key');

const read = (headers: Readonly<Record<string, string>>) =>
  openAgency().call('GET', '/pipelines', undefined, { headers });

export const authentication: Section = {
  '1: the key is taken in X-API-Key': () => expect(read(apiKey).status).toBe(200),
  '1: the key is taken in Authorization, after Bearer': () => expect(read(bearer).status).toBe(200),
  '1: both headers at once are one too many': () =>
    expect(read({ ...apiKey, ...bearer }).body).toEqual(unauthorized),
  '1: Authorization without Bearer is no key': () =>
    expect(read({ authorization: keyOf('a') }).body).toEqual(unauthorized),
  '2: a key is svc_live_ and 64 hexadecimal characters': () => {
    expect(keyFromSeed(7)).toMatch(apiKeyPattern);
    for (const wrong of ['svc_test_', 'SVC_LIVE_', 'svc_live_0']) {
      expect(`${wrong}${'0'.repeat(64)}`).not.toMatch(apiKeyPattern);
    }
    expect(`svc_live_${'g'.repeat(64)}`).not.toMatch(apiKeyPattern);
  },
  '4: a key has its own scopes and lacks the others': () => {
    const keys = [
      { key: keyOf('a'), scopes },
      { key: keyOf('b'), scopes: ['read:tasks'] as const },
    ];
    const { send } = openAgency({ keys });
    const asOther = { headers: { 'x-api-key': keyOf('b') } };
    expect(send('listTasks', asOther).status).toBe(200);
    expect(send('listLeads', asOther).body).toEqual(failed(403, 'Insufficient scope'));
    expect(send('listLeads').status).toBe(200);
  },
  '5: a missing key gets 401': () => expect(read({}).body).toEqual(unauthorized),
  ...eachRow(
    [
      ['that nobody has', keyOf('b')],
      ['of another form', 'svc_live_short'],
      ['that is empty', ''],
    ] as const,
    ([what]) => `5: a key ${what} gets 401`,
    ([_what, key]) => expect(read({ 'x-api-key': key }).body).toEqual(unauthorized),
  ),
};

/** "Limits": two keys, three requests for each and five for an address in every second. */
function openLimited() {
  const keys = ['a', 'b'].map((digit) => ({ key: keyOf(digit), scopes }));
  const limits = { requestsPerWindow: 3, ipRequestsPerWindow: 5, windowMs: 1000 };
  const { model } = openAgency({ keys, limits });
  return (ms: number, digit = 'a', ip = 'here', path = '/pipelines') => {
    const answer = model.apply(start + ms, {
      method: 'GET',
      path,
      headers: { 'x-api-key': keyOf(digit) },
      ip,
    });
    if (!answer) throw new Error('The connection was cut');
    return answer;
  };
}

const statusesAt = (moments: readonly number[], ...caller: [digit?: string, ip?: string]) => {
  const at = openLimited();
  return moments.map((ms) => at(ms, ...caller).status);
};

export const rateLimits: Section = {
  'a key has 100 requests a minute and an address 200': () => {
    const statuses = (count: number, ip: (index: number) => string, limits: object) => {
      const { model } = openAgency({ limits });
      const headers = { 'x-api-key': keyOf('a') };
      return Array.from(
        { length: count },
        (_, index) =>
          model.apply(start + index, { method: 'GET', path: '/pipelines', headers, ip: ip(index) })?.status,
      );
    };
    const byKey = statuses(101, String, { requestsPerWindow: 100, windowMs: 60_000 });
    expect(byKey.indexOf(429)).toBe(100);
    const byAddress = statuses(201, () => 'here', { ipRequestsPerWindow: 200, windowMs: 60_000 });
    expect(byAddress.indexOf(429)).toBe(200);
  },
  'the window rolls: a request counts until exactly one window later': () =>
    expect(statusesAt([0, 400, 800, 999, 1000, 1001, 1400])).toEqual([200, 200, 200, 429, 200, 429, 200]),
  'keys have windows of their own': () => {
    const at = openLimited();
    for (const ms of [0, 1, 2]) at(ms);
    expect([at(3, 'a', 'elsewhere').status, at(4, 'b', 'elsewhere').status]).toEqual([429, 200]);
  },
  'addresses have windows of their own': () => {
    const at = openLimited();
    for (const ms of [0, 1, 2, 3, 4]) at(ms, 'c');
    expect([at(5, 'c').status, at(6, 'c', 'elsewhere').status]).toEqual([429, 401]);
  },
  'an address is limited before its key is validated': () =>
    expect(statusesAt([0, 1, 2, 3, 4, 5], 'c')).toEqual([401, 401, 401, 401, 401, 429]),
  'what an address is refused does not count for the key': () => {
    const at = openLimited();
    for (const ms of [0, 1, 2, 3, 4]) at(ms, 'c');
    for (const ms of [5, 6, 7]) expect(at(ms).status).toBe(429);
    expect(at(8, 'a', 'elsewhere').headers).toMatchObject({ 'x-ratelimit-remaining': '2' });
  },
  ...eachRow(
    [
      [200, 'a', '/pipelines'],
      [401, 'c', '/pipelines'],
      [404, 'a', '/leads/99'],
      [400, 'a', '/opportunities?page=0'],
    ] as const,
    ([status]) => `an answer ${status} carries the three headers`,
    ([status, digit, address]) => {
      const [path = '', query] = address.split('?');
      const { model } = openAgency();
      const headers = { 'x-api-key': keyOf(digit) };
      const asked = { method: 'GET', path, headers, query: Object.fromEntries(new URLSearchParams(query)) };
      const answer = model.apply(start, asked);
      expect(answer?.status).toBe(status);
      expect(Object.keys(answer?.headers ?? {})).toEqual(
        expect.arrayContaining(['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']),
      );
    },
  ),
  'a refusal for the rate carries them too': () => {
    const at = openLimited();
    for (const ms of [0, 1, 2]) at(ms);
    expect(at(3)).toMatchObject({
      status: 429,
      headers: { 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' },
    });
  },
  'they tell the limit, what is left, and when the oldest request is forgotten': () => {
    const at = openLimited();
    expect(at(0).headers).toMatchObject({
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '2',
      'x-ratelimit-reset': String(start / 1000 + 1),
    });
    expect(at(10).headers).toMatchObject({ 'x-ratelimit-remaining': '1' });
  },
};
