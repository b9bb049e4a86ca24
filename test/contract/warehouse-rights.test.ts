import { describe, expect, it, onTestFinished } from 'vitest';
import { printDdl } from '../../src/postgres/ddl/print.ts';
import { layOut } from '../../src/postgres/lay-out.ts';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import { openDatabase, type TestDatabase } from '../support/postgres.ts';
import { realClock } from '../support/real-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { batchOf } from '../support/warehouse-database.ts';
import { editableLayout } from '../support/warehouse-editing.ts';
import { customColumn, layoutWith, testKeeper } from '../support/warehouse-layout.ts';
import { openRole } from '../support/warehouse-stage.ts';

/** A login without any right, and a superuser. */
async function openPlain(database: TestDatabase) {
  const admin = await database.connect();
  const role = await openRole(admin, '');
  const daemon = await database.connect(role.name, role.password);
  const removeRoles = async () => {
    await admin.query(
      `DROP SCHEMA IF EXISTS crm, crm_sync CASCADE; DROP OWNED BY ${role.name} CASCADE; DROP ROLE ${role.name}; DROP ROLE IF EXISTS crm_reader, crm_editor`,
    );
  };
  return { admin, daemon, role, [Symbol.asyncDispose]: removeRoles };
}

describe('a daemon without the right to define tables', () => {
  it('finds all in place after an administrator ran what is printed, and can write', async () => {
    await using database = await openDatabase();
    await using plain = await openPlain(database);
    const layout = layoutWith([customColumn("cf_it's")]);
    const sql = printDdl(layout, plain.role.name);
    await plain.admin.query(sql);
    // It may be run again.
    await plain.admin.query(sql);
    expect(await layOut(plain.daemon, layout, testKeeper)).toEqual([]);
    await plain.daemon.query(
      "BEGIN; SET LOCAL crm_sync.run = 'run-1'; INSERT INTO crm.lead (id) VALUES (1); INSERT INTO crm_sync.lead_past (id, valid_from) VALUES (1, now()); INSERT INTO crm_sync.ledger (run, no) VALUES ('run-1', 1); COMMIT",
    );
    await expect(plain.admin.query('DELETE FROM crm.lead')).rejects.toMatchObject({ code: '42501' });
  });

  it('may delete old edits after an administrator ran what is printed', async () => {
    await using database = await openDatabase();
    await using plain = await openPlain(database);
    await plain.admin.query(printDdl(editableLayout(), plain.role.name));
    await plain.admin.query(
      "INSERT INTO crm_sync.edit (entity, id, op, changed, state, ended_at) VALUES ('lead', '1', 'U', '{}', 'done', now() - interval '9 days')",
    );
    const warehouse = createPostgresWarehouse({
      url: database.server.urlOf(database.name, plain.role.name, plain.role.password),
      schema: 'crm',
      keeper: testKeeper,
      hasHistory: true,
      isEditable: true,
      clock: realClock,
      log: createRecordingLog(),
    });
    onTestFinished(() => warehouse.close());
    expect(await warehouse.layOut(editableLayout())).toEqual([]);
    const oldEdits = { days: 8, insertDays: 8, limit: 10 };
    expect(await warehouse.write('run-1', { ...batchOf(0), oldEdits })).toMatchObject({ forgotten: 1 });
  });

  it('fails for the right that is lacking where that was not run', async () => {
    await using database = await openDatabase();
    await using plain = await openPlain(database);
    await expect(layOut(plain.daemon, layoutWith(), testKeeper)).rejects.toMatchObject({ code: '42501' });
  });

  it('holds the table alone whose new column it may not add, until an administrator ran the new script', async () => {
    await using database = await openDatabase();
    await using plain = await openPlain(database);
    await plain.admin.query(printDdl(layoutWith(), plain.role.name));
    const layout = layoutWith([customColumn('cf_new')]);
    const faults = await layOut(plain.daemon, layout, testKeeper);
    expect(faults.filter(({ isHarmless }) => !isHarmless).map(({ entity }) => entity)).toEqual([
      'lead',
      'lead',
    ]);
    await plain.admin.query(printDdl(layout, plain.role.name));
    expect(await layOut(plain.daemon, layout, testKeeper)).toEqual([]);
  });

  it('says which table it may no longer write after a right was taken from it', async () => {
    await using database = await openDatabase();
    await using plain = await openPlain(database);
    await plain.admin.query(printDdl(layoutWith(), plain.role.name));
    await plain.admin.query(`REVOKE UPDATE ON crm.task FROM ${plain.role.name}`);
    expect(await layOut(plain.daemon, layoutWith(), testKeeper)).toEqual([
      {
        entity: 'task',
        isMendable: false,
        words: "The daemon's role lacks the right to read and write crm.task.",
      },
    ]);
  });

  it('lays out without the role for readers where it may not create it, and says so', async () => {
    await using database = await openDatabase();
    await using plain = await openPlain(database);
    await plain.admin.query(`GRANT CREATE ON DATABASE ${database.name} TO ${plain.role.name}`);
    const faults = await layOut(plain.daemon, layoutWith(), testKeeper);
    expect(faults).toEqual([
      expect.objectContaining({
        isHarmless: true,
        words: expect.stringContaining('There is no role crm_reader'),
      }),
    ]);
    await plain.admin.query('CREATE ROLE crm_reader NOLOGIN');
    expect(await layOut(plain.daemon, layoutWith(), testKeeper)).toEqual([]);
    const { rows } = await plain.admin.query(
      "SELECT has_table_privilege('crm_reader', 'crm.lead', 'SELECT') AS may",
    );
    expect(rows).toEqual([{ may: true }]);
  });
});
