import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { openDatabase } from '../support/postgres.ts';
import { openEditedEngine } from '../support/warehouse-edits-engine.ts';
import { expectWholeHistory } from '../support/warehouse-history.ts';

/** A daemon and users who all reach the database through a pooler, which gives each transaction any of its connections. */
async function openPooled() {
  const database = await openDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const pooler = await startPgbouncer(database.server);
  onTestFinished(() => pooler[Symbol.asyncDispose]());
  const stage = await openEditedEngine(
    { isNotified: false, deletes: 'ask' },
    { database, url: pooler.through(database.url) },
  );
  const { password, user } = stage.editor;
  return {
    ...stage,
    get engine() {
      return stage.engine;
    },
    /** A session of the editor. */
    async connect(): Promise<Client> {
      const url = database.server.urlOf(database.name, user, password ?? '');
      const client = new Client({ connectionString: pooler.through(url) });
      await client.connect();
      onTestFinished(() => client.end());
      return client;
    },
  };
}

test('fault 44: edits by SQL come to an outcome through a pooler that gives each transaction another connection', {
  timeout: 120_000,
}, async () => {
  const stage = await openPooled();
  const users = await Promise.all(Array.from({ length: 6 }, () => stage.connect()));
  const leads = stage.model.records.leads.live();
  const sent = (method: string) => stage.model.requests().filter((each) => each.method === method).length;
  const before = { PUT: sent('PUT'), POST: sent('POST'), DELETE: sent('DELETE') };
  await Promise.all(
    users.map(async (user, index) => {
      await user.query('UPDATE crm.lead SET title = $1 WHERE id = $2', [
        `By user ${index}`,
        leads[index]?.id,
      ]);
      await user.query('BEGIN');
      await user.query("SET LOCAL crm_sync.bulk = 'on'");
      const { rows } = await user.query('INSERT INTO crm.lead (title) VALUES ($1) RETURNING id', [
        `New ${index}`,
      ]);
      await user.query('INSERT INTO crm.task (title, lead_id) VALUES ($1, $2)', [
        `Task ${index}`,
        rows[0].id,
      ]);
      const own = await user.query('SELECT op FROM crm.edit WHERE xid = pg_current_xact_id()');
      await user.query('COMMIT');
      expect(own.rows).toEqual([{ op: 'I' }, { op: 'I' }]);
    }),
  );
  const outcomes = await stage.decided();
  expect(outcomes.filter(({ state }) => state !== 'done')).toEqual([]);
  expect(outcomes).toHaveLength(3 * users.length);
  const [first] = users;
  await first?.query('DELETE FROM crm.lead WHERE title = $1', ['New 0']);
  await stage.shows(
    "SELECT scope FROM crm.question WHERE scope LIKE 'vanished:%'",
    (rows) => rows.length === 1,
  );
  await first?.query("UPDATE crm.question SET answer = 'trash'");
  await stage.decided();
  await stage.settled();
  expect({
    PUT: sent('PUT') - before.PUT,
    POST: sent('POST') - before.POST,
    DELETE: sent('DELETE') - before.DELETE,
  }).toEqual({ PUT: users.length, POST: 2 * users.length, DELETE: 1 });
  await expectWholeHistory(stage.database);
  const { tables } = await stage.compare();
  expect(tables.filter(({ different, extra, missing }) => different + extra + missing > 0)).toEqual([]);
});
