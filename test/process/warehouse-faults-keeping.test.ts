import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startAt, TestDatabase } from '../support/postgres.ts';
import { backUp } from '../support/postgres-standby.ts';
import { until } from '../support/until.ts';
import { openWarehouseEngine } from '../support/warehouse-engine.ts';
import { codesOf, openTroubled, ownServer } from '../support/warehouse-trouble.ts';

const emptyDirectory = (directory: string): void => {
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
};

const limit = { timeout: 90_000 };

describe('tables that are gone', limit, () => {
  test.each([
    ['a table is dropped', 'DROP TABLE crm.lead CASCADE', /crm\.lead is not there/],
    ['the history of a table is dropped', 'DROP TABLE crm_sync.lead_past CASCADE', /lead_past is not there/],
    [
      'a column is dropped',
      'ALTER TABLE crm.lead DROP COLUMN title CASCADE',
      /column crm\.lead\.title is not there/,
    ],
  ])(
    'fault 21: where %s, it is held and named until a user mends it, and all else goes on',
    async (_what, sql, words) => {
      const { change, expectMended, holds, layOutAgain, stage } = await openTroubled();
      await stage.database.query(sql);
      await change();
      const opportunity = await stage.crm.take('opportunity');
      await stage.crm.update('opportunity', opportunity.id, { note: 'All else goes on' });
      await holds(words);
      await stage.shows(
        `SELECT note FROM crm.opportunity WHERE id = ${opportunity.id}`,
        ([row]) => row?.['note'] === 'All else goes on',
      );
      await layOutAgain({ mend: true });
      await expectMended();
    },
  );

  test('fault 21: where the schema is dropped, nothing is written until a user mends it, and then all of it', async () => {
    const { change, expectMended, holds, layOutAgain, stage } = await openTroubled();
    await stage.database.query('DROP SCHEMA crm CASCADE');
    await change();
    await holds(/crm\.lead is not there/);
    await stage.engine.stop(5_000);
    await layOutAgain({ mend: true });
    await stage.restart();
    await expectMended();
  });

  test('fault 21: where the tables that say who keeps it are dropped, a user has to adopt the others', async () => {
    const { change, expectMended, layOutAgain, reports, stage } = await openTroubled();
    await stage.database.query('DROP SCHEMA crm_sync CASCADE');
    await change();
    await reports('WAREHOUSE_KEPT');
    await layOutAgain({ adopt: true });
    await expectMended();
  });

  test('fault 21: where the database is dropped and made again, all of it is written anew', async () => {
    const { change, expectMended, reports, stage } = await openTroubled();
    const { database } = stage;
    const administrator = new TestDatabase(database.server, 'postgres');
    await administrator.query(`DROP DATABASE ${database.name} WITH (FORCE)`);
    await change();
    await reports('WAREHOUSE_NOT_FOUND');
    await administrator.query(`CREATE DATABASE ${database.name}`);
    await expectMended();
    expect(stage.log.lines.map(({ event }) => event)).toContain('warehouse.begun-anew');
  });
});

describe('tables and those who keep them', limit, () => {
  test('fault 25: W15: a second daemon with another mirror is kept out of the same database, and the first goes on', async () => {
    const { change, expectMended, stage } = await openTroubled();
    const rows = await stage.database.query('SELECT * FROM crm_sync.link');
    const second = await openWarehouseEngine({ database: stage.database, word: 'word-2' });
    await second.start();
    await until('the second is kept out', async () => codesOf(second).includes('WAREHOUSE_KEPT'));
    await change();
    await expectMended();
    expect(await stage.database.query('SELECT account, mirror_word FROM crm_sync.link')).toEqual(
      rows.map(({ account, mirror_word }) => ({ account, mirror_word })),
    );
  });

  test('fault 25: W15: a second daemon with another mirror is kept out of a clone of the database', async () => {
    const server = await ownServer();
    const { change, expectMended, stage } = await openTroubled({ server });
    const clone = await startAt(await backUp(server));
    onTestFinished(() => clone.stop());
    const cloned = new TestDatabase(clone, stage.database.name);
    const titles = await cloned.query('SELECT id, title FROM crm.lead ORDER BY id');
    const second = await openWarehouseEngine({ database: cloned, word: 'word-2' });
    await second.start();
    await until('the second is kept out', async () => codesOf(second).includes('WAREHOUSE_KEPT'));
    await change();
    await expectMended();
    expect(await cloned.query('SELECT id, title FROM crm.lead ORDER BY id')).toEqual(titles);
  });

  test('fault 26: where the mirror is lost, tables are left alone until a user adopts them, and then no row is deleted that is not gone', async () => {
    const first = await openTroubled({ counts: { leads: 120, opportunities: 0, tasks: 0 } });
    const { database, model } = first.stage;
    await first.stage.engine.stop(5_000);
    const [trashed] = model.records.leads.live();
    await first.stage.crm.trash('lead', trashed?.id ?? 0);
    await first.change();
    await first.stage.restart('word-2', emptyDirectory);
    await first.reports('WAREHOUSE_KEPT');
    expect(await database.query('SELECT count(*)::int FROM crm.lead')).toEqual([{ count: 120 }]);
    await first.stage.engine.stop(5_000);
    await first.layOutAgain({ adopt: true }, 'word-2');
    // Cycles over the tables come while the CRM is read.
    model.faults.order({ clear: false, faults: [], latencyMs: 80 });
    await first.stage.restart('word-2', emptyDirectory);
    await until('all rows were compared', async () => first.stage.side.lastAudit);
    model.faults.order({ clear: false, faults: [], latencyMs: 0 });
    await first.expectMended();
    expect(
      await database.query("SELECT id::int FROM crm.lead_history WHERE ended IN ('trashed', 'left_out')"),
    ).toEqual([{ id: trashed?.id }]);
    // No row was ever taken for one of a record that is gone only because its record was not read yet.
    const extras = first.stage.log.lines.filter(({ event }) => event === 'warehouse.audited');
    expect(Math.max(...extras.map(({ fields }) => Number(fields['extra'])))).toBe(1);
  });

  test('fault 26: where the mirror is restored from an older copy, all rows are compared', async () => {
    const { change, expectMended, stage } = await openTroubled();
    const copy = mkdtempSync(join(tmpdir(), 'mirror-copy-'));
    onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
    await stage.restart(undefined, (directory) => cpSync(directory, copy, { recursive: true }));
    const made = await stage.crm.create('lead', { title: 'Made after the copy' });
    await change();
    await stage.settled();
    await stage.engine.stop(5_000);
    await stage.crm.trash('lead', made);
    await stage.restart(undefined, (directory) => {
      emptyDirectory(directory);
      cpSync(copy, directory, { recursive: true });
    });
    await expectMended();
    expect(stage.side.lastAudit).toBeDefined();
  });
});
