import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Environment } from '../../src/app/config.ts';
import { type DaemonProcess, type Ending, spawnCommand, spawnDaemon } from './daemon-process.ts';
import { type GoogleFront, openGoogleFront } from './google-front.ts';
import { findLeaks, type Output, readDatabase, readFiles, readRedis, readWholeSides } from './leaks.ts';
import { openDatabase, type TestDatabase } from './postgres.ts';
import { openStage, type ProcessStage } from './process-stage.ts';
import { startRedis, stopRedis } from './redis.ts';
import { until } from './until.ts';

export const controlToken = 'canary-control-2f7a1c';
export const redisPassword = 'canary-redis-93be04';
export const warehousePassword = 'canary-warehouse-5ad0c8';
export const leadTitle = 'Priscilla Canary of Testford';

/** A stage whose secrets are all known, and a net that holds whatever commands, daemons and answers let out. */
export interface Aviary {
  readonly stage: ProcessStage;
  readonly google: GoogleFront;
  readonly environment: Environment;
  readonly directory: string;
  /** Where its tables are kept the same, and edited by SQL. */
  readonly database: TestDatabase | undefined;
  /** The address of that with another password, or another port. */
  databaseUrl(password?: string, port?: number): string;
  /** Writes a secret to a file of its own. Resolves with its name. */
  secretFile(name: string, text: string): Promise<string>;
  run(words: readonly string[], changes?: Environment): Promise<Ending>;
  start(changes?: Environment): DaemonProcess;
  /** Asks a daemon; what it answers is held too. */
  ask(daemon: DaemonProcess, path: string, request?: RequestInit): Promise<Response>;
  /** Fails when a secret has got out: by any output so far, or into Redis, the sheet, the CRM or a file. */
  expectNoLeak(): Promise<void>;
}

export async function openAviary({ hasDatabase = false } = {}): Promise<Aviary> {
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
  const database = hasDatabase ? await openDatabase() : undefined;
  const role = `daemon_${database?.name}`;
  const databaseUrl = (password = warehousePassword, port = database?.server.port ?? 0) => {
    const url = new URL(database?.server.urlOf(database.name, role, password) ?? '');
    url.port = String(port);
    return url.href;
  };
  const ofDatabase: Environment = database
    ? {
        WAREHOUSE_URL_FILE: await secretFile('warehouse', databaseUrl()),
        // A state belongs to one address of the CRM.
        STATE_DIR: join(directory, 'state'),
        CRM_SYNC_CONFIG: await editedSettings(
          others['CRM_SYNC_CONFIG'] ?? '',
          join(directory, 'edited.yaml'),
        ),
      }
    : {};
  if (database) {
    onTestFinished(() => database[Symbol.asyncDispose]());
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD '${warehousePassword}' CREATEROLE`);
    await database.query(`GRANT CREATE ON DATABASE ${database.name} TO ${role}`);
  }
  const environment: Environment = {
    ...others,
    ...ofDatabase,
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
    database,
    databaseUrl,
    secretFile,
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
      if (database) places.push(readDatabase((sql) => database.query(sql)));
      const all = [...outputs, ...(await Promise.all(places)).flat()];
      const tokens = google
        .secrets()
        .map((secret, index): [string, string] => [`secret ${index} of Google`, secret]);
      const secrets = {
        apiKey: apiKey.slice('svc_live_'.length),
        controlToken,
        redisPassword,
        warehousePassword,
        ...Object.fromEntries(tokens),
      };
      expect(findLeaks(secrets, all)).toEqual([]);
      expect(all.map(({ where }) => where)).toContain(join(state, 'mirror.db'));
      expect(all.some(({ where }) => where.startsWith('Redis '))).toBe(true);
    },
  };
}

export const paths = ['/healthz', '/readyz', '/api/status', '/api/history', '/'];

export async function askEverything({ ask }: Aviary, daemon: DaemonProcess): Promise<void> {
  for (const path of paths) await ask(daemon, path);
  for (const path of ['/api/plan', '/api/answer', '/api/undo', '/api/backup', '/api/resync']) {
    for (const authorization of ['', 'Bearer wrong', `Bearer ${controlToken.slice(1)}`])
      await ask(daemon, path, { method: 'POST', headers: { authorization } });
    const headers = { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' };
    await ask(daemon, path, { method: 'POST', headers, body: '{"broken' });
  }
}

/** Resolves once the status tells of a problem in such words. */
export async function tells({ ask }: Aviary, daemon: DaemonProcess, words: RegExp): Promise<void> {
  const look = async () => words.test(await (await ask(daemon, '/api/status')).text());
  await until(`the status tells ${words}`, () => look().catch(() => false));
}

/** The settings of a stage with tables that are edited by SQL. */
async function editedSettings(file: string, to: string): Promise<string> {
  const warehouse = { freshnessMs: 500, edits: { enabled: true, conflict: 'ask' } };
  await writeFile(to, stringify({ ...parse(await readFile(file, 'utf8')), warehouse }));
  return to;
}
