import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { onlyKey } from '../../src/crm/budget.ts';
import { createCrmClient } from '../../src/crm/client.ts';
import { type Scope, scopes } from '../../src/crm/contract.ts';
import { createApiKey } from '../../src/crm/key-pool.ts';
import { type SandboxCrm, type SandboxCrmOptions, startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { createCrmBench } from '../support/crm-bench.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  answerFailure,
  answerSuccess,
  type Script,
  startScriptedServer,
} from '../support/scripted-server.ts';

const leadsKey = `svc_live_${'1'.repeat(64)}`;
const tasksKey = `svc_live_${'2'.repeat(64)}`;
const revokedKey = `svc_live_${'3'.repeat(64)}`;
const nameOf = (secret: string) => `key-${secret.slice(-3)}`;
const isOfTasks = (scope: Scope) => scope.endsWith(':tasks');

let sandbox: SandboxCrm | undefined;
afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
});

/** A CRM whose keys may do different things, and its client in time that stands still. */
async function openBench(
  keys: readonly string[],
  options: Partial<SandboxCrmOptions> & { readonly requests?: number } = {},
) {
  const clock = createManualClock();
  sandbox = await startSandboxCrm({
    port: 0,
    seed: 7,
    counts: { leads: 3, opportunities: 2, tasks: 2 },
    keys: [
      { key: leadsKey, scopes: scopes.filter((scope) => !isOfTasks(scope)) },
      { key: tasksKey, scopes: scopes.filter(isOfTasks) },
    ],
    clock: clock.now,
    ...options,
  });
  const [apiKey = '', ...apiKeys] = keys;
  const { requests = 100 } = options;
  const bench = createCrmBench(sandbox.baseUrl, { apiKey, apiKeys, requests, clock });
  return {
    ...bench,
    model: sandbox.model,
    statuses: () => sandbox!.model.requests().map(({ status }) => status),
  };
}

describe('a key that lacks a scope', () => {
  it('is not used for it again while another key has it', async () => {
    const { crm, statuses } = await openBench([leadsKey, tasksKey]);
    expect((await crm.listRecords('task', 1, 'sweep')).records).toHaveLength(2);
    expect((await crm.listRecords('task', 1, 'sweep')).records).toHaveLength(2);
    expect((await crm.listRecords('lead', 1, 'sweep')).records).toHaveLength(3);
    expect(statuses()).toEqual([403, 200, 200, 200]);
  });

  it('does not keep a write from being done, once', async () => {
    const { crm, statuses } = await openBench([tasksKey, leadsKey]);
    const told: string[] = [];
    const sending = { begin: () => void told.push('begin'), takeBack: () => void told.push('take back') };
    const { id } = await crm.createRecord('lead', { title: 'Anna' }, sending);
    expect(told).toEqual(['begin', 'take back', 'begin']);
    expect((await crm.listRecords('lead', 1, 'sweep')).records.map((record) => record.id)).toContain(id);
    expect(statuses()).toEqual([403, 201, 403, 200]);
  });

  it('is told of when no other key has it', async () => {
    const { crm, statuses } = await openBench([leadsKey, leadsKey.replaceAll('1', '9')], {
      keys: [
        { key: leadsKey, scopes: ['read:leads'] },
        { key: leadsKey.replaceAll('1', '9'), scopes: ['read:leads'] },
      ],
    });
    const listed = crm.listRecords('task', 1, 'sweep');
    await expect(listed).rejects.toMatchObject({
      code: 'CRM_FORBIDDEN',
      message: expect.stringContaining('read:tasks'),
    });
    expect(statuses()).toEqual([403, 403]);
  });
});

describe('a key that the CRM does not know any more', () => {
  it('is taken out while another is left, and the log says which without its secret', async () => {
    const { crm, log, budget, statuses } = await openBench([revokedKey, leadsKey]);
    expect((await crm.listRecords('lead', 1, 'sweep')).records).toHaveLength(3);
    await crm.getRecord({ entity: 'lead', id: '1001' }, 'edit');
    expect(statuses()).toEqual([401, 200, 200]);
    const told = log.lines.filter(({ event }) => event === 'crm.key-refused');
    expect(told).toMatchObject([{ fields: { key: 'key-0', isAnotherLeft: true } }]);
    expect(JSON.stringify(log.lines)).not.toContain(revokedKey);
    expect(budget.usage().keys.map(({ isRefused }) => isRefused)).toEqual([true, false]);
  });

  it('counts neither for what may be sent nor against the pause of the key that is left', async () => {
    const { budget, crm } = await openBench([revokedKey, leadsKey]);
    await crm.listRecords('lead', 1, 'sweep');
    expect(budget.usage()).toMatchObject({ requests: 100, parkedMs: 0 });
    const { key } = await budget.take('edit');
    budget.park(key, 30_000);
    expect(budget.usage()).toMatchObject({ requests: 50, parkedMs: 30_000 });
  });

  it('is tried again after a quarter of an hour, and used as before once the CRM takes it', async () => {
    let isKnown = false;
    const statuses: number[] = [];
    const server = await startScriptedServer((response, { headers }) => {
      const isTaken = isKnown || headers['x-api-key'] !== revokedKey;
      statuses.push(isTaken ? 200 : 401);
      return isTaken
        ? answerSuccess(response, { id: 1, title: 'Anna' })
        : answerFailure(response, 401, 'Invalid or missing API key');
    });
    onTestFinished(() => server.close());
    const { budget, clock, crm } = createCrmBench(server.baseUrl, {
      apiKey: revokedKey,
      apiKeys: [leadsKey],
    });
    const read = () => crm.getRecord({ entity: 'lead', id: '1' }, 'edit');
    for (const waitMs of [0, 899_000, 2_000]) {
      await clock.advance(waitMs);
      await read();
    }
    expect(statuses).toEqual([401, 200, 200, 401, 200]);
    isKnown = true;
    await clock.advance(901_000);
    await read();
    expect(budget.usage().keys).toMatchObject([
      { isRefused: false, taken: 1 },
      { isRefused: false, taken: 0 },
    ]);
  });

  it('is an error once none is left, and every key is tried again the next time', async () => {
    const { crm, statuses } = await openBench([revokedKey, revokedKey.replaceAll('3', '4')]);
    await expect(crm.listRecords('lead', 1, 'sweep')).rejects.toMatchObject({ code: 'CRM_UNAUTHORIZED' });
    await expect(crm.listRecords('lead', 1, 'sweep')).rejects.toMatchObject({ code: 'CRM_UNAUTHORIZED' });
    expect(statuses()).toEqual([401, 401, 401, 401]);
  });
});

describe('S11: the limits of two keys and their address', () => {
  it('are both kept by a crowd of calls that needs more than one key allows', async () => {
    const second = `svc_live_${'8'.repeat(64)}`;
    const bench = await openBench([leadsKey, second], {
      requests: 20,
      keys: [
        { key: leadsKey, scopes },
        { key: second, scopes },
      ],
      limits: { requestsPerWindow: 20, ipRequestsPerWindow: 200, windowMs: 60_000 },
    });
    const calls = Array.from({ length: 100 }, (_, index) =>
      bench.crm.getRecord({ entity: 'lead', id: '1001' }, index % 2 === 0 ? 'edit' : 'sweep'),
    );
    while (bench.budget.usage().waiting.edit + bench.budget.usage().waiting.sweep > 0) {
      await bench.clock.advance(1000);
    }
    await Promise.all(calls);
    const { keys, ips } = bench.model.usage();
    for (const used of Object.values(keys)) {
      expect(used.largestWindow).toBeLessThanOrEqual(20);
      expect(used.requests).toBeGreaterThan(40);
    }
    expect(Object.values(ips)).toMatchObject([{ refused: 0, largestWindow: 40 }]);
  });
});

it('what has to go with one of several keys does, in the budget of all, also where that key lacks the scope', async () => {
  const keys = [leadsKey, tasksKey].map((secret, index) => ({ name: `key-${index}`, secret }));
  const { clock, model } = await openBench([]);
  const { budget, log } = createCrmBench(sandbox?.baseUrl ?? '', { keys, clock });
  const crm = createCrmClient({
    baseUrl: sandbox?.baseUrl ?? '',
    timeoutMs: 30_000,
    budget: onlyKey(budget, keys[1]!),
    clock,
    random: () => 0.5,
    log,
  });
  expect((await crm.listRecords('task', 1, 'sweep')).records).toHaveLength(2);
  await expect(crm.listRecords('lead', 1, 'sweep')).rejects.toMatchObject({ code: 'CRM_FORBIDDEN' });
  expect(model.requests().map(({ status }) => status)).toEqual([200, 403]);
  expect(budget.usage().keys.map(({ taken }) => taken)).toEqual([0, 2]);
});

describe('a key whose secret was exchanged at its source', () => {
  const newKey = `svc_live_${'4'.repeat(64)}`;

  /** A client that holds the old secret of a key, and how often it looked the secret up again. */
  async function openExchanged(found: string | undefined) {
    const { model, ...opened } = await openBench([revokedKey], { keys: [{ key: newKey, scopes }] });
    let looks = 0;
    const key = createApiKey(nameOf, revokedKey, () => {
      looks += 1;
      return found;
    });
    const bench = createCrmBench(sandbox?.baseUrl ?? '', { keys: [key], clock: opened.clock });
    return { ...bench, looks: () => looks, statuses: () => model.requests().map(({ status }) => status) };
  }

  it('is looked up when it is refused, and used for what comes next: whose records it opens is asked first', async () => {
    const { crm, looks, statuses } = await openExchanged(newKey);
    await expect(crm.listRecords('lead', 1, 'sweep')).rejects.toMatchObject({
      code: 'CRM_UNREACHABLE',
      message: expect.stringContaining('The key was exchanged'),
    });
    expect((await crm.listRecords('lead', 1, 'sweep')).records).toHaveLength(3);
    expect([statuses(), looks()]).toEqual([[401, 200], 1]);
  });

  it('only after it was refused, while another key did its work, is taken up by itself', async () => {
    const { clock, model } = await openBench([revokedKey], {
      keys: [
        { key: newKey, scopes },
        { key: leadsKey, scopes },
      ],
    });
    let found: string | undefined;
    const keys = [createApiKey(nameOf, revokedKey, () => found), { name: 'other', secret: leadsKey }];
    const { budget, crm } = createCrmBench(sandbox?.baseUrl ?? '', { keys, clock });
    const list = () => crm.listRecords('lead', 1, 'sweep');
    await list();
    found = newKey;
    await clock.advance(901_000);
    await expect(list()).rejects.toMatchObject({ code: 'CRM_UNREACHABLE' });
    await list();
    expect(model.requests().map(({ status }) => status)).toEqual([401, 200, 401, 200]);
    expect(budget.usage().keys).toMatchObject([
      { name: nameOf(newKey), isRefused: false },
      { name: 'other', isRefused: false },
    ]);
  });

  it('that is refused again, or can not be looked up, is told of', async () => {
    const refused = revokedKey.replaceAll('3', '7');
    for (const [found, ...codes] of [
      [refused, 'CRM_UNREACHABLE', 'CRM_UNAUTHORIZED'],
      [undefined, 'CRM_UNAUTHORIZED'],
    ]) {
      const { crm, statuses } = await openExchanged(found);
      for (const code of codes)
        await expect(crm.listRecords('lead', 1, 'sweep')).rejects.toMatchObject({ code });
      expect(statuses()).toEqual(codes.map(() => 401));
      await sandbox?.close();
    }
  });
});

describe('S5: a call that began before its key was exchanged is not sent with the new secret', () => {
  const exchanged = {
    code: 'CRM_UNREACHABLE',
    message: expect.stringContaining('The key was exchanged'),
  };
  const windowMs = 61_000;

  /** A client whose key is exchanged by the first refusal, before a CRM that refuses whoever asks for the lead 2. */
  async function openRefusing(answerOthers: Script, requests: number) {
    const server = await startScriptedServer((response, request) =>
      request.url.endsWith('/leads/2')
        ? answerFailure(response, 401, 'The key is revoked.')
        : answerOthers(response, request),
    );
    onTestFinished(() => server.close());
    const key = createApiKey(nameOf, 'old', () => 'new');
    const bench = createCrmBench(server.baseUrl, { keys: [key], requests });
    return {
      ...bench,
      exchangeKey: () =>
        expect(bench.crm.getRecord({ entity: 'lead', id: '2' }, 'edit')).rejects.toMatchObject(exchanged),
      sent: () => server.requests.map(({ headers, method }) => [method, headers['x-api-key']]),
    };
  }

  it('fault 75: when it waited for the budget, and its slot is given back', async () => {
    const { budget, clock, crm, exchangeKey, sent } = await openRefusing(
      (response) => answerSuccess(response, { id: 1, title: 'Anna' }),
      1,
    );
    const refused = exchangeKey();
    const waiting = [
      crm.createRecord('lead', { title: 'Anna' }),
      crm.updateRecord({ entity: 'lead', id: '1' }, { title: 'Anna' }),
      crm.deleteRecord({ entity: 'lead', id: '1' }),
      crm.listRecords('lead', 1, 'sweep'),
    ].map((call) => expect(call).rejects.toMatchObject(exchanged));
    await refused;
    for (const _call of waiting) await clock.advance(windowMs);
    await Promise.all(waiting);
    await clock.advance(windowMs);
    expect(budget.usage().taken).toBe(0);
    expect(await crm.getRecord({ entity: 'lead', id: '1' }, 'edit')).toMatchObject({ id: '1' });
    expect(sent()).toEqual([
      ['GET', 'old'],
      ['GET', 'new'],
    ]);
  });

  it('when it waited for its next try', async () => {
    const { crm, exchangeKey, overPauses, sent } = await openRefusing((response) => response.destroy(), 100);
    const failing = expect(
      overPauses(crm.getRecord({ entity: 'lead', id: '1' }, 'edit')),
    ).rejects.toMatchObject(exchanged);
    await exchangeKey();
    await failing;
    expect(new Set(sent().map(([, secret]) => secret))).toEqual(new Set(['old']));
  });

  it('when it is an update that had to read the record first', async () => {
    const answer = Promise.withResolvers<void>();
    const { crm, exchangeKey, sent } = await openRefusing(
      (response) => void answer.promise.then(() => answerSuccess(response, { id: 1, title: 'Anna' })),
      100,
    );
    const key = { entity: 'lead', id: '1' } as const;
    const update = expect(crm.updateRecord(key, { 'about.url': 'https://a.example' })).rejects.toMatchObject(
      exchanged,
    );
    await exchangeKey();
    answer.resolve();
    await update;
    expect(sent()).toEqual([
      ['GET', 'old'],
      ['GET', 'old'],
    ]);
  });
});
