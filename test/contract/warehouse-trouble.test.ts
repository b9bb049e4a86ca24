import { expect, it, onTestFinished } from 'vitest';
import type { SyncError } from '../../src/core/errors.ts';
import type { WriteBatch } from '../../src/warehouse/port/port.ts';
import { startOwnPostgres } from '../support/postgres.ts';
import { type Fate, openPostgresLine } from '../support/postgres-line.ts';
import { startStandby } from '../support/postgres-standby.ts';
import { until } from '../support/until.ts';
import {
  batchOf,
  keeper,
  noon,
  openWarehouseDatabase,
  opportunities,
  version,
  type WarehouseDatabase,
  type WarehouseDatabaseOptions,
} from '../support/warehouse-database.ts';

async function openStage(options: WarehouseDatabaseOptions = {}) {
  const database = await openWarehouseDatabase(options);
  onTestFinished(() => database[Symbol.asyncDispose]());
  return { database, warehouse: database.open() };
}

/** A daemon whose line to the database a test holds. */
async function openLine(database: WarehouseDatabase) {
  const line = await openPostgresLine(database.url);
  onTestFinished(() => line[Symbol.asyncDispose]());
  return { line, warehouse: database.open({ url: line.through(database.url) }) };
}

const failsWith = (code: SyncError['code']) => expect.objectContaining({ code });

const two = [version(1, { title: 'One' }), version(2, { title: 'Two' })];

/** A batch that needs every kind of statement, after {@link two}. */
const everything: WriteBatch = {
  ...batchOf(
    1,
    {
      rows: [version(1, { title: 'One again' }, noon(3)), version(3, { title: 'Three' })],
      past: [{ ...version(1, { title: 'Between' }, noon(2)), validUntil: noon(3), ended: 'changed' }],
      gone: [{ id: '2', at: noon(3) }],
    },
    { table: opportunities, rows: [version(7, { lead_id: 1 })] },
  ),
  references: {
    pipelines: [{ id: 1, name: 'Sales' }],
    stages: [],
    leadStatuses: [],
    taskStatuses: [],
    taskPriorities: [],
    userNames: [],
    customFields: [],
    at: noon(3),
  },
};

const stateOf = async (database: WarehouseDatabase) => ({
  rows: await database.list('SELECT title FROM crm.lead ORDER BY id'),
  past: await database.list('SELECT title FROM crm_sync.lead_past ORDER BY id, valid_from'),
  opportunities: await database.list('SELECT id FROM crm.opportunity'),
  pipelines: await database.list('SELECT id FROM crm.pipeline'),
  runs: await database.list('SELECT run FROM crm_sync.ledger ORDER BY no'),
});

const before = {
  rows: ['One', 'Two'],
  past: [],
  opportunities: [],
  pipelines: [],
  runs: ['run-1'],
};
const after = {
  rows: ['One again', 'Three'],
  past: ['One', 'Between', 'Two'],
  opportunities: ['7'],
  pipelines: [1],
  runs: ['run-1', 'run-2'],
};

async function terminateBackends({ database, role }: WarehouseDatabase): Promise<void> {
  const own = `FROM pg_stat_activity WHERE usename = '${role}' AND datname = '${database.name}'`;
  await database.query(`SELECT pg_terminate_backend(pid) ${own}`);
  await until('the backends are gone', async () => (await database.query(`SELECT ${own}`)).length === 0);
}

it('a connection that was lost between two calls is made anew by the next one', async () => {
  const { database, warehouse } = await openStage();
  await warehouse.write('run-1', batchOf(0, { rows: two }));
  await terminateBackends(database);
  expect(await warehouse.write('run-2', everything)).toMatchObject({ run: 2, left: [] });
  expect(await stateOf(database)).toEqual(after);
});

it('W9: fault 2: a backend that ends between any two statements of a write leaves nothing of it, and the write can be done again', async () => {
  const { database } = await openStage();
  const { line, warehouse } = await openLine(database);
  await warehouse.write('run-1', batchOf(0, { rows: two }));
  const statements: string[] = [];
  for (let passed = 1; ; passed += 1) {
    let count = 0;
    line.intercept(async (sql): Promise<Fate> => {
      if (count === passed) {
        statements.push(sql.trim());
        await terminateBackends(database);
      }
      count += 1;
      return 'pass';
    });
    const error = await warehouse.write('run-2', everything).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) break;
    const isCommit = statements.at(-1) === 'COMMIT';
    expect(error).toEqual(failsWith(isCommit ? 'WAREHOUSE_UNKNOWN_OUTCOME' : 'WAREHOUSE_UNREACHABLE'));
    line.intercept(undefined);
    expect(await warehouse.findRun('run-2')).toBeUndefined();
    expect(await stateOf(database)).toEqual(before);
  }
  expect(statements.length).toBeGreaterThan(20);
  expect(statements.at(-1)).toBe('COMMIT');
  expect(await stateOf(database)).toEqual(after);
}, 120_000);

/** Does a write whose commit meets the fate, and returns what it failed with. */
async function writeWithCommit(stage: Awaited<ReturnType<typeof openLine>>, fate: Fate): Promise<unknown> {
  stage.line.intercept((sql) => (sql === 'COMMIT' ? fate : 'pass'));
  const error = await stage.warehouse.write('run-1', batchOf(0, { rows: two })).catch((reason) => reason);
  stage.line.intercept(undefined);
  return error;
}

it('W9: fault 3: a commit whose reply is lost is found, and one that never arrived is not', async () => {
  const { database } = await openStage();
  const stage = await openLine(database);
  expect(await writeWithCommit(stage, 'cut')).toEqual(failsWith('WAREHOUSE_UNKNOWN_OUTCOME'));
  expect(await stage.warehouse.findRun('run-1')).toBeUndefined();
  expect(await writeWithCommit(stage, 'cutReply')).toEqual(failsWith('WAREHOUSE_UNKNOWN_OUTCOME'));
  expect(await stage.warehouse.findRun('run-1')).toBe(1);
  expect((await stateOf(database)).rows).toEqual(['One', 'Two']);
});

it('a commit on a line that falls silent is given up before the lease may end', async () => {
  const { database } = await openStage();
  const line = await openPostgresLine(database.url);
  onTestFinished(() => line[Symbol.asyncDispose]());
  const fence = { sureMs: () => 2_000 };
  const warehouse = database.open({ url: line.through(database.url), fence });
  expect(await writeWithCommit({ line, warehouse }, 'silence')).toEqual(
    failsWith('WAREHOUSE_UNKNOWN_OUTCOME'),
  );
  expect(await database.open().findRun('run-1')).toBeUndefined();
});

/** Commits of leads wait for a lock that the test holds. */
async function holdCommits(database: WarehouseDatabase) {
  const holder = await database.database.connect();
  await holder.query('SELECT pg_advisory_lock(1)');
  await database.query(`
    CREATE FUNCTION public.wait_at_commit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = 0 AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON crm.lead DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION public.wait_at_commit()`);
  return () => holder.query('SELECT pg_advisory_unlock(1)');
}

const waitsFor = (database: WarehouseDatabase, locktype: string) =>
  until(`a backend waits for a lock of the type ${locktype}`, async () => {
    const sql = `SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
                  WHERE NOT granted AND locktype = '${locktype}' AND datname = '${database.database.name}'`;
    return (await database.query(sql)).length > 0;
  });

it('fault 4: a backend that still works on its commit is waited for', async () => {
  const { database } = await openStage();
  const stage = await openLine(database);
  const release = await holdCommits(database);
  expect(await writeWithCommit(stage, 'cutReply')).toEqual(failsWith('WAREHOUSE_UNKNOWN_OUTCOME'));
  await waitsFor(database, 'advisory');
  const found = stage.warehouse.findRun('run-1');
  await waitsFor(database, 'transactionid');
  await release();
  expect(await found).toBe(1);
});

it('fault 6: under a default of SERIALIZABLE a write sees what was committed while it waited', async () => {
  const { database, warehouse } = await openStage({
    defaults: { default_transaction_isolation: "'serializable'" },
  });
  const other = await database.database.connect();
  await other.query('BEGIN; UPDATE crm_sync.link SET run_no = run_no + 1');
  const written = warehouse.write('run-1', batchOf(0, { rows: two })).catch((reason: unknown) => reason);
  await waitsFor(database, 'transactionid');
  await other.query('COMMIT');
  expect(await written).toEqual(failsWith('WAREHOUSE_WENT_BACK'));
});

it('W15: another mirror, a later process and a database that went back are each kept apart', async () => {
  const { database, warehouse } = await openStage();
  await warehouse.write('run-1', batchOf(0, { rows: two }));
  const other = database.open({ keeper: { ...keeper, word: 'mirror-2' } });
  await expect(other.write('run-2', batchOf(1))).rejects.toEqual(failsWith('WAREHOUSE_KEPT'));
  await expect(other.touch([])).rejects.toEqual(failsWith('WAREHOUSE_KEPT'));
  const later = database.open({ keeper: { ...keeper, token: 2 } });
  await later.write('run-2', batchOf(1));
  await expect(warehouse.write('run-3', batchOf(2))).rejects.toEqual(failsWith('WAREHOUSE_KEPT'));
  await expect(warehouse.touch([])).rejects.toEqual(failsWith('WAREHOUSE_KEPT'));
  await database.query('UPDATE crm_sync.link SET run_no = 1');
  await expect(later.write('run-3', batchOf(2))).rejects.toEqual(failsWith('WAREHOUSE_WENT_BACK'));
  expect(await later.touch([])).toBe(1);
});

it('W15: nothing is committed once the right to run the link has run out', async () => {
  const { database } = await openStage();
  const sureTimes = [60_000, 0];
  const warehouse = database.open({ fence: { sureMs: () => sureTimes.shift() ?? 60_000 } });
  await expect(warehouse.write('run-1', batchOf(0, { rows: two }))).rejects.toEqual(failsWith('LEASE_ENDED'));
  expect((await stateOf(database)).runs).toEqual([]);
  expect(await warehouse.write('run-1', batchOf(0, { rows: two }))).toMatchObject({ run: 1 });
});

it('W12: fault 7: a row that a user holds is left with who holds it, and all others are written', async () => {
  const { database, warehouse } = await openStage();
  await warehouse.write('run-1', batchOf(0, { rows: two }));
  const user = await database.database.connect();
  const { rows } = await user
    .query('BEGIN; SELECT pg_backend_pid() AS pid FROM crm.lead WHERE id = 1 FOR UPDATE' as string)
    .then((results) => (Array.isArray(results) ? results.at(-1) : results));
  const changed = [1, 2].map((id) => version(id, { title: 'Changed' }, noon(2)));
  const reply = await warehouse.write('run-2', batchOf(1, { rows: changed }));
  expect(reply.left).toEqual([
    {
      entity: 'lead',
      id: '1',
      why: 'locked',
      words: expect.stringMatching(`^Process ${rows[0].pid} of postgres .*holds the row`),
    },
  ]);
  await database.query(`GRANT pg_read_all_stats TO ${database.role}`);
  const gone = batchOf(2, { gone: [{ id: '1', at: noon(3) }] });
  const second = await warehouse.write('run-3', gone);
  expect(second.left[0]?.words).toMatch(/in a transaction since 20\d\d-.*Z\.$/);
  const state = await stateOf(database);
  expect([state.rows, state.past]).toEqual([['One', 'Changed'], ['Two']]);
  await user.query('ROLLBACK');
  expect((await warehouse.write('run-4', { ...gone, after: 3 })).left).toEqual([]);
});

it('a row that several hold is left as well, and one that a foreign key points to is written', async () => {
  const { database, warehouse } = await openStage();
  await warehouse.write('run-1', batchOf(0, { rows: two }));
  const users = [await database.database.connect(), await database.database.connect()];
  for (const user of users)
    await user.query(
      'BEGIN; SELECT FROM crm.lead WHERE id = 1 FOR SHARE; SELECT FROM crm.lead WHERE id = 2 FOR KEY SHARE',
    );
  const changed = [1, 2].map((id) => version(id, { title: 'Changed' }, noon(2)));
  const { left } = await warehouse.write('run-2', batchOf(1, { rows: changed }));
  expect(left).toEqual([
    { entity: 'lead', id: '1', why: 'locked', words: 'A transaction of others holds the row.' },
  ]);
});

it('W12: fault 8: users who lock rows in the other order end in no cycle with a write', async () => {
  const { database } = await openStage();
  const { line, warehouse } = await openLine(database);
  const three = [1, 2, 3].map((id) => version(id, { title: `Lead ${id}` }));
  await warehouse.write('run-1', batchOf(0, { rows: three }));
  const user = await database.database.connect();
  await user.query('BEGIN; SELECT FROM crm.lead WHERE id = 3 FOR UPDATE');
  const waited = Promise.withResolvers<unknown>();
  line.intercept(async (sql): Promise<Fate> => {
    if (sql !== 'COMMIT') return 'pass';
    waited.resolve(user.query('SELECT title FROM crm.lead WHERE id = 1 FOR UPDATE'));
    await waitsFor(database, 'transactionid');
    return 'pass';
  });
  const changed = three.map(({ id }) => version(id, { title: 'Changed' }, noon(2)));
  const { left } = await warehouse.write('run-2', batchOf(1, { rows: changed }));
  expect(left.map(({ id, why }) => [id, why])).toEqual([['3', 'locked']]);
  expect(await waited.promise.then((result) => result)).toMatchObject({ rows: [{ title: 'Changed' }] });
});

it('W12: fault 9: a table that a user locks is written later', async () => {
  const { database, warehouse } = await openStage();
  const user = await database.database.connect();
  await user.query('BEGIN; LOCK TABLE crm.lead IN SHARE MODE');
  const batch = batchOf(0, { rows: two });
  await expect(warehouse.write('run-1', batch)).rejects.toEqual(failsWith('WAREHOUSE_BUSY'));
  await user.query('ROLLBACK; BEGIN; ALTER TABLE crm.lead ADD COLUMN theirs text');
  await expect(warehouse.write('run-1', batch)).rejects.toEqual(failsWith('WAREHOUSE_BUSY'));
  await user.query('COMMIT');
  expect(await warehouse.write('run-1', batch)).toMatchObject({ run: 1, left: [] });
});

it('fault 27: rights that are taken away are named, and given back all goes on', async () => {
  const { database, warehouse } = await openStage();
  const batch = batchOf(0, { rows: two });
  for (const right of ['SELECT ON crm.lead', 'INSERT ON crm.lead', 'USAGE ON SCHEMA crm']) {
    await database.query(`REVOKE ${right} FROM ${database.role}`);
    await expect(warehouse.write('run-1', batch)).rejects.toEqual(failsWith('WAREHOUSE_FORBIDDEN'));
    await database.query(`GRANT ${right} TO ${database.role}`);
  }
  expect(await warehouse.write('run-1', batch)).toMatchObject({ run: 1, left: [] });
});

it('a login that is refused has another code than a server that is full, and neither shows the password', async () => {
  const { database } = await openStage();
  const warehouse = database.open({ url: database.directUrl });
  const failure = () => warehouse.meet().then(String, (error: unknown) => error as SyncError);
  for (const [change, code] of [
    ["PASSWORD 'another'", 'WAREHOUSE_UNAUTHORIZED'],
    ["PASSWORD 'of-the-daemon' NOLOGIN", 'WAREHOUSE_UNAUTHORIZED'],
    ['LOGIN CONNECTION LIMIT 0', 'WAREHOUSE_BUSY'],
  ] as const) {
    await database.query(`ALTER ROLE ${database.role} ${change}`);
    const error = await failure();
    expect(error).toEqual(failsWith(code));
    expect(JSON.stringify([error, String(error), (error as SyncError).stack])).not.toContain('of-the-daemon');
  }
  await database.query(`ALTER ROLE ${database.role} CONNECTION LIMIT -1`);
  expect(await warehouse.meet()).toMatchObject({ keeper: 'own' });
});

it('fault 30: a transaction with an old snapshot sees the rows of then and keeps no write waiting', async () => {
  const { database, warehouse } = await openStage();
  await warehouse.write('run-1', batchOf(0, { rows: two }));
  const user = await database.database.connect();
  await user.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const titles = async () => (await user.query('SELECT title FROM crm.lead ORDER BY id')).rows;
  const seen = await titles();
  for (let run = 2; run < 12; run += 1)
    await warehouse.write(
      `run-${run}`,
      batchOf(run - 1, { rows: [version(1, { title: `${run}` }, noon(run))] }),
    );
  expect(await titles()).toEqual(seen);
});

it('the clock of the database orders nothing', async () => {
  const { database, warehouse } = await openStage();
  const setBack = (interval: string) =>
    database.query(
      `ALTER TABLE crm_sync.ledger ALTER at SET DEFAULT clock_timestamp() + interval '${interval}'`,
    );
  for (const [index, interval] of ['1 hour', '-1 hour', '-2 days'].entries()) {
    await setBack(interval);
    const row = version(1, { title: `Title ${index + 1}` }, noon(index + 1));
    await warehouse.write(`run-${index + 1}`, batchOf(index, { rows: [row] }));
  }
  expect(await warehouse.findRun('run-1')).toBe(1);
  expect(await warehouse.meet()).toMatchObject({ lastRun: 3 });
  expect(await stateOf(database)).toMatchObject({ rows: ['Title 3'], past: ['Title 1', 'Title 2'] });
});

it('a standby is reported as one that can only be read, and takes writes once it is promoted', async () => {
  const server = await startOwnPostgres({ wal_level: 'replica', max_wal_senders: 2 });
  onTestFinished(() => server.stop());
  const { database, warehouse } = await openStage({ server });
  await warehouse.write('run-1', batchOf(0, { rows: two }));
  const standby = await startStandby(server);
  onTestFinished(() => standby[Symbol.asyncDispose]());
  await standby.caughtUp();
  const url = new URL(database.directUrl);
  url.port = String(standby.server.port);
  const moved = database.open({ url: url.href });
  expect(await moved.meet()).toMatchObject({ isReadOnly: true, keeper: 'own', lastRun: 1 });
  await expect(moved.write('run-2', everything)).rejects.toEqual(failsWith('WAREHOUSE_READ_ONLY'));
  await expect(moved.touch([])).rejects.toEqual(failsWith('WAREHOUSE_READ_ONLY'));
  await standby.cutOff();
  await warehouse.write('run-2', batchOf(1));
  await standby.promote();
  await expect(moved.write('run-3', { ...everything, after: 2 })).rejects.toEqual(
    failsWith('WAREHOUSE_WENT_BACK'),
  );
  expect(await moved.findRun('run-2')).toBeUndefined();
});
