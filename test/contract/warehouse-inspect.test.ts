import { describe, expect, it } from 'vitest';
import { inspect } from '../../src/postgres/inspect.ts';
import { layOut } from '../../src/postgres/lay-out.ts';
import type { LayoutFault } from '../../src/warehouse/port/port.ts';
import { customColumn, layoutWith, testKeeper } from '../support/warehouse-layout.ts';
import { openWarehouse, type WarehouseStage } from '../support/warehouse-stage.ts';

const layout = layoutWith();

/** `lead held: …`, as short as a line. */
const lineOf = ({ entity, isHarmless, isMendable, words }: LayoutFault): string =>
  `${entity ?? 'all'} ${isHarmless ? 'harmless' : 'held'}, ${isMendable ? 'mendable' : 'not mendable'}: ${words}`;

const inspected = async (stage: WarehouseStage): Promise<string[]> =>
  (await inspect(stage.daemon, layout)).map(lineOf);

const laidOut = async (stage: WarehouseStage, mend: boolean): Promise<string[]> =>
  (await layOut(stage.daemon, layout, testKeeper, { mend })).map(lineOf);

/** What an operator ran, and what is found afterwards. */
const heldFor: readonly (readonly [title: string, sql: string, found: readonly string[]])[] = [
  [
    'a column that was retyped',
    'DROP VIEW crm.lead_change, crm.lead_history, crm.lead_overview; ALTER TABLE crm.lead ALTER status_name TYPE varchar(20)',
    [
      'lead held, not mendable: The column crm.lead.status_name has the type character varying(20), where text is needed.',
      'lead harmless, mendable: The view crm.lead_history is not there.',
      'lead harmless, mendable: The view crm.lead_change is not there.',
      'lead harmless, mendable: The view crm.lead_overview is not there.',
    ],
  ],
  [
    'a column of a user that takes no row without it',
    'ALTER TABLE crm.lead ADD COLUMN mine int NOT NULL',
    [
      'lead held, not mendable: The column crm.lead.mine is NOT NULL without a default: no row can be inserted.',
    ],
  ],
  [
    'row level security that hides rows from the owner',
    'ALTER TABLE crm.lead ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    ['lead held, not mendable: Row level security hides rows of crm.lead from the daemon.'],
  ],
  [
    'a table that another one inherits from',
    'CREATE TABLE public.mine () INHERITS (crm.lead)',
    ['lead held, not mendable: crm.lead inherits from another table, or another one from it.'],
  ],
  [
    'a foreign key that changes rows of its own accord',
    'ALTER TABLE crm.task ADD CONSTRAINT mine FOREIGN KEY (lead_id) REFERENCES crm.lead ON DELETE CASCADE',
    ['task held, not mendable: The foreign key mine of crm.task changes rows of its own accord.'],
  ],
  [
    'a primary key that was dropped',
    'ALTER TABLE crm.contact DROP CONSTRAINT contact_pkey CASCADE',
    ['contact held, not mendable: The primary key of crm.contact is not (id).'],
  ],
];

describe('inspecting', () => {
  it.each(heldFor)(
    'fault 12: holds the table for %s, and laying out changes nothing of it',
    async (_title, sql, found) => {
      await using stage = await openWarehouse();
      await stage.layOut();
      await stage.admin.query(sql);
      expect(await inspected(stage)).toEqual(found);
      const afterwards = await laidOut(stage, true);
      expect(afterwards).toEqual(expect.arrayContaining([found[0]]));
    },
  );

  it('fault 45: holds the table for row level security of which this login is no exception', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query('ALTER TABLE crm.lead ENABLE ROW LEVEL SECURITY');
    // Rows are hidden from others than the owner.
    expect(await inspected(stage)).toEqual([]);
    await stage.admin.query(
      `ALTER TABLE crm.lead OWNER TO CURRENT_USER; GRANT ALL ON crm.lead TO ${stage.daemon.user}`,
    );
    expect(await inspected(stage)).toEqual([
      'lead held, not mendable: Row level security hides rows of crm.lead from the daemon.',
      `lead held, not mendable: crm.lead belongs to the role postgres; the other tables belong to ${stage.daemon.user}.`,
    ]);
  });

  it('allows what users add of their own', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query(`
      ALTER TABLE crm.lead ADD COLUMN mine int, ADD COLUMN other int NOT NULL DEFAULT 1, ADD COLUMN serial int GENERATED ALWAYS AS IDENTITY;
      ALTER TABLE crm.lead ADD CHECK (title <> '');
      CREATE INDEX ON crm.lead (title);
      CREATE FUNCTION public.mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
      CREATE TRIGGER mine BEFORE UPDATE ON crm.lead FOR EACH ROW EXECUTE FUNCTION public.mine()`);
    expect(await inspected(stage)).toEqual([]);
  });

  it('knows nothing of tables that were never laid out', async () => {
    await using stage = await openWarehouse();
    expect(await inspected(stage)).toEqual([
      'all held, mendable: The schema crm is not there.',
      'all held, mendable: The schema crm_sync is not there.',
    ]);
  });
});

describe('mending', () => {
  it('faults 10 and 11: adds a column again that was dropped or renamed, once a person consents', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.write("INSERT INTO crm.lead (id, title, status_name) VALUES (1, 'x', 'new')");
    await stage.admin.query(
      'ALTER TABLE crm.lead DROP COLUMN title CASCADE; ALTER TABLE crm.lead RENAME COLUMN status_name TO mine',
    );
    const missing = ['title', 'status_name'].map(
      (name) => `lead held, mendable: The column crm.lead.${name} is not there: it was dropped or renamed.`,
    );
    expect(await laidOut(stage, false)).toEqual(expect.arrayContaining(missing));
    expect(await laidOut(stage, true)).toEqual([]);
    const { rows } = await stage.admin.query('SELECT title, status_name, mine FROM crm.lead');
    expect(rows).toEqual([{ title: null, status_name: null, mine: 'new' }]);
    // The views show the new column, not the renamed one.
    const shown = await stage.admin.query('SELECT status_name FROM crm.lead_history');
    expect(shown.rows).toEqual([{ status_name: null }]);
  });

  it('lets users drop the column of a custom field that is retired', async () => {
    await using stage = await openWarehouse();
    await stage.layOut(layoutWith([customColumn('cf_a'), customColumn('cf_b')]));
    await stage.admin.query('ALTER TABLE crm.lead DROP COLUMN cf_a CASCADE');
    const retired = customColumn('cf_a', { retiredAt: '2026-11-01T00:00:00Z' });
    expect(await stage.layOut(layoutWith([retired, customColumn('cf_b')]))).toEqual([]);
    const { rows } = await stage.admin.query('SELECT * FROM crm.lead_history');
    expect(rows).toEqual([]);
    expect(await inspect(stage.daemon, layoutWith([retired, customColumn('cf_b')]))).toEqual([]);
  });

  it('makes a table again that was dropped, with its guard and views, once a person consents', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query('DROP TABLE crm.opportunity, crm_sync.task_past CASCADE');
    expect(await laidOut(stage, false)).toEqual(
      expect.arrayContaining([
        'opportunity held, mendable: The table crm.opportunity is not there.',
        'task held, mendable: The table crm_sync.task_past is not there.',
      ]),
    );
    expect(await laidOut(stage, true)).toEqual([]);
    await expect(stage.admin.query('DELETE FROM crm.opportunity')).rejects.toMatchObject({ code: '42501' });
    const { rows } = await stage.admin.query(
      "SELECT has_table_privilege('crm_reader', 'crm.stage_history', 'SELECT') AS may",
    );
    expect(rows).toEqual([{ may: true }]);
  });

  it('makes a schema again that was dropped, once a person consents', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query('DROP SCHEMA crm CASCADE');
    expect(await laidOut(stage, false)).toContain('lead held, mendable: The table crm.lead is not there.');
    expect(await laidOut(stage, true)).toEqual([]);
  });

  const guardFaults = [
    ['dropped', 'DROP TRIGGER crm_guard ON crm.lead', 'missing'],
    ['disabled', 'ALTER TABLE crm.lead DISABLE TRIGGER crm_guard', 'changed or switched off'],
    ['made an ordinary one', 'ALTER TABLE crm.lead ENABLE TRIGGER crm_guard', 'changed or switched off'],
  ] as const;

  it.each(guardFaults)('puts a guard back that was %s', async (_title, sql, what) => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query(sql);
    expect(await inspected(stage)).toEqual([
      `lead held, mendable: The guard of crm.lead is ${what}: edits by SQL may pass unseen.`,
    ]);
    expect(await laidOut(stage, false)).toEqual([]);
    await stage.admin.query('SET session_replication_role = replica');
    await expect(stage.admin.query('DELETE FROM crm.lead')).rejects.toMatchObject({ code: '42501' });
  });

  it('puts the function of the guards back that was replaced', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query(
      "CREATE OR REPLACE FUNCTION crm_sync.crm_guard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    );
    expect(await inspected(stage)).toHaveLength(4);
    expect(await laidOut(stage, false)).toEqual([]);
    await expect(stage.admin.query('DELETE FROM crm.lead')).rejects.toMatchObject({ code: '42501' });
  });

  it('leaves a table alone that another role took over, and completes the others', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query(
      'DROP TABLE crm.contact CASCADE; CREATE VIEW crm.contact AS SELECT 1 AS id; ALTER TABLE crm.task OWNER TO CURRENT_USER; ALTER TABLE crm.opportunity DROP COLUMN note CASCADE',
    );
    const faults = (await laidOut(stage, true)).filter((line) => line.includes(' held, '));
    expect(faults).toEqual([
      "task held, not mendable: The daemon's role lacks the right to read and write crm.task.",
      `task held, not mendable: crm.task belongs to the role postgres; the other tables belong to ${stage.daemon.user}.`,
      'contact held, not mendable: crm.contact is not a plain table.',
    ]);
    expect((await stage.admin.query('SELECT note FROM crm.opportunity')).rows).toEqual([]);
  });

  it('reports a view of ours whose place an object of a user has, and writes all the same', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query('DROP VIEW crm.win_rate; CREATE VIEW crm.win_rate AS SELECT 1 AS mine');
    await stage.admin.query(`ALTER VIEW crm.win_rate OWNER TO ${stage.daemon.user}`);
    await stage.admin.query('DROP VIEW crm.pipeline_by_stage; CREATE TABLE crm.pipeline_by_stage (id int)');
    const faults = await laidOut(stage, true);
    expect(faults).toContain(
      'opportunity harmless, not mendable: crm.pipeline_by_stage is not the view that it should be.',
    );
    expect(faults.every((line) => line.includes('harmless'))).toBe(true);
  });
});
