import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { listWaiting } from '../../src/sync/status.ts';
import { realClock } from '../support/real-clock.ts';
import { until } from '../support/until.ts';
import { openWarehouseEngine } from '../support/warehouse-engine.ts';
import { expectWholeHistory } from '../support/warehouse-history.ts';

const limit = { timeout: 60_000 };

describe('a link with a warehouse', limit, () => {
  test('W10: fills the tables with all records of the CRM, and follows what is changed, made and trashed there', async () => {
    const stage = await openWarehouseEngine();
    await stage.start();
    await stage.settled();
    const [lead, task] = [await stage.crm.take('lead'), await stage.crm.take('task')];
    await stage.crm.update('lead', lead.id, { title: 'Renamed in the CRM' });
    await stage.crm.trash('task', task.id);
    const made = await stage.crm.create('lead', { title: 'New in the CRM' });
    await stage.settled();
    expect(stage.engine.listProblems()).toEqual([]);
    const history = await stage.database.query(
      'SELECT title, valid_until IS NULL AS is_live, ended FROM crm.lead_history WHERE id = $1 ORDER BY valid_from',
      [lead.id],
    );
    expect(history).toEqual([
      { title: lead.title, is_live: false, ended: 'changed' },
      { title: 'Renamed in the CRM', is_live: true, ended: null },
    ]);
    const ended = await stage.database.query('SELECT ended FROM crm.task_history WHERE id = $1', [task.id]);
    expect(ended).toEqual([{ ended: 'trashed' }]);
    const [row] = await stage.database.query('SELECT made_by, valid_after FROM crm.lead WHERE id = $1', [
      made,
    ]);
    expect(row).toEqual({ made_by: 'crm', valid_after: null });
    await expectWholeHistory(stage.database);
  });

  test('W8: asks nothing of the database while nothing changes', async () => {
    const stage = await openWarehouseEngine({ terms: { freshnessMs: 0 } });
    await stage.start();
    await stage.settled();
    await stage.compared();
    const before = stage.calls();
    await stage.swept(5);
    expect(stage.calls()).toBe(before);
  });

  test('has nothing to do with changes of records of which it has no table, until it gets one', async () => {
    const entities = ['lead', 'opportunity'] as const;
    const stage = await openWarehouseEngine({ terms: { entities, freshnessMs: 0 } });
    await stage.start();
    await stage.swept(3);
    await until('all is written', async () => stage.side.report?.hasWork === false);
    expect(stage.side.pace.pollMs).toBe(60_000);
    stage.mirror.setFollowers(['warehouse'], ['task']);
    expect(stage.side.mirror.feed.countDue()).toEqual({ task: 8 });
  });

  test('says of each table how fresh it is, since when all is known, and how many records there are', async () => {
    const stage = await openWarehouseEngine();
    await stage.start();
    await stage.settled();
    const rows = await stage.shows(
      'SELECT entity, records::int, rows::int, state, note, list_read_at <= written_at AS is_read FROM crm.freshness ORDER BY entity',
      (found) => found.length === 3 && found.every(({ state }) => state === 'fresh'),
    );
    expect(rows).toEqual([
      { entity: 'lead', records: 12, rows: 12, state: 'fresh', note: '', is_read: true },
      { entity: 'opportunity', records: 6, rows: 6, state: 'fresh', note: '', is_read: true },
      { entity: 'task', records: 8, rows: 8, state: 'fresh', note: '', is_read: true },
    ]);
  });

  test('W6: deletes no row of a table once too many of its records are gone, until a user approves', async () => {
    const stage = await openWarehouseEngine({ counts: { leads: 20, opportunities: 0, tasks: 0 } });
    await stage.start();
    await stage.settled();
    await stage.engine.stop(5_000);
    const leads = stage.model.records.leads.live().slice(0, 8);
    for (const { id } of leads) await stage.crm.trash('lead', id);
    await stage.restart();
    const scope = 'brake:lead:rows';
    const asked = await until('the brake asks', async () =>
      listWaiting(stage.engine).find((item) => item.scope === scope),
    );
    expect(asked.what).toMatch(
      /of \d+ records are gone from the CRM.*; 5 rows of the warehouse may be deleted/,
    );
    const [{ count = '' } = {}] = await stage.database.query('SELECT count(*) FROM crm.lead');
    // Up to the limit they go as they are proven gone.
    expect(Number(count)).toBeGreaterThanOrEqual(15);
    await stage.answer(scope, 'approve');
    await stage.settled();
    expect(
      await stage.database.query("SELECT count(*)::int FROM crm.lead_history WHERE ended = 'trashed'"),
    ).toEqual([{ count: 8 }]);
    expect(listWaiting(stage.engine)).toEqual([]);
    expect(stage.side.mirror.readDecisions()).toEqual([]);
  });

  test('goes on with a table that a user broke and mended, without a restart', async () => {
    let leapMs = 0;
    const clock = { ...realClock, monotonicMs: () => realClock.monotonicMs() + leapMs };
    const stage = await openWarehouseEngine({ clock });
    await stage.start();
    await stage.settled();
    await stage.database.query(
      'ALTER TABLE crm.lead DISABLE TRIGGER crm_guard; ALTER TABLE crm.lead RENAME title TO mine',
    );
    const lead = await stage.crm.take('lead');
    await stage.crm.update('lead', lead.id, { title: 'Renamed in the CRM' });
    await until('the table is held', async () => stage.engine.found.holds.length > 0);
    await stage.database.query('ALTER TABLE crm.lead RENAME mine TO title');
    leapMs = 2_000;
    await stage.settled();
    expect(stage.engine.found.holds).toEqual([]);
    const guards =
      "SELECT tgenabled FROM pg_trigger WHERE tgrelid = 'crm.lead'::regclass AND tgname = 'crm_guard'";
    expect(await stage.database.query(guards)).toEqual([{ tgenabled: 'A' }]);
    await stage.database.query('ALTER TABLE crm.lead DISABLE TRIGGER crm_guard');
    await stage.compare();
    expect(await stage.database.query(guards)).toEqual([{ tgenabled: 'A' }]);
  });

  test('counts the rows of a database that went back, in which many are written again', async () => {
    const stage = await openWarehouseEngine();
    await stage.start();
    await stage.settled();
    await stage.compared();
    await stage.database.query(
      `ALTER TABLE crm.lead DISABLE TRIGGER crm_guard; DELETE FROM crm.lead; ALTER TABLE crm.lead ENABLE ALWAYS TRIGGER crm_guard;
       UPDATE crm_sync.link SET run_no = 0; DELETE FROM crm_sync.ledger`,
    );
    await stage.settled();
    const rows = { lead: 12, opportunity: 6, task: 8 };
    await until('the rows are counted', async () => isDeepStrictEqual(stage.side.countRows(), rows), {
      describe: async () => JSON.stringify(stage.side.countRows()),
    });
  });

  test('writes all that a plan says, however long that takes', async () => {
    let passedMs = 0;
    const stage = await openWarehouseEngine({
      link: { isManual: true },
      counts: { leads: 1_100, opportunities: 3, tasks: 3 },
      clock: { ...realClock, monotonicMs: () => performance.now() + passedMs },
      wrap: (warehouse) =>
        new Proxy(warehouse, {
          get(target, name) {
            passedMs += 11_000;
            return Reflect.get(target, name);
          },
        }),
    });
    await stage.start();
    await until('all is read', async () => stage.due() === 1_106);
    const [plan] = await stage.engine.plans();
    expect(await stage.engine.apply(plan?.run ?? '')).toEqual([]);
    expect(stage.due()).toBe(0);
  });

  test('writes every row that can be written among many that a constraint of a user refuses', async () => {
    const stage = await openWarehouseEngine({ counts: { leads: 160, opportunities: 0, tasks: 0 } });
    await stage.start();
    await stage.settled();
    await stage.database.query(
      'ALTER TABLE crm.lead DISABLE TRIGGER crm_guard; DELETE FROM crm.lead; ALTER TABLE crm.lead ADD CHECK (id % 4 = 0); ALTER TABLE crm.lead ENABLE ALWAYS TRIGGER crm_guard',
    );
    stage.side.mirror.feed.noteAllDue();
    const good = stage.model.records.leads.live().filter(({ id }) => id % 4 === 0).length;
    await stage.shows('SELECT count(*)::int AS rows FROM crm.lead', ([row]) => row?.['rows'] === good);
    await until('all others wait', async () => stage.side.mirror.feed.readStuck(1).count === 160 - good);
  });

  test('writes nothing before a plan is applied, where plans are applied by hand', async () => {
    const stage = await openWarehouseEngine({ link: { isManual: true } });
    await stage.start();
    await until('all is read', async () => stage.due() === 26);
    expect(await stage.database.query("SELECT 1 FROM pg_namespace WHERE nspname = 'crm'")).toEqual([]);
    const [plan] = await stage.engine.plans();
    expect(plan).toMatchObject({ records: { lead: 12, opportunity: 6, task: 8 }, deletes: {} });
    expect(await stage.engine.apply(plan?.run ?? '')).toEqual([]);
    await stage.settled();
    const lead = await stage.crm.take('lead');
    await stage.crm.update('lead', lead.id, { title: 'Renamed in the CRM' });
    await until('the change is read', async () => stage.due() === 1);
    expect(await stage.engine.apply(plan?.run ?? '')).toBeUndefined();
    expect(await stage.database.query('SELECT title FROM crm.lead WHERE id = $1', [lead.id])).toEqual([
      { title: lead.title },
    ]);
  });
});
