import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Client } from 'pg';
import { serverAccount } from '../../src/sandbox/postgres/account.ts';
import type { PostgresServer } from '../../src/sandbox/postgres/server.ts';
import { startAt } from './postgres.ts';
import { until } from './until.ts';

/**
 * Copies a running server, as `pg_basebackup` does, which the npm package does not have. Returns the directory: a server that is started
 * there with `startAt` has what was committed until now.
 */
export async function backUp(server: PostgresServer): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'postgres-'));
  const [source, target] = [join(server.directory, 'data'), join(directory, 'data')];
  const [begin, end] =
    Number.parseInt(server.version, 10) >= 15
      ? ["pg_backup_start('copy', true)", 'pg_backup_stop(false)']
      : ["pg_start_backup('copy', true, false)", 'pg_stop_backup(false, false)'];
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    await client.query(`SELECT ${begin}`);
    copyFolder(source, target, (path) => !path.startsWith('pg_wal/'));
    const { rows } = await client.query(`SELECT labelfile FROM ${end}`);
    // What is written while files are copied is repaired from the log, so the log is copied last.
    copyFolder(join(source, 'pg_wal'), join(target, 'pg_wal'), () => true);
    writeFileSync(join(target, 'backup_label'), rows[0].labelfile);
  } finally {
    await client.end();
  }
  copyFileSync(join(server.directory, 'password'), join(directory, 'password'));
  handOver(directory);
  return directory;
}

const staysBehind = /^(postmaster\.(pid|opts)|(pg_dynshmem|pg_stat_tmp|pg_replslot)\/.*)$/;

function copyFolder(source: string, target: string, isWanted: (path: string) => boolean): void {
  mkdirSync(target, { recursive: true, mode: 0o700 });
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name);
    const path = relative(source, from);
    if (staysBehind.test(path) || !isWanted(path)) continue;
    const to = join(target, path);
    if (entry.isDirectory()) mkdirSync(to, { recursive: true, mode: 0o700 });
    else copyIfThere(from, to);
  }
}

/** A running server removes files of its own at any time; what was in them is in the log. */
function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

/** Gives the files to the account that a server runs under. */
function handOver(directory: string): void {
  chmodSync(directory, 0o700);
  const account = serverAccount();
  if (!account) return;
  const { uid, gid } = account;
  lchownSync(directory, uid, gid);
  for (const { parentPath, name } of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    lchownSync(join(parentPath, name), uid, gid);
  }
}

/** A server that repeats what its primary does, and takes no writes until it is promoted. */
export class Standby {
  readonly server: PostgresServer;
  readonly #primary: PostgresServer;

  constructor(server: PostgresServer, primary: PostgresServer) {
    this.server = server;
    this.#primary = primary;
  }

  /** Resolves when it has all that the primary has written by now. */
  async caughtUp(): Promise<void> {
    const [{ lsn } = {}] = await query(this.#primary, 'SELECT pg_current_wal_lsn() AS lsn');
    const sql = 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS reached';
    await until(
      'the standby has caught up',
      async () => (await query(this.server, sql, [lsn]))[0]?.['reached'] === true,
    );
  }

  /** Resolves when nothing comes from the primary any longer: what it commits from now on is lost in a promotion. */
  async cutOff(): Promise<void> {
    await query(this.server, "ALTER SYSTEM SET primary_conninfo = ''");
    await query(this.server, 'SELECT pg_reload_conf()');
    const sql = 'SELECT count(*)::int AS streams FROM pg_stat_replication';
    await until(
      'the standby is cut off',
      async () => (await query(this.#primary, sql))[0]?.['streams'] === 0,
    );
  }

  /** Makes it a primary of its own, and resolves when it takes writes. */
  async promote(): Promise<void> {
    const [{ promoted } = {}] = await query(this.server, 'SELECT pg_promote(true, 60) AS promoted');
    if (promoted !== true) throw new Error('The standby was not promoted within a minute.');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.stop();
  }
}

/** Starts a standby that streams from the primary. It is stopped before its primary. */
export async function startStandby(primary: PostgresServer): Promise<Standby> {
  const directory = await backUp(primary);
  const { username, password, port } = new URL(primary.url);
  const source = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
  appendFileSync(join(directory, 'data', 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  writeFileSync(join(directory, 'data', 'standby.signal'), '');
  handOver(directory);
  return new Standby(await startAt(directory), primary);
}

async function query(
  { url }: PostgresServer,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}
