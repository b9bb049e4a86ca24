import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { inspect } from '../../src/postgres/inspect.ts';
import { layOut } from '../../src/postgres/lay-out.ts';
import { openDatabase } from '../support/postgres.ts';
import { customColumn, layoutWith, testKeeper } from '../support/warehouse-layout.ts';
import { openWarehouse } from '../support/warehouse-stage.ts';

/** Which of the texts that a client sends while the work runs change what the database has. */
async function changesDuring(client: Client, work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  const own = client.query;
  client.query = ((...words: Parameters<typeof own>) => {
    sent.push(String(words[0]));
    return Reflect.apply(own, client, words);
  }) as typeof own;
  try {
    await work();
  } finally {
    client.query = own;
  }
  return sent.filter((text) => /^\s*(CREATE|ALTER|DROP|COMMENT|GRANT|INSERT|UPDATE|DO|DELETE)\b/m.test(text));
}

async function openClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

const columnsOf = async (client: Client, relation: string): Promise<string[]> => {
  const { rows } = await client.query(
    'SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum',
    [relation],
  );
  return rows.map(({ attname }) => attname);
};

describe('laying out', () => {
  it('makes all tables and views, and finds nothing wrong with them', async () => {
    await using stage = await openWarehouse();
    expect(await stage.layOut()).toEqual([]);
    expect(await inspect(stage.daemon, layoutWith())).toEqual([]);
    const { rows } = await stage.daemon.query(
      "SELECT table_name AS name FROM information_schema.views WHERE table_schema = 'crm' ORDER BY name",
    );
    expect(rows.map(({ name }) => name)).toEqual([
      'contact_change',
      'contact_history',
      'lead_change',
      'lead_history',
      'lead_overview',
      'opportunity_change',
      'opportunity_history',
      'opportunity_overview',
      'pipeline_by_stage',
      'stage_conversion',
      'stage_history',
      'task_change',
      'task_history',
      'task_overview',
      'win_rate',
    ]);
  });

  it('changes nothing when it is done a second time', async () => {
    await using stage = await openWarehouse();
    const layout = layoutWith([customColumn('cf_region')]);
    expect(await changesDuring(stage.daemon, () => stage.layOut(layout))).not.toEqual([]);
    expect(await changesDuring(stage.daemon, () => stage.layOut(layout))).toEqual([]);
  });

  it('W13: puts nothing into other schemas', async () => {
    await using stage = await openWarehouse();
    const count =
      "SELECT count(*)::int AS n FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname NOT IN ('crm', 'crm_sync', 'pg_toast')";
    const before = await stage.admin.query(count);
    await stage.layOut();
    expect((await stage.admin.query(count)).rows).toEqual(before.rows);
  });

  it('adds a custom column at the end of the views while a view of a user depends on them', async () => {
    await using stage = await openWarehouse();
    await stage.layOut(layoutWith([customColumn('cf_b')]));
    await stage.admin.query(
      'CREATE VIEW public.mine AS SELECT * FROM crm.lead_history WHERE cf_b IS NOT NULL',
    );
    await stage.write("INSERT INTO crm.lead (id, cf_b, valid_from) VALUES (1, 'x', now())");
    // The CRM lists the new one first.
    expect(await stage.layOut(layoutWith([customColumn('cf_a'), customColumn('cf_b')]))).toEqual([]);
    expect((await columnsOf(stage.daemon, 'crm.lead_history')).slice(-2)).toEqual(['cf_b', 'cf_a']);
    expect((await stage.admin.query('SELECT id FROM public.mine')).rows).toEqual([{ id: '1' }]);
  });

  it('keeps the column of a custom field that is retired, or that the layout has forgotten', async () => {
    await using stage = await openWarehouse();
    await stage.layOut(layoutWith([customColumn('cf_a'), customColumn('cf_b')]));
    const retired = customColumn('cf_a', { retiredAt: '2026-11-01T00:00:00Z', comment: 'Gone since then.' });
    expect(await stage.layOut(layoutWith([retired, customColumn('cf_c')]))).toEqual([]);
    expect((await columnsOf(stage.daemon, 'crm.lead_history')).slice(-3)).toEqual(['cf_a', 'cf_b', 'cf_c']);
    const { rows } = await stage.daemon.query(
      "SELECT col_description('crm.lead'::regclass, attnum) AS words FROM pg_attribute WHERE attrelid = 'crm.lead'::regclass AND attname = 'cf_a'",
    );
    expect(rows).toEqual([{ words: 'Gone since then.' }]);
  });

  it('takes 250 custom columns with odd names', async () => {
    await using stage = await openWarehouse();
    const odd = ['cf_"quoted"', "cf_it's", 'cf_$$', 'cf_Größe', 'cf_a b', 'cf_\\', 'select'];
    const many = Array.from({ length: 250 - odd.length }, (_, index) => `cf_${index}`);
    const layout = layoutWith([...odd, ...many].map((name) => customColumn(name, { comment: `${name}'s` })));
    expect(await stage.layOut(layout)).toEqual([]);
    expect(await changesDuring(stage.daemon, () => stage.layOut(layout))).toEqual([]);
    const columns = await columnsOf(stage.daemon, 'crm.lead');
    expect(columns.filter((name) => odd.includes(name))).toEqual(odd);
    expect(columns.length).toBe(1 + 3 + 250 + 4);
  });

  it('goes without a view that cannot show so many columns', async () => {
    const custom = Array.from({ length: 900 }, (_each, index) => customColumn(`cf_${index}`));
    await using stage = await openWarehouse(layoutWith(custom));
    const faults = await stage.layOut();
    expect(faults.filter(({ isHarmless }) => !isHarmless)).toEqual([]);
    expect(faults.map(({ words }) => words).join(' ')).toContain('crm.lead_change could not be made');
  });

  it('declares what belongs together where the server can leave it unenforced, and stores a row without its parent', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    const { rows } = await stage.daemon.query(
      "SELECT conrelid::regclass || ' → ' || confrelid::regclass AS relation FROM pg_constraint WHERE contype = 'f' AND connamespace = 'crm'::regnamespace ORDER BY 1",
    );
    const declared = [
      'crm.contact → crm.lead',
      'crm.opportunity → crm.lead',
      'crm.opportunity → crm.stage',
      'crm.task → crm.lead',
      'crm.task → crm.task',
      'crm.task → crm.task_priority',
      'crm.task → crm.task_status',
    ];
    const canLeaveUnenforced = Number.parseInt(stage.database.server.version, 10) >= 18;
    expect(rows.map(({ relation }) => relation)).toEqual(canLeaveUnenforced ? declared : []);
    await stage.write('INSERT INTO crm.opportunity (id, lead_id, stage_id) VALUES (1, 99, 99)');
  });

  it('gives every table, column and view a comment', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    const { rows } = await stage.daemon.query(`
      SELECT c.relname, a.attname FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND c.relkind = 'r'
       WHERE c.relnamespace IN ('crm'::regnamespace, 'crm_sync'::regnamespace) AND c.relkind IN ('r', 'v')
         AND (obj_description(c.oid, 'pg_class') IS NULL OR (a.attnum IS NOT NULL AND col_description(c.oid, a.attnum) IS NULL))`);
    expect(rows).toEqual([]);
  });

  it('W12: does not wait for a lock for long, and leaves nothing half done', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query('BEGIN; LOCK TABLE crm.lead');
    const layout = layoutWith([customColumn('cf_a')]);
    await expect(stage.layOut(layout)).rejects.toMatchObject({ code: '55P03' });
    await stage.admin.query('ROLLBACK');
    expect(await columnsOf(stage.daemon, 'crm.lead')).not.toContain('cf_a');
    expect(await stage.layOut(layout)).toEqual([]);
  });

  it('leaves history and its views out where the layout has none', async () => {
    await using stage = await openWarehouse();
    const layout = layoutWith([], { hasHistory: false });
    expect(await stage.layOut(layout)).toEqual([]);
    const { rows } = await stage.daemon.query(
      "SELECT to_regclass('crm_sync.lead_past') AS past, to_regclass('crm.lead_history') AS history, to_regclass('crm.opportunity_overview')::text AS overview",
    );
    expect(rows).toEqual([{ past: null, history: null, overview: 'crm.opportunity_overview' }]);
  });

  it('gives two links in one database a schema each', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    const other = layoutWith([], { schema: 'crm_north' });
    expect(await layOut(stage.daemon, other, { ...testKeeper, link: 'north', word: 'mirror-2' })).toEqual([]);
    await stage.admin.query('DROP SCHEMA crm_north, crm_north_sync CASCADE; DROP ROLE crm_north_reader');
  });

  it('lets two processes that begin at once make everything once', async () => {
    await using stage = await openWarehouse();
    const { user, password } = stage.daemon;
    const second = await stage.database.connect(user, String(password));
    const both = await Promise.all([stage.layOut(), layOut(second, layoutWith(), testKeeper)]);
    expect(both).toEqual([[], []]);
  });
});

describe('whose tables they are', () => {
  it('refuses a schema that holds what another program made', async () => {
    await using stage = await openWarehouse();
    await stage.admin.query(
      `CREATE SCHEMA crm; GRANT ALL ON SCHEMA crm TO ${stage.daemon.user}; CREATE TABLE crm.lead (id int)`,
    );
    await expect(stage.layOut()).rejects.toMatchObject({ code: 'WAREHOUSE_KEPT' });
    const { rows } = await stage.admin.query("SELECT to_regnamespace('crm_sync') AS machinery");
    expect(rows).toEqual([{ machinery: null }]);
  });

  it('takes an empty schema that an administrator made', async () => {
    await using stage = await openWarehouse();
    await stage.admin.query(`CREATE SCHEMA crm; GRANT ALL ON SCHEMA crm TO ${stage.daemon.user}`);
    expect(await stage.layOut()).toEqual([]);
    expect(await changesDuring(stage.daemon, () => stage.layOut())).toEqual([]);
  });

  it('W15: refuses tables that another mirror keeps, until a person consents', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    const other = { ...testKeeper, word: 'mirror-2' };
    await expect(layOut(stage.daemon, layoutWith(), other)).rejects.toMatchObject({ code: 'WAREHOUSE_KEPT' });
    expect(await layOut(stage.daemon, layoutWith(), other, { adopt: true })).toEqual([]);
    await expect(stage.layOut()).rejects.toMatchObject({ code: 'WAREHOUSE_KEPT' });
  });

  it('W15: refuses a process whose lease is older than that of the last writer', async () => {
    await using stage = await openWarehouse();
    await layOut(stage.daemon, layoutWith(), { ...testKeeper, token: 5 });
    await expect(stage.layOut()).rejects.toMatchObject({ code: 'WAREHOUSE_KEPT' });
  });

  it('refuses its own schema without the machinery, until a person consents', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query('DROP SCHEMA crm_sync CASCADE');
    await expect(stage.layOut()).rejects.toMatchObject({ code: 'WAREHOUSE_KEPT' });
    expect(await layOut(stage.daemon, layoutWith(), testKeeper, { adopt: true })).toEqual([]);
  });

  it('refuses a database in another encoding than UTF8, and one that is read only', async () => {
    await using database = await openDatabase();
    const admin = await database.connect();
    const name = `${database.name}_latin`;
    await admin.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    try {
      const latin = await openClient(database.server.urlOf(name));
      await expect(layOut(latin, layoutWith(), testKeeper)).rejects.toMatchObject({
        code: 'WAREHOUSE_UNREADABLE',
      });
      await latin.end();
    } finally {
      await admin.query(`DROP DATABASE ${name}`);
    }
    await admin.query('SET default_transaction_read_only = on');
    await expect(layOut(admin, layoutWith(), testKeeper)).rejects.toMatchObject({
      code: 'WAREHOUSE_READ_ONLY',
    });
  });
});
