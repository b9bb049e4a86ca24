import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { serverAccount } from '../../src/sandbox/postgres/account.ts';
import { type Guard, startGuard } from '../../src/sandbox/postgres/guard.ts';
import type { PostgresServer } from '../../src/sandbox/postgres/server.ts';
import { findFreePort } from './free-port.ts';

/** A pooler in front of a server: each transaction may run in another of its connections. */
export class Pgbouncer {
  readonly port: number;
  readonly #directory: string;
  readonly #child: ChildProcess;
  readonly #guard: Guard;

  constructor(port: number, directory: string, child: ChildProcess, guard: Guard) {
    this.port = port;
    this.#directory = directory;
    this.#child = child;
    this.#guard = guard;
  }

  /** The address that leads through the pooler to the database of the server's own address. */
  through(serverUrl: string): string {
    const url = new URL(serverUrl);
    url.port = String(this.port);
    return url.href;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL');
      await once(this.#child, 'exit');
    }
    await this.#guard.dismiss();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Starts it, and resolves when it takes connections. */
export async function startPgbouncer(server: PostgresServer): Promise<Pgbouncer> {
  const directory = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  const guard = startGuard(directory);
  const port = await findFreePort();
  const file = writeSettings(directory, port, server);
  const account = serverAccount();
  if (account) chownSync(directory, account.uid, account.gid);
  const child = spawn('pgbouncer', [file], {
    ...account,
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (child.pid !== undefined) guard.watch(child.pid);
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => reject(new Error(`pgbouncer did not start:\n${said.join('\n')}`)));
    createInterface(child.stderr).on('line', (line) => {
      said.push(line);
      if (line.includes('process up')) resolve();
    });
  });
  return new Pgbouncer(port, directory, child, guard);
}

function writeSettings(directory: string, port: number, server: PostgresServer): string {
  const { username, password } = new URL(server.url);
  const users = join(directory, 'users');
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`, { mode: 0o644 });
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    pool_mode: 'transaction',
    auth_type: 'scram-sha-256',
    auth_file: users,
    // Other roles are looked up in the server.
    auth_user: username,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(
    file,
    ['[databases]', `* = host=127.0.0.1 port=${server.port}`, '[pgbouncer]', ...lines, ''].join('\n'),
  );
  return file;
}
