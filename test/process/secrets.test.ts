import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Environment } from '../../src/app/config.ts';
import { type DaemonProcess, type Ending, spawnCommand, spawnDaemon } from '../support/daemon-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { type GoogleFront, openGoogleFront } from '../support/google-front.ts';
import { findLeaks, type Output, readFiles, readRedis, readWholeSides } from '../support/leaks.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { startQuotingCrm } from '../support/quoting-crm.ts';
import { startRedis, stopRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const controlToken = 'canary-control-2f7a1c';
const redisPassword = 'canary-redis-93be04';
const leadTitle = 'Priscilla Canary of Testford';

/** A stage whose secrets are all known, and a net that holds whatever commands, daemons and answers let out. */
interface Aviary {
  readonly stage: ProcessStage;
  readonly google: GoogleFront;
  readonly environment: Environment;
  readonly directory: string;
  run(words: readonly string[], changes?: Environment): Promise<Ending>;
  start(changes?: Environment): DaemonProcess;
  /** Asks a daemon; what it answers is held too. */
  ask(daemon: DaemonProcess, path: string, request?: RequestInit): Promise<Response>;
  /** Fails when a secret has got out: by any output so far, or into Redis, the sheet, the CRM or a file. */
  expectNoLeak(): Promise<void>;
}

async function openAviary(): Promise<Aviary> {
  const redis = await startRedis(undefined, redisPassword);
  onTestFinished(() => stopRedis(redis));
  const stage = await openStage({ counts: { leads: 12, opportunities: 3, tasks: 3 } });
  const google = await openGoogleFront(stage.addresses.sheetsUrl);
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-canary-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const {
    GOOGLE_API_ROOT_URL: _emulator,
    CONTROL_TOKEN: _token,
    CRM_API_KEY: apiKey = '',
    ...others
  } = stage.environment;
  const secretFile = async (name: string, text: string) => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };
  const environment: Environment = {
    ...others,
    ...google.environment,
    GOOGLE_APPLICATION_CREDENTIALS: google.keyFile,
    CRM_API_KEY_FILE: await secretFile('key', apiKey),
    CONTROL_TOKEN_FILE: await secretFile('token', controlToken),
    REDIS_URL: redis.url,
    LOG_LEVEL: 'debug',
  };
  const outputs: Output[] = [];
  const hold = (where: string, said: Promise<Ending>): Promise<Ending> =>
    said.then((ending) => {
      outputs.push({ where, text: ending.stdout + ending.stderr });
      return ending;
    });
  return {
    stage,
    google,
    environment,
    directory,
    run(words, changes = {}) {
      return hold(words.join(' '), spawnCommand(words, { ...environment, ...changes }).ended);
    },
    start(changes = {}) {
      const daemon = spawnDaemon({ ...environment, ...changes });
      onTestFinished(async () => void (await daemon.kill()));
      void hold('the daemon', daemon.ended);
      return daemon;
    },
    async ask(daemon, path, request) {
      const answer = await fetch(daemon.url + path, request);
      const text = JSON.stringify([...answer.headers]) + (await answer.clone().text());
      outputs.push({ where: `${request?.method ?? 'GET'} ${path}`, text });
      return answer;
    },
    async expectNoLeak() {
      const state = environment['STATE_DIR'] ?? '';
      const places = [readFiles(state), readRedis(redis.url), readWholeSides(stage.addresses)];
      const all = [...outputs, ...(await Promise.all(places)).flat()];
      const tokens = google
        .secrets()
        .map((secret, index): [string, string] => [`secret ${index} of Google`, secret]);
      const secrets = {
        apiKey: apiKey.slice('svc_live_'.length),
        controlToken,
        redisPassword,
        ...Object.fromEntries(tokens),
      };
      expect(findLeaks(secrets, all)).toEqual([]);
      expect(all.map(({ where }) => where)).toContain(join(state, 'mirror.db'));
      expect(all.some(({ where }) => where.startsWith('Redis '))).toBe(true);
    },
  };
}

const paths = ['/healthz', '/readyz', '/api/status', '/api/history', '/'];

async function askEverything({ ask }: Aviary, daemon: DaemonProcess): Promise<void> {
  for (const path of paths) await ask(daemon, path);
  for (const path of ['/api/plan', '/api/approve', '/api/undo', '/api/backup', '/api/resync']) {
    for (const authorization of ['', 'Bearer wrong', `Bearer ${controlToken.slice(1)}`])
      await ask(daemon, path, { method: 'POST', headers: { authorization } });
    const headers = { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' };
    await ask(daemon, path, { method: 'POST', headers, body: '{"broken' });
  }
}

/** Resolves once the status tells of a problem in such words. */
async function tells({ ask }: Aviary, daemon: DaemonProcess, words: RegExp): Promise<void> {
  const look = async () => words.test(await (await ask(daemon, '/api/status')).text());
  await until(`the status tells ${words}`, () => look().catch(() => false));
}

describe('S16: no secret is anywhere', { timeout: 480_000 }, () => {
  test('the net finds a secret in every form', () => {
    const secret = 'canary/key+4711 x';
    const texts = [
      `a ${secret} b`,
      encodeURIComponent(secret),
      btoa(`ab${secret}cd`),
      Buffer.from(secret).toString('hex'),
    ];
    expect(
      findLeaks(
        { secret },
        texts.map((text) => ({ where: 'here', text })),
      ),
    ).toHaveLength(texts.length);
    expect(findLeaks({ secret }, [{ where: 'here', text: 'canary' }])).toEqual([]);
  });

  test('while everything is used as it is meant to be, and no log line tells what a record holds', async () => {
    const aviary = await openAviary();
    const { run, stage } = aviary;
    await run(['init']);
    const daemon = aviary.start();
    await stage.agreed();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: leadTitle });
    await stage.editCrm('/leads/1002', { title: `${leadTitle} II` });
    await stage.addToCrm('/leads', { title: `${leadTitle} III` });
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 5 });
    await tells(aviary, daemon, /vanished:lead-\d+/);
    for (const words of [
      ['status', '--json'],
      ['plan', '--json'],
      ['history', '--json'],
      ['backup'],
      ['doctor', '--json'],
      ['undo', '--record', 'lead-1002'],
      ['resync', '--json'],
    ])
      expect(await run(words)).toMatchObject({ code: expect.toBeOneOf([0, 3]), stderr: '' });
    const vanished =
      /vanished:lead-\d+/.exec(await (await aviary.ask(daemon, '/api/status')).text())?.[0] ?? '';
    expect(await run(['approve', vanished, '--choice', 'restore'])).toMatchObject({ code: 0 });
    await stage.agreed();
    await askEverything(aviary, daemon);
    const { stdout } = await daemon.terminate();
    expect(stdout).toContain('"event":"record.pushed"');
    expect(stdout).not.toContain(leadTitle);
    await aviary.expectNoLeak();
  });

  test('while the CRM, or something before it, quotes in its answers the key that it is sent', async () => {
    const aviary = await openAviary();
    const failing = ['400', '403', '409', '500', 'page', 'redirect'] as const;
    for (const kinds of [['401'], failing] as const) {
      const crm = await startQuotingCrm(...kinds);
      const changes = {
        CRM_BASE_URL: `${crm.baseUrl}/api/v1/external`,
        STATE_DIR: join(aviary.environment['STATE_DIR'] ?? '', kinds.join('-')),
        HTTP_PORT: String(await findFreePort()),
      };
      expect(await aviary.run(['doctor'], changes)).toMatchObject({ code: 1 });
      expect(await aviary.run(['init'], changes)).toMatchObject({ code: 1 });
      const daemon = aviary.start(changes);
      await crm.arrived(crm.requests.length + 1);
      await tells(aviary, daemon, /"source":"crm/);
      await crm.arrived(kinds.length);
      for (const path of paths) await aviary.ask(daemon, path);
      await daemon.kill();
    }
    await aviary.expectNoLeak();
  });

  test('while Google quotes in its answers what it is sent', async () => {
    const aviary = await openAviary();
    const { google, run } = aviary;
    const daemon = aviary.start();
    await aviary.stage.agreed();
    for (const [status, words] of [
      [400, /SHEET_REFUSED/],
      [401, /SHEET_UNAUTHORIZED/],
      [403, /SHEET_FORBIDDEN/],
    ] as const) {
      google.quoteRequests(status);
      await tells(aviary, daemon, words);
      for (const path of paths) await aviary.ask(daemon, path);
      expect(await run(['doctor'])).toMatchObject({ code: 1 });
    }
    await daemon.kill();
    await aviary.expectNoLeak();
  });

  test('while settings are wrong, Redis refuses, the mirror is damaged, and the daemon is killed', async () => {
    const aviary = await openAviary();
    const { directory, environment, run, stage } = aviary;
    const daemon = aviary.start();
    await stage.agreed();
    stage.setCrmFaults({ faults: [{ kind: 'dropAfter', method: 'PUT' }] });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: leadTitle });
    await stage.crmFaultsMet();
    await daemon.kill();
    await aviary.expectNoLeak();

    const redisUrl = environment['REDIS_URL'] ?? '';
    const wrongRedis = redisUrl.replace(redisPassword, `${redisPassword}-wrong`);
    const refused = aviary.start({ REDIS_URL: wrongRedis });
    await tells(aviary, refused, /QUEUE_UNREACHABLE/);
    for (const path of paths) await aviary.ask(refused, path);
    await run(['doctor'], { REDIS_URL: wrongRedis });
    await refused.kill();
    await run(['doctor'], { REDIS_URL: redisUrl.replace(/:\d+$/, ':1') });

    const config = join(directory, 'broken.yaml');
    await writeFile(config, `http:\n  controlToken: ${controlToken}\n   port: 1\n`);
    for (const changes of [
      { CRM_SYNC_CONFIG: config },
      { CRM_API_KEY: `svc_live_${controlToken}`, CRM_API_KEY_FILE: '' },
      { CONTROL_TOKEN: controlToken },
      { REDIS_URL: redisUrl.replace('redis:', 'http:') },
      { GOOGLE_APPLICATION_CREDENTIALS: environment['CONTROL_TOKEN_FILE'] },
      { STATE_DIR: join(directory, 'key') },
    ]) {
      expect(await run(['doctor'], changes)).toMatchObject({ code: expect.toBeOneOf([1, 2, 4]) });
    }
    await writeFile(join(environment['STATE_DIR'] ?? '', 'mirror.db'), controlToken.slice(0, 5));
    expect(await run(['start'])).toMatchObject({ code: 1 });
    await aviary.expectNoLeak();
  });
});
