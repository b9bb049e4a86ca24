import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { childrenOf, listProcesses } from '../../src/sandbox/postgres/processes.ts';
import { playSettings, startPostgres } from '../../src/sandbox/postgres/server.ts';
import { openDatabase, startOwnPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const runningOf = (pids: readonly number[]): number[] =>
  listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => pids.includes(pid));

async function readNames(url: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query('SELECT name FROM lead ORDER BY name')).rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

async function run(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

describe('the PostgreSQL server of demo and tests', () => {
  it('takes SQL in UTF-8 in a database that is made for it', async () => {
    await using database = await openDatabase();
    const [row] = await database.query('SELECT current_database() AS name, $1::text AS typed', ['Zoë 🏠']);
    expect(row).toEqual({ name: database.name, typed: 'Zoë 🏠' });
  });

  it('gives each test an empty database and drops it afterwards', async () => {
    await using kept = await openDatabase();
    const count = async () => (await kept.query('SELECT datname FROM pg_database')).length;
    const before = await count();
    {
      await using passing = await openDatabase();
      const client = await passing.connect();
      await client.query('CREATE TABLE lead (name text)');
      expect(await count()).toBe(before + 1);
    }
    expect(await count()).toBe(before);
  });

  it('refuses a wrong password', async () => {
    await using database = await openDatabase();
    await expect(database.connect('postgres', 'wrong')).rejects.toMatchObject({ code: '28P01' });
  });

  it('has what was committed after all its processes were killed', async () => {
    await using server = await startOwnPostgres();
    const url = await server.createDatabase('crm');
    await run(url, "CREATE TABLE lead (name text); INSERT INTO lead VALUES ('Ada')");
    await using database = await openDatabase(server);
    const busy = await database.connect();
    const cut = expect(busy.query('SELECT pg_sleep(60)')).rejects.toThrow();
    const pids = [server.pid, ...childrenOf(server.pid)];
    await server.kill();
    await cut;
    expect(runningOf(pids)).toEqual([]);
    await server.restart();
    expect(await readNames(url)).toEqual(['Ada']);
  });

  it('leaves no process behind when it is stopped', async () => {
    await using server = await startOwnPostgres();
    const pids = [server.pid, ...childrenOf(server.pid)];
    expect(pids.length).toBeGreaterThan(3);
    await server.stop();
    expect(runningOf(pids)).toEqual([]);
    expect(existsSync(server.directory)).toBe(false);
  });

  it('opens a directory again with its data and its password', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'postgres-'));
    const first = await startPostgres({ directory, settings: playSettings });
    await run(
      await first.createDatabase('crm'),
      "CREATE TABLE lead (name text); INSERT INTO lead VALUES ('Ada')",
    );
    const { password } = new URL(first.url);
    await first.stop();
    await using second = await startPostgres({ directory, settings: playSettings, isTemporary: true });
    expect(new URL(second.url).password).toBe(password);
    expect(await readNames(await second.createDatabase('crm'))).toEqual(['Ada']);
  });

  it('ends with its directory when the process that started it is killed', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'postgres-'));
    const file = fileURLToPath(new URL('../../src/sandbox/postgres/server.ts', import.meta.url));
    const program = `
      const { startPostgres, playSettings } = await import(${JSON.stringify(file)});
      const directory = ${JSON.stringify(directory)};
      const server = await startPostgres({ directory, settings: playSettings, isTemporary: true });
      console.log(server.pid);
      setInterval(() => undefined, 1_000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface(parent.stdout), 'line');
    const pids = [Number(line), ...childrenOf(Number(line))];
    expect(runningOf(pids)).toContain(Number(line));
    parent.kill('SIGKILL');
    await until('the server is gone', async () => runningOf(pids).length === 0);
    await until('the directory is gone', async () => !existsSync(directory));
  });

  it('says what is wrong with a directory of binaries that has none', async () => {
    const directory = join(tmpdir(), 'never-made');
    await expect(startPostgres({ directory, bin: '/nonexistent' })).rejects.toThrow(
      'The PostgreSQL server in /nonexistent does not run',
    );
  });
});
