import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Client } from 'pg';
import { type PostgresServer, playSettings, startPostgres } from '../../src/sandbox/postgres/server.ts';
import { findFreePort } from './free-port.ts';

/** A server of the test's own, for one that kills or restarts it; it is removed when it is stopped. */
export async function startOwnPostgres(
  settings: Readonly<Record<string, string | number>> = {},
  bin?: string,
): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'postgres-'));
  return startAt(directory, settings, bin);
}

/** As `startOwnPostgres`, in a directory that may have a cluster already. */
export async function startAt(
  directory: string,
  settings: Readonly<Record<string, string | number>> = {},
  bin = process.env['TEST_POSTGRES_BIN'],
): Promise<PostgresServer> {
  return startPostgres({
    directory,
    ...(bin ? { bin } : {}),
    port: await findFreePort(),
    settings: { ...playSettings, ...settings },
    isTemporary: true,
  });
}

let shared: Promise<PostgresServer> | undefined;

/** The server of all tests of this worker: started by the first that needs it, it ends with the worker. */
export const sharedPostgres = (): Promise<PostgresServer> => {
  shared ??= startOwnPostgres();
  return shared;
};

let databaseCount = 0;

/** A database of a test's own with its clients; all of it ends with the test. */
export class TestDatabase {
  readonly name: string;
  /** For the superuser, who owns the database. */
  readonly url: string;
  readonly server: PostgresServer;
  readonly #clients = new Set<Client>();

  constructor(server: PostgresServer, name: string) {
    this.server = server;
    this.name = name;
    this.url = server.urlOf(name);
  }

  /** A connection of its own: of the superuser, or of the role whose name and password are given. */
  async connect(user?: string, password?: string): Promise<Client> {
    const client = new Client({ connectionString: this.server.urlOf(this.name, user, password) });
    // A connection that a test cuts says so in the query that meets it.
    client.on('error', () => undefined);
    await client.connect();
    this.#clients.add(client);
    return client;
  }

  /** Rows of one statement of the superuser, in a connection of its own. */
  async query(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = await this.connect();
    try {
      return (await client.query(sql, [...values])).rows;
    } finally {
      await client.end();
      this.#clients.delete(client);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#clients].map((client) => client.end().catch(() => undefined)));
    await dropDatabase(this.server.url, this.name);
  }
}

/** An empty database on the worker's server, or on one of the test's own. */
export async function openDatabase(server?: PostgresServer): Promise<TestDatabase> {
  const home = server ?? (await sharedPostgres());
  databaseCount += 1;
  const database = new TestDatabase(home, `test_${databaseCount}`);
  await home.createDatabase(database.name);
  return database;
}

async function dropDatabase(url: string, name: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`DROP DATABASE IF EXISTS ${client.escapeIdentifier(name)} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}
