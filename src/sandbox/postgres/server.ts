import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverAccount } from './account.ts';
import { type Binaries, findBinaries, noServerAdvice } from './binaries.ts';
import { type ClusterPlace, openCluster, superuser } from './cluster.ts';
import { createDatabase } from './databases.ts';
import { type Guard, startGuard } from './guard.ts';
import { type Settings, startOnPort, startPostmaster } from './postmaster.ts';
import { childrenOf, listProcesses } from './processes.ts';

/** Nothing waits for the disk. What is committed survives the end of the server by any signal, but not a power cut. */
export const playSettings: Settings = {
  fsync: 'off',
  shared_buffers: '32MB',
  // A server that is killed leaves its shared memory behind; here it is in the server's own directory.
  dynamic_shared_memory_type: 'mmap',
};

export interface PostgresOptions {
  /** Of the server alone: what it has from an earlier start is opened again, with its password. */
  readonly directory: string;
  /** The directory of `initdb` and `postgres`; where absent, PG_BIN or whichever server is found. */
  readonly bin?: string;
  /** Any free port where absent. */
  readonly port?: number;
  readonly settings?: Settings;
  /** The directory is removed at the end, even at that of a killed process. */
  readonly isTemporary?: boolean;
}

/** The server that this machine can start; `undefined` where it has none. A wanted one that does not run is an error. */
export const findPostgres = (bin = process.env['PG_BIN']): Binaries | undefined =>
  findBinaries(bin, serverAccount());

/** Starts a server that takes connections over TCP from this machine, and ends at the latest with this process. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const binaries = findPostgres(options.bin);
  if (!binaries) throw new Error(noServerAdvice);
  const { directory, isTemporary = false } = options;
  const guard = startGuard(isTemporary ? directory : undefined);
  try {
    const place = { directory, bin: binaries.bin, account: serverAccount() };
    const password = await openCluster(place, randomBytes(18).toString('base64url'));
    const { port, child } = await startOnPort(place, options.port, options.settings ?? {}, guard);
    return new PostgresServer({ ...options, ...binaries, isTemporary, port, password, place, guard }, child);
  } catch (error) {
    await guard.dismiss();
    if (isTemporary) rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

interface ServerState extends Binaries {
  readonly directory: string;
  readonly isTemporary: boolean;
  readonly port: number;
  readonly password: string;
  readonly settings?: Settings;
  readonly place: ClusterPlace;
  readonly guard: Guard;
}

const stopGraceMs = 10_000;

/** A running server and what can be done to it. It is no reason for the process to go on. */
export class PostgresServer {
  readonly directory: string;
  readonly version: string;
  readonly bin: string;
  readonly port: number;
  /** Of the superuser in the database `postgres`. */
  readonly url: string;
  readonly #state: ServerState;
  #child: ChildProcess;

  constructor(state: ServerState, child: ChildProcess) {
    ({ directory: this.directory, version: this.version, bin: this.bin, port: this.port } = state);
    this.#state = state;
    this.#child = child;
    this.url = this.urlOf(superuser);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** The address of a database for the superuser, or for a role whose name and password are given. */
  urlOf(database: string, user = superuser, password = this.#state.password): string {
    const [name, secret, place] = [user, password, database].map(encodeURIComponent);
    return `postgres://${name}:${secret}@127.0.0.1:${this.port}/${place}`;
  }

  /** Makes the database unless it is there. Returns its address for the superuser. */
  async createDatabase(name: string): Promise<string> {
    await createDatabase(this.url, name);
    return this.urlOf(name);
  }

  /** Ends all connections and the server in order. */
  async stop(): Promise<void> {
    await this.#end();
    await this.#state.guard.dismiss();
    if (this.#state.isTemporary) rmSync(this.directory, { recursive: true, force: true });
  }

  /** Ends the server and all its processes at once, as a crash does. It can be started again. */
  async kill(): Promise<void> {
    if (!this.#isRunning()) return;
    const exited = exitOf(this.#child);
    // It is halted first: else it would notice that a process of its own is gone, and end the others by itself.
    this.#child.kill('SIGSTOP');
    const children = childrenOf(this.pid);
    for (const pid of children) killIfThere(pid);
    this.#child.kill('SIGKILL');
    await exited;
    while (listProcesses().some(({ pid }) => children.includes(pid))) await sleep(10);
  }

  /** Starts it at the same address, after a stop in order if it runs. */
  async restart(): Promise<void> {
    await this.#end();
    const { place, port, settings = {}, guard } = this.#state;
    this.#child = await startPostmaster(place, port, settings, guard);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async #end(): Promise<void> {
    if (!this.#isRunning()) return;
    const exited = exitOf(this.#child);
    this.#child.kill('SIGINT');
    const timer = setTimeout(() => this.#child.kill('SIGQUIT'), stopGraceMs);
    await exited;
    clearTimeout(timer);
  }
}

/** Resolves when the process is gone; until then it is a reason for this one to live. */
function exitOf(child: ChildProcess): Promise<unknown> {
  child.ref();
  return once(child, 'exit');
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
