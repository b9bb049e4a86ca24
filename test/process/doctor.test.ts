import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Check } from '../../src/app/doctor/check.ts';
import { scopes } from '../../src/crm/contract.ts';
import { seedRecords } from '../../src/sandbox/crm/seed.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { counts, openDoctorStage, openLaidOutStage, sign } from '../support/doctor-stage.ts';
import { commandRedis, silentPort, startRedis, stopRedis } from '../support/redis.ts';

const limit = { timeout: 60_000 };

const report = z.strictObject({
  checks: z.array(
    z.strictObject({
      name: z.string(),
      state: z.enum(['ok', 'warning', 'failed', 'skipped']),
      found: z.string().min(1),
      advice: z.string().min(1).optional(),
    }),
  ),
});

const contactsEnabled = { sheet: { tabs: { contacts: { enabled: true } } } };

const namesIn = (checks: ReadonlyMap<string, Check>, ...states: Check['state'][]) =>
  [...checks.values()].filter(({ state }) => states.includes(state)).map(({ name }) => name);

describe('doctor', limit, () => {
  test('finds all well where all is, with few reads and no write', async () => {
    const redis = await startRedis();
    onTestFinished(() => stopRedis(redis));
    const stage = await openLaidOutStage();
    const before = { writes: await stage.sheetWrites(), requests: stage.crm.model.requests().length };
    const { code, checks } = await stage.diagnose({ REDIS_URL: redis.url });
    expect(code).toBe(0);
    expect(namesIn(checks, 'failed')).toEqual([]);
    expect(namesIn(checks, 'warning')).toEqual(['Redis persistence']);
    expect(namesIn(checks, 'skipped')).toEqual([
      'scopes for writing',
      'single task',
      'each CRM key',
      'spreadsheet for writing',
    ]);
    const spent = stage.crm.model.requests().slice(before.requests);
    expect(new Set(spent.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(spent.length).toBeLessThanOrEqual(20);
    expect(checks.get('requests to the CRM')?.found).toMatch(`${spent.length} of at most 25`);
    expect(await stage.sheetWrites()).toBe(before.writes);
    // Four tabs of 1,000 rows and 26 columns, and the hidden one of 100.
    expect(checks.get('spreadsheet')?.found).toBe(
      `“Our customers”, time zone Europe/Berlin, locale en_US, ${4_100 * 26} of 10000000 cells`,
    );
    expect(checks.get('Redis')?.found).toMatch(/^version \d+\.\d+\.\d+ at 127\.0\.0\.1:\d+$/);
  });

  test('says which daemon keeps the spreadsheet, and which one waits for it', async () => {
    const stage = await openLaidOutStage();
    const look = async () => (await stage.diagnose()).checks.get('daemons on the spreadsheet');
    expect(await look()).toMatchObject({ state: 'ok', found: 'none keeps it now' });
    await sign(stage, 'keeper', 'office-pc');
    expect(await look()).toMatchObject({
      state: 'warning',
      found:
        'kept by a daemon (host office-pc, process 7, since 2026-11-25T03:00:00.000Z), and none runs with this state directory',
    });
    await sign(stage, 'waiting', 'test-machine');
    expect((await look())?.found).toMatch(
      /^kept by a daemon \(host office-pc, .*; another one \(host test-machine, .*\) waits and writes nothing$/,
    );
  });

  test('names a key that the CRM refuses, and leaves out what needs it', async () => {
    const stage = await openLaidOutStage();
    const before = stage.crm.model.requests().length;
    const { code, checks } = await stage.diagnose({ CRM_API_KEY: `svc_live_${'0'.repeat(64)}` });
    expect(code).toBe(1);
    expect(namesIn(checks, 'failed')).toEqual(['CRM key']);
    expect(checks.get('CRM key')).toMatchObject({ advice: expect.stringContaining('CRM_API_KEY') });
    expect(checks.get('scope read:leads')).toMatchObject({ state: 'skipped', found: 'It needs “CRM key”.' });
    expect(checks.get('spreadsheet')).toMatchObject({ state: 'ok' });
    expect(stage.crm.model.requests().length - before).toBe(1);
  });

  test('uses all keys as the daemon does, and tries each by itself', async () => {
    const leadsOnly = `svc_live_${'b'.repeat(64)}`;
    const stage = await openLaidOutStage({ keys: [{ key: leadsOnly, scopes: ['read:leads'] }] });
    const full = stage.crm.apiKey;
    const shared = await stage.diagnose({ CRM_API_KEY: leadsOnly, CRM_API_KEYS: full });
    expect(shared.code).toBe(0);
    expect(namesIn(shared.checks, 'failed')).toEqual([]);
    expect(shared.checks.get('list of opportunities')).toMatchObject({ state: 'ok' });
    const refused = await stage.diagnose({ CRM_API_KEYS: `${leadsOnly},svc_live_${'0'.repeat(64)}` });
    expect(refused.code).toBe(1);
    expect(namesIn(refused.checks, 'failed')).toEqual(['each CRM key']);
    expect(refused.checks.get('each CRM key')?.found).toContain('refuses key 3 of 3');
  });

  test('tells a new key of the same account from one that opens another account', async () => {
    const [rotated, foreign] = [`svc_live_${'b'.repeat(64)}`, `svc_live_${'c'.repeat(64)}`];
    const stage = await openLaidOutStage({
      keys: [
        { key: rotated, scopes },
        { key: foreign, scopes, records: seedRecords(99, counts, Date.now()) },
      ],
    });
    const daemon = spawnDaemon(stage.environment);
    onTestFinished(async () => void (await daemon.kill()));
    await daemon.answers('/readyz');
    expect((await stage.diagnose()).checks.get('account of the CRM')).toMatchObject({ state: 'skipped' });
    expect((await daemon.terminate()).code).toBe(0);
    const accountOf = async (CRM_API_KEY: string) => {
      const { code, checks } = await stage.diagnose({ CRM_API_KEY });
      return { code, state: checks.get('account of the CRM')?.state, failed: namesIn(checks, 'failed') };
    };
    expect(await accountOf(stage.crm.apiKey)).toEqual({ code: 0, state: 'ok', failed: [] });
    expect(await accountOf(rotated)).toEqual({ code: 0, state: 'ok', failed: [] });
    expect(await accountOf(foreign)).toEqual({ code: 1, state: 'failed', failed: ['account of the CRM'] });
  });

  test('names the scope that a key lacks, and goes on with the others', async () => {
    const key = `svc_live_${'a'.repeat(64)}`;
    const granted = scopes.filter((scope) => scope !== 'read:tasks');
    const stage = await openLaidOutStage({ keys: [{ key, scopes: granted }] });
    const { code, checks } = await stage.diagnose({ CRM_API_KEY: key });
    expect(code).toBe(1);
    expect(namesIn(checks, 'failed')).toEqual(['scope read:tasks']);
    expect(checks.get('list of tasks')).toMatchObject({ state: 'skipped' });
    expect(checks.get('list of opportunities')).toMatchObject({ state: 'ok' });
  });

  test('looks at the tab and the scope of contacts where they are enabled, and only there', async () => {
    const key = `svc_live_${'a'.repeat(64)}`;
    const granted = scopes.filter((scope) => scope !== 'read:contacts');
    const stage = await openLaidOutStage({ keys: [{ key, scopes: granted }] });
    const unneeded = await stage.diagnose({ CRM_API_KEY: key });
    expect(unneeded.checks.get('scope read:contacts')).toMatchObject({ state: 'ok' });
    expect(unneeded.checks.has('tab of contacts')).toBe(false);
    const enabled = { CRM_API_KEY: key, CRM_SYNC_CONFIG: await stage.configure(contactsEnabled) };
    const { code, checks } = await stage.diagnose(enabled);
    expect(code).toBe(1);
    expect(namesIn(checks, 'failed')).toEqual(['scope read:contacts', 'tab of contacts']);
    expect(checks.get('tab of contacts')?.advice).toContain('Run init');
    await stage.init(enabled);
    expect((await stage.diagnose(enabled)).checks.get('tab of contacts')).toMatchObject({ state: 'ok' });
  });

  test('tells an address where nobody answers from one where somebody else does', async () => {
    const stage = await openDoctorStage();
    const { CRM_BASE_URL: right = '' } = stage.environment;
    const silent = `http://127.0.0.1:${silentPort}/api/v1/external`;
    await stage.init();
    const unreached = await stage.diagnose({
      CRM_BASE_URL: silent,
      STATE_DIR: `${stage.environment['STATE_DIR']}-2`,
    });
    expect(unreached.code).toBe(4);
    expect(namesIn(unreached.checks, 'failed')).toEqual(['CRM connection']);
    const strange = await stage.diagnose({
      CRM_BASE_URL: right.replace('/external', ''),
      STATE_DIR: `${stage.environment['STATE_DIR']}-3`,
    });
    expect(strange.code).toBe(1);
    expect(namesIn(strange.checks, 'failed')).toEqual(['CRM envelope']);
    expect(namesIn(strange.checks, 'warning')).toEqual(['CRM address']);
  });

  test('fault 75: names a spreadsheet that is not there, and one that the state does not belong to', async () => {
    const stage = await openDoctorStage();
    const wrong = { GOOGLE_SPREADSHEET_ID: 'no-such-spreadsheet' };
    const { code, checks } = await stage.diagnose(wrong);
    expect(code).toBe(1);
    expect(namesIn(checks, 'failed')).toEqual(['spreadsheet']);
    expect(checks.get('spreadsheet')?.advice).toContain('GOOGLE_SPREADSHEET_ID');
    expect(checks.get('tab of leads')).toMatchObject({ state: 'skipped' });
    await stage.init();
    const other = await stage.diagnose(wrong);
    expect(other.code).toBe(2);
    expect(other.checks.get('mirror')?.found).toContain('no-such-spreadsheet');
  });

  test('tells a login that Google can not take from a spreadsheet that is not there', async () => {
    const stage = await openLaidOutStage();
    const credentials = { GOOGLE_API_ROOT_URL: '', GOOGLE_APPLICATION_CREDENTIALS: '/no/such/key.json' };
    const { code, checks } = await stage.diagnose(credentials);
    expect(code).toBe(1);
    expect(namesIn(checks, 'failed')).toEqual(['Google login']);
    expect(checks.get('Google login')?.found).toContain('the credentials file does not exist');
    expect(checks.get('spreadsheet')).toMatchObject({ state: 'skipped' });
  });

  test('says what the rule of a tab names that the CRM does not have', async () => {
    const stage = await openLaidOutStage();
    const only = { status: ['New', 'Contactd'] };
    const config = await stage.configure({ sheet: { tabs: { leads: { only } } } });
    const { code, checks } = await stage.diagnose({ CRM_SYNC_CONFIG: config });
    expect(code).toBe(1);
    expect(namesIn(checks, 'failed')).toEqual(['tab of leads']);
    expect(checks.get('tab of leads')).toMatchObject({
      found: expect.stringMatching(/^Its rule cannot be followed\. status: .*“Contactd”/),
      advice: 'Correct sheet.tabs.leads.only, or what it names in the CRM.',
    });
  });

  test('says of every tab what is missing', async () => {
    const stage = await openDoctorStage();
    const bare = await stage.diagnose();
    expect(bare.code).toBe(1);
    expect(namesIn(bare.checks, 'failed')).toEqual(['tab of leads', 'tab of opportunities', 'tab of tasks']);
    expect(bare.checks.get('tab of leads')?.advice).toContain('init');
    expect(bare.checks.get('tab of conflicts')).toMatchObject({ state: 'warning' });
    await stage.init();
    await stage.editSheet(
      { kind: 'deleteColumns', sheet: 'Leads', column: 'Website' },
      { kind: 'edit', sheet: 'Opportunities', row: 0, column: 12, text: 'Stage' },
      { kind: 'edit', sheet: 'Tasks', row: 0, column: 13, text: 'My notes' },
    );
    const { code, checks } = await stage.diagnose();
    expect(code).toBe(1);
    expect(checks.get('tab of leads')).toMatchObject({ state: 'warning' });
    expect(checks.get('tab of leads')?.found).toContain('without Website');
    expect(checks.get('tab of opportunities')).toMatchObject({ state: 'failed' });
    expect(checks.get('tab of opportunities')?.found).toContain('both called “Stage”');
    expect(checks.get('tab of tasks')).toMatchObject({ state: 'ok' });
    expect(checks.get('tab of tasks')?.found).toContain('columns of people: My notes');
    expect(checks.get('tab of conflicts')).toMatchObject({ state: 'ok' });
  });

  test('says of a Redis that lets nobody write, because it follows another, who must be named instead', async () => {
    const stage = await openLaidOutStage();
    const redis = await startRedis();
    onTestFinished(() => stopRedis(redis));
    await commandRedis(redis, 'REPLICAOF', '127.0.0.1', String(silentPort));
    const { code, checks } = await stage.diagnose({ REDIS_URL: redis.url });
    expect(code).toBe(1);
    expect(namesIn(checks, 'failed')).toEqual(['Redis']);
    expect(checks.get('Redis')?.advice).toContain('REDIS_URL');
  });

  test('says that Redis is down and exits with 4', async () => {
    const stage = await openLaidOutStage();
    const REDIS_URL = `redis://:redis-secret@127.0.0.1:${silentPort}`;
    const { code, checks } = await stage.diagnose({ REDIS_URL });
    expect(code).toBe(4);
    expect(namesIn(checks, 'failed')).toEqual(['Redis']);
    expect(checks.get('Redis memory')).toMatchObject({ state: 'skipped' });
  });

  test('looks at everything beside a running daemon, with a budget of its own', async () => {
    const stage = await openLaidOutStage();
    const daemon = spawnDaemon(stage.environment);
    onTestFinished(async () => void (await daemon.kill()));
    await daemon.answers('/readyz');
    const { code, checks } = await stage.diagnose();
    expect(namesIn(checks, 'failed')).toEqual([]);
    expect(code).toBe(0);
    expect(checks.get('daemon')?.found).toBe(`runs at ${daemon.url}`);
    expect(checks.get('state directory')?.found).toContain('in use by a daemon');
    expect(checks.get('requests to the CRM')?.found).toContain('budget of its own');
    expect(checks.get('tab of leads')?.found).toMatch(/^“Leads” has \d+ rows; all managed columns are there/);
  });

  test('tells how this CRM speaks where the specification is silent', async () => {
    const stage = await openDoctorStage({
      counts: { leads: 130, opportunities: 12, tasks: 40 },
      limits: { requestsPerWindow: 60 },
      choices: {
        listShape: 'entity',
        listFacts: 'none',
        leadAndTaskPaging: 'ignored',
        singleRecord: 'entity',
        resetFormat: 'deltaSeconds',
      },
    });
    const { checks } = await stage.diagnose();
    const foundBy = (name: string) => checks.get(name)?.found;
    expect(foundBy('list of leads')).toContain('elements in data.leads, beside them no totals');
    expect(foundBy('list of leads')).toContain('page is ignored; limit is ignored; 130 came');
    expect(foundBy('list of opportunities')).toContain('page is followed; limit is followed; 12 came');
    expect(foundBy('list of opportunities')).toContain('which is all');
    expect(foundBy('single task')).toBe('is wrapped: data.task');
    expect(foundBy('CRM rate limit')).toContain('-Reset seconds from now');
    expect(checks.get('CRM rate limit')).toMatchObject({
      state: 'failed',
      advice: 'Set crm.budget.requests to 60 or less.',
    });
  });

  test('lists wrong settings, leaves out all else and exits with 2', async () => {
    const stage = await openDoctorStage();
    const { code, checks } = await stage.diagnose({
      CRM_BASE_URL: 'http://crm.example.com/api/v1/external',
    });
    expect(code).toBe(2);
    expect(namesIn(checks, 'failed')).toEqual(['settings']);
    expect(checks.get('settings')?.found).toContain('must begin with https://');
    expect(namesIn(checks, 'ok', 'warning')).toEqual(['Node']);
    expect(stage.crm.model.requests()).toEqual([]);
  });

  test('shows people a sign, what was found and what to do, and nobody a secret', async () => {
    const stage = await openDoctorStage();
    const { CRM_API_KEY: key = '', CONTROL_TOKEN: token = '' } = stage.environment;
    const REDIS_URL = `redis://:redis-secret@127.0.0.1:${silentPort}`;
    const wrongKey = `svc_live_${'0'.repeat(64)}`;
    const outputs = await Promise.all([
      stage.run(['doctor'], { REDIS_URL }),
      stage.run(['doctor', '--json'], {
        REDIS_URL,
        CRM_API_KEY: wrongKey,
        STATE_DIR: `${stage.environment['STATE_DIR']}-2`,
      }),
      stage.run(['doctor'], { CRM_BASE_URL: key }),
    ]);
    const [{ output }] = outputs;
    expect(report.parse(JSON.parse(outputs[1].output)).checks.length).toBeGreaterThan(10);
    expect(output).toMatch(/^✓ Node +v24/m);
    expect(output).toMatch(/^✗ Redis .*\n +→ .*REDIS_URL/m);
    expect(output).toMatch(/^– scopes for writing +Not tried/m);
    const all = outputs.map((each) => each.output).join('\n');
    for (const secret of [key, wrongKey, token, 'redis-secret']) expect(all).not.toContain(secret);
  });
});
