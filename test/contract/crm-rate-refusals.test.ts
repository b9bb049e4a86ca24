import { afterEach, describe, expect, it } from 'vitest';
import type { Crm, Sending } from '../../src/core/ports.ts';
import { readRefusalPause } from '../../src/crm/verdict.ts';
import { type SandboxCrm, startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { createCrmBench } from '../support/crm-bench.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createMemoryBudgetLog } from '../support/memory-budget-log.ts';
import {
  answerSuccess,
  type Script,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';

let server: ScriptedServer | SandboxCrm | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const now = Date.UTC(2026, 0, 1, 12);
const at = (afterMs: number) => new Date(now + afterMs).toUTCString();
const hourMs = 3_600_000;
const lead = { entity: 'lead', id: '1' } as const;

describe('the pause a refusal asks for', () => {
  it.each([
    ['nothing', {}, undefined],
    ['Retry-After in seconds', { 'retry-after': '7' }, 7000],
    ['Retry-After as a date', { 'retry-after': at(9000) }, 9000],
    ['a date, by the clock of the answer', { 'retry-after': at(hourMs + 9000), date: at(hourMs) }, 9000],
    ['X-RateLimit-Reset as seconds from now', { 'x-ratelimit-reset': '12' }, 12_000],
    ['a fraction of a second, in whole milliseconds', { 'retry-after': '29.73151' }, 29_732],
    ['an epoch with a fraction', { 'x-ratelimit-reset': String(now / 1000 + 30.00051) }, 30_001],
    ['X-RateLimit-Reset in epoch seconds', { 'x-ratelimit-reset': String(now / 1000 + 30) }, 30_000],
    ['X-RateLimit-Reset in epoch milliseconds', { 'x-ratelimit-reset': String(now + 45_000) }, 45_000],
    [
      'an epoch, by the clock of the answer',
      { 'x-ratelimit-reset': String(now / 1000 + 3630), date: at(hourMs) },
      30_000,
    ],
    ['Retry-After before X-RateLimit-Reset', { 'retry-after': '3', 'x-ratelimit-reset': '50' }, 3000],
    [
      'X-RateLimit-Reset where Retry-After is senseless',
      { 'retry-after': 'soon', 'x-ratelimit-reset': '5' },
      5000,
    ],
    ['only senseless values', { 'retry-after': 'soon', 'x-ratelimit-reset': '' }, undefined],
    ['no time at all', { 'retry-after': '0' }, 1000],
    ['a moment that has passed', { 'retry-after': at(-5000) }, 1000],
    ['a negative number', { 'retry-after': '-20' }, 1000],
    ['a day', { 'retry-after': '86400' }, 900_000],
  ])('is read from %s', (_, headers, pauseMs) => {
    expect(readRefusalPause(headers, now)).toBe(pauseMs);
  });
});

describe('a request that is refused for the rate', () => {
  const refusals: readonly [string, Script][] = [
    ['a page', (response) => response.writeHead(429, { 'retry-after': '2' }).end('<h1>Slow down</h1>')],
    ['a body that never ends', (response) => response.writeHead(429, { 'retry-after': '2' }).write('Slow')],
    ['an empty body and no header', (response) => response.writeHead(429).end()],
    [
      'JSON of somebody else',
      (response) => response.writeHead(429, { 'retry-after': '2' }).end('{"error":1}'),
    ],
  ];

  it.each(refusals)(
    'fault 16: goes out again after %s, a create too, and is no failure',
    async (_, refuse) => {
      const scripted = await startScriptedServer((response, request) =>
        request.index < 2 ? refuse(response, request) : answerSuccess(response, { id: 42 }, 201),
      );
      server = scripted;
      const { crm, log, budget, overPauses } = createCrmBench(scripted.baseUrl);
      const created = await overPauses(crm.createRecord('lead', { title: 'Anna' }));
      expect(created).toMatchObject({ id: '42' });
      expect(scripted.requests.map(({ body }) => body)).toEqual(Array(3).fill('{"title":"Anna"}'));
      expect(log.lines.filter(({ event }) => event === 'crm.limited')).toHaveLength(2);
      expect(budget.usage().requests).toBeLessThan(100);
    },
  );

  it('keeps other lanes from sending meanwhile', async () => {
    const scripted = await startScriptedServer((response, { index }) =>
      index === 0
        ? response.writeHead(429, { 'retry-after': '5' }).end()
        : answerSuccess(response, { id: index === 1 ? 1 : 2 }),
    );
    server = scripted;
    const { crm, clock, log } = createCrmBench(scripted.baseUrl);
    const swept = crm.getRecord({ entity: 'lead', id: '2' }, 'sweep');
    await log.told('crm.limited');
    const edited = crm.getRecord({ entity: 'lead', id: '1' }, 'edit');
    await clock.advance(4999);
    expect(scripted.requests).toHaveLength(1);
    await clock.advance(1);
    expect([await edited, await swept]).toMatchObject([{ id: '1' }, { id: '2' }]);
    expect(scripted.requests.map(({ url }) => url)).toEqual(['/leads/2', '/leads/1', '/leads/2']);
  });

  it.each([
    ['an update', (crm: Crm, sending: Sending) => crm.updateRecord(lead, { title: 'Anna' }, {}, sending)],
    ['a delete', (crm: Crm, sending: Sending) => crm.deleteRecord(lead, sending)],
  ])('is not sent again once nobody waits for it any more, as %s', async (_write, send) => {
    const waiting = new AbortController();
    const late = new Error('too late');
    const scripted = await startScriptedServer((response) => {
      response.writeHead(429, { 'retry-after': '4' }).end();
      waiting.abort(late);
    });
    server = scripted;
    const { crm } = createCrmBench(scripted.baseUrl);
    const sending = { wait: waiting.signal, begin: () => {}, takeBack: () => {} };
    await expect(send(crm, sending)).rejects.toBe(late);
    expect(scripted.requests).toHaveLength(1);
  });

  it('is not sent again once it is not meant any more, as a create, and gives its slot back', async () => {
    const scripted = await startScriptedServer((response) =>
      response.writeHead(429, { 'retry-after': '4' }).end(),
    );
    server = scripted;
    const { budget, clock, crm, overPauses } = createCrmBench(scripted.baseUrl);
    const notMeant = new Error('not meant');
    const told: string[] = [];
    const sending = {
      begin() {
        told.push('begin');
        if (told.length > 1) throw notMeant;
      },
      takeBack: () => void told.push('take back'),
    };
    const call = overPauses(crm.createRecord('lead', { title: 'Anna' }, sending));
    await expect(call).rejects.toBe(notMeant);
    expect(told).toEqual(['begin', 'take back', 'begin']);
    expect(scripted.requests).toHaveLength(1);
    await clock.advance(61_000);
    expect(budget.usage().taken).toBe(0);
  });

  it('is given back as limited after ten refusals in a row, with the pause to come', async () => {
    const scripted = await startScriptedServer((response) =>
      response.writeHead(429, { 'retry-after': '4' }).end(),
    );
    server = scripted;
    const { crm, overPauses } = createCrmBench(scripted.baseUrl);
    const call = overPauses(crm.createRecord('lead', { title: 'Anna' }));
    await expect(call).rejects.toMatchObject({ code: 'CRM_LIMITED', retryAfterMs: 4000 });
    expect(scripted.requests).toHaveLength(10);
  });
});

describe('S11: the limit of the CRM', () => {
  it('is never exceeded by a crowd of calls, not even over a restart', async () => {
    const clock = createManualClock();
    const counts = { leads: 1, opportunities: 0, tasks: 0 };
    const sandbox = await startSandboxCrm({
      port: 0,
      seed: 7,
      counts,
      clock: clock.now,
      limits: { requestsPerWindow: 20 },
    });
    server = sandbox;
    const budgetLog = createMemoryBudgetLog();
    const { apiKey } = sandbox;
    let ended = 0;
    const crowd = () => {
      const bench = createCrmBench(sandbox.baseUrl, { apiKey, requests: 20, clock, budgetLog });
      for (let call = 0; call < 30; call += 1) {
        const lane = call % 2 === 0 ? 'edit' : 'newest';
        const count = () => {
          ended += 1;
        };
        void bench.crm.getRecord({ entity: 'lead', id: '1001' }, lane).then(count, count);
      }
      return bench;
    };
    const first = crowd();
    while (first.budget.usage().waiting.edit > 0) await clock.advance(1000);
    first.budget.close();
    crowd();
    while (ended < 60) await clock.advance(1000);
    const requests = sandbox.model.requests();
    expect(requests.length).toBeGreaterThan(40);
    expect(requests.filter(({ status }) => status === 429)).toEqual([]);
  });
});
