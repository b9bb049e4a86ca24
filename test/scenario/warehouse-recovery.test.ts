import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newWarehouseError } from '../../src/warehouse/port/errors.ts';
import type { Warehouse } from '../../src/warehouse/port/port.ts';
import { until } from '../support/until.ts';
import { openWarehouseEngine, type WarehouseEngine } from '../support/warehouse-engine.ts';

/** Loses the mirror. */
function emptyDirectory(directory: string): void {
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
}

const limit = { timeout: 60_000 };

async function trashLeads(stage: WarehouseEngine, count: number): Promise<void> {
  for (const { id } of stage.model.records.leads.live().slice(0, count)) await stage.crm.trash('lead', id);
  await stage.settled();
}

/** The warehouse with some of its members replaced. */
const replaced = (warehouse: Warehouse, members: Partial<Warehouse>): Warehouse =>
  new Proxy(warehouse, {
    get(target, name) {
      const member = Reflect.get(members, name) ?? Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });

const settledUnasked = async (stage: WarehouseEngine) => {
  await stage.settled();
  await until('nothing is due', async () => stage.due() === 0);
  expect(stage.engine.found.questions).toEqual([]);
};

describe('records that were trashed long ago trip no brake', limit, () => {
  const terms = { limits: { deletesMin: 2, deletesShare: 0.6 } };

  test.each(['the daemon', 'init'])('when a new database is laid out by %s', async (by) => {
    const stage = await openWarehouseEngine({ terms });
    await stage.start();
    await stage.settled();
    await trashLeads(stage, 6);
    await stage.engine.stop(5_000);
    await stage.database.query('DROP SCHEMA crm CASCADE; DROP SCHEMA crm_sync CASCADE');
    if (by === 'init') await stage.mend();
    await stage.restart();
    await settledUnasked(stage);
    expect(stage.side.countRows().lead).toBe(6);
    expect(stage.mirror.searchJournal({ limit: 10 }).filter(({ kind }) => kind === 'repair')).toEqual([]);
  });

  test('when the CRM has a new custom field', async () => {
    const stage = await openWarehouseEngine({ terms });
    await stage.start();
    await stage.settled();
    await trashLeads(stage, 6);
    const { customFields } = stage.model.records;
    const fresh = { ...customFields[0], id: 900, field_key: 'fresh', name: 'Fresh' };
    Object.assign(stage.model.records, { customFields: [...customFields, fresh] });
    await stage.shows(
      "SELECT 1 FROM crm.custom_field WHERE column_name = 'cf_fresh'",
      ({ length }) => length > 0,
    );
    await settledUnasked(stage);
  });
});

describe('a commit without a reply', limit, () => {
  /** A stage whose next write gets no reply once a test says so. */
  async function openLossy(onLoss: (stage: WarehouseEngine) => Promise<void> = async () => {}) {
    let isLossy = false;
    let lostRun = 0;
    const stage = await openWarehouseEngine({
      wrap: (warehouse) =>
        replaced(warehouse, {
          async write(run, batch) {
            const reply = await warehouse.write(run, batch);
            if (!isLossy) return reply;
            isLossy = false;
            lostRun = reply.run;
            await onLoss(stage);
            throw newWarehouseError('WAREHOUSE_UNKNOWN_OUTCOME', 'The commit got no reply.');
          },
          // As if the commit were over only after the database was met.
          async meet() {
            const met = await warehouse.meet();
            return { ...met, lastRun: met.lastRun === lostRun && lostRun > 0 ? lostRun - 1 : met.lastRun };
          },
        }),
    });
    const lose = () => {
      isLossy = true;
    };
    await stage.start();
    await stage.settled();
    await stage.compared();
    return { stage, lose, lead: await stage.crm.take('lead') };
  }

  test('writes again what it left: which rows those are was in the reply', async () => {
    const { lead, lose, stage } = await openLossy(async ({ database }) => {
      await database.query('ALTER TABLE crm.lead DROP CONSTRAINT own');
    });
    await stage.database.query("ALTER TABLE crm.lead ADD CONSTRAINT own CHECK (title <> 'Refused')");
    lose();
    await stage.crm.update('lead', lead.id, { title: 'Refused' });
    await stage.settled();
  });

  test('that is over only after the database was met does not look like a database that went back', async () => {
    const { lead, lose, stage } = await openLossy();
    lose();
    await stage.crm.update('lead', lead.id, { title: 'Renamed' });
    await settledUnasked(stage);
    expect(stage.log.lines.map(({ event }) => event)).toContain('warehouse.run-found');
    expect(stage.log.lines.map(({ event }) => event)).not.toContain('warehouse.went-back');
  });
});

test('a row shows nothing of the record of another account that had its id', limit, async () => {
  const stage = await openWarehouseEngine();
  await stage.start();
  await stage.settled();
  await stage.compared();
  const lead = await stage.crm.take('lead');
  await stage.crm.update('lead', lead.id, { meta_data: { about: { description: 'A secret', url: null } } });
  await stage.settled();
  await stage.engine.stop(5_000);
  const { mirror } = stage;
  const record = mirror.findRecord({ entity: 'lead', id: String(lead.id) })!;
  expect(Object.values(record.fields)).toContain('A secret');
  const at = record.observedAt + 1_000;
  mirror.saveRecord({ ...record, fields: {}, presence: 'gone', heardAt: at });
  mirror.saveRecord({ ...record, fields: { title: 'Of another account' }, heardAt: at + 1 });
  await stage.side.cycle();
  const rows = await stage.database.query('SELECT * FROM crm.lead WHERE id = $1', [lead.id]);
  expect(rows).toMatchObject([{ title: 'Of another account' }]);
  expect(JSON.stringify(rows)).not.toContain('A secret');
});

test(
  'W15: of two daemons with copies of one mirror, the one that began first stops writing',
  limit,
  async () => {
    const first = await openWarehouseEngine();
    await first.start();
    await first.settled();
    const lead = await first.crm.take('lead');
    const second = await openWarehouseEngine({ database: first.database });
    await second.start();
    await second.compared();
    await until('the second has written', async () => second.due() === 0);
    await first.crm.update('lead', lead.id, { title: 'Of the first' });
    await until('the first is refused', async () =>
      first.engine.listProblems().some(({ code }) => code === 'WAREHOUSE_KEPT'),
    );
    const task = await second.crm.take('task');
    await second.crm.update('task', task.id, { title: 'Of the second' });
    await second.settled();
    expect(second.engine.listProblems()).toEqual([]);
    expect(first.log.lines.map(({ event }) => event)).not.toContain('warehouse.went-back');
  },
);

test('a mirror that is new takes no row for deleted before it has read the CRM', limit, async () => {
  const stage = await openWarehouseEngine({ counts: { leads: 3_000, opportunities: 4, tasks: 4 } });
  await stage.start();
  await stage.settled();
  await stage.restart('word-1', emptyDirectory);
  await until('the leads are compared', async () =>
    stage.side.lastAudit?.tables.some(({ entity }) => entity === 'lead'),
  );
  await settledUnasked(stage);
  expect(stage.mirror.searchJournal({ limit: 10 })).toEqual([]);
  const gone = "SELECT id FROM crm.lead_history WHERE ended <> 'changed'";
  expect(await stage.database.query(gone)).toEqual([]);
});
