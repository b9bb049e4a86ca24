import { randomBytes } from 'node:crypto';
import { chownSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { neverSetBack } from '../../src/app/clock.ts';
import { serverAccount } from '../../src/sandbox/postgres/account.ts';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { openDatabase } from '../support/postgres.ts';
import { openPostgresLine } from '../support/postgres-line.ts';
import { realClock } from '../support/real-clock.ts';
import { findDiskProblem, openSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';
import { editTerms } from '../support/warehouse-edits-engine.ts';
import type { WarehouseEngine } from '../support/warehouse-engine.ts';
import { openRole, openTroubled, ownServer } from '../support/warehouse-trouble.ts';

const limit = { timeout: 90_000 };

/** All that the daemon has said, and what it keeps on its disk. */
const shownBy = ({ directory, engine, log, side }: WarehouseEngine): string => {
  const fields = log.lines.map((line) =>
    Object.values(line.fields).map((value) => inspect(value, { depth: 9 })),
  );
  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'));
  return [
    JSON.stringify([log.lines, fields, engine.listProblems(), engine.found, side.report]),
    ...files,
  ].join();
};

describe('a warehouse that refuses the daemon', limit, () => {
  test('fault 28: says what is wrong with the login, shows the password nowhere, and goes on once it is mended', async () => {
    const database = await openDatabase();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { name, password, url } = await openRole(database);
    const { change, expectMended, reports, stage } = await openTroubled({ database, url });
    const refuse = async (sql: string, code: string) => {
      await database.query(`ALTER ROLE ${name} ${sql}`);
      await database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`,
      );
      await change();
      await reports(code);
      await database.query(`ALTER ROLE ${name} LOGIN PASSWORD '${password}' CONNECTION LIMIT -1`);
      await stage.settled();
    };
    await refuse("PASSWORD 'another'", 'WAREHOUSE_UNAUTHORIZED');
    await refuse('NOLOGIN', 'WAREHOUSE_UNAUTHORIZED');
    await refuse('CONNECTION LIMIT 0', 'WAREHOUSE_BUSY');
    await database.query(`ALTER ROLE ${name} RENAME TO ${name}_gone`);
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database.name}' AND pid <> pg_backend_pid()`,
    );
    await change();
    await reports('WAREHOUSE_UNAUTHORIZED');
    await database.query(
      `ALTER ROLE ${name}_gone RENAME TO ${name}; ALTER ROLE ${name} PASSWORD '${password}'`,
    );
    await expectMended();
    expect(shownBy(stage)).toContain('WAREHOUSE_UNAUTHORIZED');
    expect(shownBy(stage)).not.toContain(password);
  });

  test('fault 28: waits where all connections of the server are taken, and goes on once one is free', async () => {
    const server = await ownServer({ max_connections: 12, superuser_reserved_connections: 4 });
    const database = await openDatabase(server);
    const { name, url } = await openRole(database);
    // It asks nothing while nothing changes, so it does not take a connection back before all are taken.
    const { change, expectMended, reports, stage } = await openTroubled({
      database,
      url,
      terms: { freshnessMs: 0 },
    });
    await stage.compared();
    await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`);
    const others: Client[] = [];
    for (let isFull = false; !isFull; ) {
      const client = new Client({ connectionString: url });
      client.on('error', () => undefined);
      isFull = await client.connect().then(
        () => others.push(client) < 0,
        () => true,
      );
    }
    await change();
    await reports('WAREHOUSE_BUSY');
    await Promise.all(others.map((client) => client.end()));
    await expectMended();
  });

  test('fault 29: waits where the disk of the database is full, and goes on once there is room', async ({
    skip,
  }) => {
    const problem = findDiskProblem();
    if (problem) skip(`No small disk can be had here: ${problem}`);
    const disk = openSmallDisk(8);
    onTestFinished(() => disk.remove());
    const account = serverAccount();
    if (account) chownSync(disk.directory, account.uid, account.gid);
    const server = await ownServer();
    const { expectMended, reports, stage } = await openTroubled({ server });
    await stage.database.query(`CREATE TABLESPACE small LOCATION '${disk.directory}'`);
    await stage.database.query('ALTER TABLE crm.task SET TABLESPACE small');
    disk.fill();
    // No page of the table has room for these, and they cannot be made shorter.
    for (const { id } of stage.model.records.tasks.live())
      await stage.crm.update('task', id, { description: randomBytes(3_000).toString('base64') });
    await reports('WAREHOUSE_FULL');
    const lead = await stage.crm.take('lead');
    await stage.crm.update('lead', lead.id, { title: 'Meanwhile' });
    disk.free();
    await expectMended();
  });
});

describe('a warehouse with things of its users', limit, () => {
  test('fault 42: a row that a foreign key of theirs points to stays after its record was trashed, says which table, and goes with the reference', async () => {
    const { expectMended, holds, stage } = await openTroubled();
    const [lead] = stage.model.records.leads.live();
    await stage.database.query(
      `CREATE TABLE public.visit (lead_id bigint CONSTRAINT visited REFERENCES crm.lead);
       INSERT INTO public.visit VALUES (${lead?.id})`,
    );
    await stage.crm.trash('lead', lead?.id ?? 0);
    const hold = await holds(/"visit"/);
    expect(hold).toMatchObject({ entity: 'lead', id: String(lead?.id) });
    const other = await stage.crm.take('lead');
    await stage.crm.update('lead', other.id, { title: 'All else goes on' });
    await stage.shows(
      `SELECT title FROM crm.lead WHERE id = ${other.id}`,
      ([row]) => row?.['title'] === 'All else goes on',
    );
    expect(await stage.database.query(`SELECT id::int FROM crm.lead WHERE id = ${lead?.id}`)).toHaveLength(1);
    await stage.database.query('DELETE FROM public.visit');
    await expectMended();
    expect(stage.engine.found.holds).toEqual([]);
  });
});

describe('a warehouse in a place of its own kind', limit, () => {
  test('fault 44: is filled, followed and compared through a pooler that gives each transaction another connection', async () => {
    const server = await ownServer();
    const pooler = await startPgbouncer(server);
    onTestFinished(() => pooler[Symbol.asyncDispose]());
    const database = await openDatabase(server);
    const { url } = await openRole(database);
    const { change, expectMended, stage } = await openTroubled({
      database,
      url: pooler.through(url),
      counts: { leads: 1_200, opportunities: 6, tasks: 8 },
    });
    for (let round = 0; round < 5; round += 1) {
      await change();
      await stage.settled();
    }
    const task = await stage.crm.take('task');
    await stage.crm.trash('task', task.id);
    await expectMended();
  });

  test('fault 46: orders nothing by clocks: the one of its machine is set back and ahead of that of the database, and its history is whole', async () => {
    let offMs = 0;
    const { monotonicMs } = realClock;
    const now = neverSetBack(() => realClock.now() + offMs, monotonicMs);
    const { change, expectMended, stage } = await openTroubled({ clock: { ...realClock, now } });
    for (const hours of [-1, 1, 0, 2]) {
      offMs = hours * 3_600_000;
      await change();
      await stage.settled();
    }
    await expectMended();
    const [lead] = stage.model.records.leads.live();
    const rows = await stage.database.query(
      'SELECT title FROM crm.lead_history WHERE id = $1 ORDER BY valid_from',
      [lead?.id],
    );
    expect(rows.map(({ title }) => title)).toEqual([
      expect.anything(),
      ...[1, 2, 3, 4].map((round) => `Changed ${round}`),
    ]);
  });

  test.each([
    ['', undefined],
    [', also where users edit the tables', editTerms],
  ])(
    'A19: says nothing to an idle database but how fresh it is, once in each period%s',
    async (_where, editing) => {
      const database = await openDatabase();
      onTestFinished(() => database[Symbol.asyncDispose]());
      const line = await openPostgresLine(database.url);
      onTestFinished(() => line[Symbol.asyncDispose]());
      const { stage } = await openTroubled({
        database,
        url: line.through(database.url),
        terms: { freshnessMs: 1_000, ...(editing ? { editing } : {}) },
      });
      await stage.compared();
      await stage.settled();
      const seen: string[] = [];
      line.intercept((sql) => {
        seen.push(sql);
        return 'pass';
      });
      const begunAt = performance.now();
      await until('freshness was written four times', async () => seen.length >= 4);
      const periods = Math.ceil((performance.now() - begunAt) / 1_000);
      expect(seen.length).toBeLessThanOrEqual(periods + 1);
      expect(seen.filter((sql) => !sql.includes('"freshness"'))).toEqual([]);
    },
  );
});
