import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../support/postgres.ts';
import { databaseBehindLine, openRole, openTroubled, ownServer } from '../support/warehouse-trouble.ts';

const limit = { timeout: 90_000 };

const psql = ['/usr/bin/psql', '/usr/local/bin/psql', '/opt/homebrew/bin/psql'].find((file) =>
  existsSync(file),
);
const noPsql = 'There is no psql on this machine.';

/** Runs a script as an administrator does; the first error ends it. */
function runScript(url: string, script: string): void {
  const flags = ['--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', url];
  execFileSync(psql ?? '', flags, { input: script, stdio: ['pipe', 'ignore', 'pipe'] });
}

describe('a warehouse that an administrator lays out', limit, () => {
  test('A18: is filled and followed by a daemon that has no right to create anything', async ({ skip }) => {
    if (!psql) skip(noPsql);
    const database = await openDatabase();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { name, url } = await openRole(database);
    await database.query(`REVOKE CREATE ON DATABASE ${database.name} FROM ${name}`);
    const { change, expectMended, stage } = await openTroubled({
      database,
      url,
      onDdl: (script) => runScript(database.url, script),
    });
    await change();
    const task = await stage.crm.take('task');
    await stage.crm.trash('task', task.id);
    await expectMended();
    const owned = await database.query(
      `SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE r.rolname = '${name}'`,
    );
    expect(owned).toEqual([]);
  });

  test('A18: says what an administrator has to run again where a table is gone, and writes all of it again after that', async ({
    skip,
  }) => {
    if (!psql) skip(noPsql);
    const database = await openDatabase();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { name, url } = await openRole(database);
    await database.query(`REVOKE CREATE ON DATABASE ${database.name} FROM ${name}`);
    const { change, expectMended, ddl, holds } = await openTroubled({
      database,
      url,
      onDdl: (script) => runScript(database.url, script),
    });
    await database.query('DROP TABLE crm.lead CASCADE');
    await change();
    await holds(/crm\.lead is not there/);
    runScript(database.url, ddl());
    await expectMended();
  });
});

describe('a warehouse that moves', limit, () => {
  test('fault 50: is taken as it is by a server that it was dumped for and restored into, and nothing is written twice', async ({
    skip,
  }) => {
    if (!psql) skip(noPsql);
    const dump = psql?.replace('psql', 'pg_dump') ?? '';
    const source = process.env['TEST_POSTGRES_OLD_BIN'] ?? '/usr/lib/postgresql/15/bin';
    if (!existsSync(`${source}/initdb`)) skip(`There is no PostgreSQL to move from in ${source}.`);
    const [old, next] = [await ownServer({}, source), await ownServer()];
    const { database, line } = await databaseBehindLine(old);
    const { change, expectMended, stage } = await openTroubled({ database });
    await change();
    await stage.settled();
    await stage.engine.stop(5_000);
    const script = execFileSync(dump, ['--no-owner', old.urlOf(database.name)], {
      encoding: 'utf8',
      maxBuffer: 100_000_000,
    });
    const { password } = new URL(old.url);
    const before = stage.side.mirror.feed.lastRun();
    await next.createDatabase(database.name);
    runScript(next.urlOf(database.name), `CREATE ROLE crm_reader; ${script}`);
    runScript(next.url, `ALTER ROLE postgres PASSWORD '${password}'`);
    line.retarget(next.url);
    await stage.restart();
    await change(1);
    await expectMended();
    expect(stage.side.mirror.feed.lastRun()).toBe(before + 1);
    expect(stage.log.lines.filter(({ event }) => event === 'warehouse.went-back')).toEqual([]);
  });
});
