import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { openDatabase, startAt, startOwnPostgres } from '../support/postgres.ts';
import { backUp, startStandby } from '../support/postgres-standby.ts';

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

async function run(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = await connect(url);
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const readNames = async (url: string) => (await run(url, 'SELECT name FROM lead')).map(({ name }) => name);

describe('a standby of a PostgreSQL server', () => {
  it('has what its primary commits, and takes writes only when it is promoted', async () => {
    await using primary = await startOwnPostgres();
    const url = await primary.createDatabase('crm');
    await run(url, "CREATE TABLE lead (name text); INSERT INTO lead VALUES ('Ada')");
    await using standby = await startStandby(primary);
    const copy = standby.server.urlOf('crm');
    await run(url, "INSERT INTO lead VALUES ('Bo')");
    await standby.caughtUp();
    expect(await readNames(copy)).toEqual(['Ada', 'Bo']);
    await expect(run(copy, 'DELETE FROM lead')).rejects.toMatchObject({ code: '25006' });
    await standby.cutOff();
    await run(url, "INSERT INTO lead VALUES ('lost')");
    await primary.kill();
    await standby.promote();
    await run(copy, "INSERT INTO lead VALUES ('Cy')");
    expect(await readNames(copy)).toEqual(['Ada', 'Bo', 'Cy']);
  });

  it('can be a backup that is restored later, with what was committed until then', async () => {
    await using server = await startOwnPostgres();
    const url = await server.createDatabase('crm');
    await run(url, "CREATE TABLE lead (name text); INSERT INTO lead VALUES ('Ada')");
    const directory = await backUp(server);
    await run(url, "INSERT INTO lead VALUES ('later')");
    await using restored = await startAt(directory);
    expect(await readNames(restored.urlOf('crm'))).toEqual(['Ada']);
  });
});

describe('a pooler in front of a PostgreSQL server', () => {
  it('lets the transactions of two clients run in one connection of the server', async () => {
    await using database = await openDatabase();
    await using pooler = await startPgbouncer(database.server);
    const clients = await Promise.all([1, 2].map(() => connect(pooler.through(database.url))));
    const pids = new Set<unknown>();
    for (const client of clients) {
      const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
      pids.add(rows[0].pid);
    }
    await Promise.all(clients.map((client) => client.end()));
    expect(pids.size).toBe(1);
  });

  it('knows the roles of the server, and refuses a wrong password', async () => {
    await using database = await openDatabase();
    const analyst = `analyst_${database.name}`;
    await database.query(`CREATE ROLE ${analyst} LOGIN PASSWORD 'open-sesame'`);
    await using pooler = await startPgbouncer(database.server);
    const urlWith = (password: string) =>
      pooler.through(database.server.urlOf(database.name, analyst, password));
    expect(await run(urlWith('open-sesame'), 'SELECT current_user AS name')).toEqual([{ name: analyst }]);
    await expect(connect(urlWith('wrong'))).rejects.toThrow();
    await database.query(`DROP ROLE ${analyst}`);
  });
});
