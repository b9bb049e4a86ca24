import { expect, it, onTestFinished } from 'vitest';
import type { References } from '../../src/warehouse/port/port.ts';
import {
  batchOf,
  contacts,
  keeper,
  leads,
  noon,
  openWarehouseDatabase,
  opportunities,
  version,
} from '../support/warehouse-database.ts';

async function openStage() {
  const database = await openWarehouseDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return { database, warehouse: database.open() };
}

it('a batch inserts, updates and deletes rows in one numbered run', async () => {
  const { database, warehouse } = await openStage();
  const first = await warehouse.write(
    'run-1',
    batchOf(0, {
      rows: [version(1, { title: 'One', cf_visits: 3 }), version(2, { title: 'Two' })],
    }),
  );
  const second = await warehouse.write(
    'run-2',
    batchOf(1, {
      rows: [version(1, { title: 'One again' }, noon(2)), version(3, { title: 'Three' })],
      gone: [{ id: '2', at: noon(2) }],
    }),
  );
  expect([first, second]).toEqual([
    { run: 1, left: [], added: { lead: 2 } },
    { run: 2, left: [], added: { lead: 0 } },
  ]);
  expect(await database.query('SELECT id, title, cf_visits FROM crm.lead ORDER BY id')).toEqual([
    { id: '1', title: 'One again', cf_visits: 3 },
    { id: '3', title: 'Three', cf_visits: null },
  ]);
  expect(await database.list('SELECT run FROM crm_sync.ledger ORDER BY no')).toEqual(['run-1', 'run-2']);
});

it('W8: a row that is written again as it is stays untouched', async () => {
  const { database, warehouse } = await openStage();
  const rows = [version(1, { title: 'One', cf_tags: ['a', 'b'], cf_amount: 1.5, cf_open: true })];
  await warehouse.write('run-1', batchOf(0, { rows }));
  const [before] = await database.list('SELECT xmin::text FROM crm.lead');
  await warehouse.write('run-2', batchOf(1, { rows }));
  expect(await database.list('SELECT xmin::text FROM crm.lead')).toEqual([before]);
});

it('W11: history has no gap where the version that a row shows is not among those that are given', async () => {
  const { database, warehouse } = await openStage();
  await warehouse.write('run-1', batchOf(0, { rows: [version(1, { title: 'A' }, noon(1))] }));
  const given = {
    ...version(1, { title: 'C' }, noon(3)),
    validAfter: noon(2),
    validUntil: noon(4),
    ended: 'changed' as const,
  };
  const batch = batchOf(1, { rows: [version(1, { title: 'D' }, noon(4))], past: [given] });
  await warehouse.write('run-2', batch);
  await warehouse.write('run-3', { ...batch, after: 2 });
  expect(
    await database.query(
      `SELECT title, to_char(valid_from AT TIME ZONE 'UTC', 'DD') AS day,
              to_char(valid_until AT TIME ZONE 'UTC', 'DD') AS until, ended
         FROM crm_sync.lead_past ORDER BY valid_from`,
    ),
  ).toEqual([
    { title: 'A', day: '01', until: '03', ended: 'changed' },
    { title: 'C', day: '03', until: '04', ended: 'changed' },
  ]);
});

it('history stays whole under a mirror that was restored, and knows older versions only', async () => {
  const { database, warehouse } = await openStage();
  const past = (id: number) => ({
    ...version(id, { title: 'A' }, noon(1)),
    validUntil: noon(3),
    ended: 'changed' as const,
  });
  const rowsAt = (day: number, title: string, ids: readonly number[]) =>
    ids.map((id) => version(id, { title }, noon(day)));
  await warehouse.write('run-1', batchOf(0, { rows: rowsAt(1, 'A', [1, 2, 3, 4]) }));
  const rows = [...rowsAt(3, 'B', [1, 2, 3]), ...rowsAt(3, 'A', [4])];
  await warehouse.write('run-2', batchOf(1, { rows, past: [1, 2, 3, 4].map(past) }));
  // By the mirror of day 2 record 3 is gone, and all others are as on day 1.
  const older = { rows: rowsAt(1, 'A', [1, 2, 4]), gone: [{ id: '3', at: noon(2) }] };
  await warehouse.write('run-3', batchOf(2, older));
  const found = { ...past(2), validUntil: noon(5) };
  await warehouse.write('run-4', batchOf(3, { rows: rowsAt(5, 'C', [2]), past: [found] }));
  expect(
    await database.list(
      `SELECT concat_ws(' ', id, title, to_char(valid_from AT TIME ZONE 'UTC', 'DD'),
                        to_char(valid_until AT TIME ZONE 'UTC', 'DD'), ended)
         FROM crm.lead_history ORDER BY id, valid_from`,
    ),
  ).toEqual([
    '1 A 01 03 changed',
    '1 B 03 03 changed',
    '1 A 03',
    '2 A 01 03 changed',
    '2 B 03 03 changed',
    '2 A 03 05 changed',
    '2 C 05',
    '3 A 01 03 changed',
    '3 B 03 03 left_out',
    '4 A 01 03 changed',
    '4 A 03',
  ]);
});

it('without history no version is kept, also where it was kept before', async () => {
  const { database, warehouse } = await openStage();
  await warehouse.write('run-1', batchOf(0, { rows: [version(1, { title: 'A' })] }));
  const rows = [version(1, { title: 'B' }, noon(2))];
  await database.open({ hasHistory: false }).write('run-2', batchOf(1, { rows }));
  expect(await database.list('SELECT title FROM crm.lead')).toEqual(['B']);
  expect(await database.list('SELECT title FROM crm_sync.lead_past')).toEqual([]);
});

it('nothing is written where the table of versions is gone, so that no version is lost', async () => {
  const { database, warehouse } = await openStage();
  await warehouse.write('run-1', batchOf(0, { rows: [version(1, { title: 'A' })] }));
  await database.query('DROP TABLE crm_sync.lead_past CASCADE');
  const rows = [version(1, { title: 'B' }, noon(2))];
  await expect(warehouse.write('run-2', batchOf(1, { rows }))).rejects.toMatchObject({
    code: 'WAREHOUSE_CHANGED',
  });
  expect(await database.list('SELECT title FROM crm.lead')).toEqual(['A']);
});

it('the last version of a record that is gone is kept, with the end that is given or found', async () => {
  const { database, warehouse } = await openStage();
  const rows = [version(1, { title: 'A' }), version(2, { title: 'B' })];
  await warehouse.write('run-1', batchOf(0, { rows }));
  const trashed = { ...version(1, { title: 'A' }), validUntil: noon(2), ended: 'trashed' as const };
  const gone = [
    { id: '1', at: noon(2) },
    { id: '2', at: noon(2) },
    { id: '3', at: noon(2) },
  ];
  const reply = await warehouse.write('run-2', batchOf(1, { past: [trashed], gone }));
  expect(reply).toEqual({ run: 2, left: [], added: { lead: -2 } });
  expect(await database.query('SELECT id, ended FROM crm_sync.lead_past ORDER BY id')).toEqual([
    { id: '1', ended: 'trashed' },
    { id: '2', ended: 'left_out' },
  ]);
});

it('contacts have their UUID, and an id that none is is left', async () => {
  const { database, warehouse } = await openStage();
  const id = '0198a0de-0000-7000-8000-000000000001';
  const rows = [
    version(id, { full_name: 'Ada', lead_id: 1 }),
    version('not-one', { full_name: 'Bob', lead_id: 1 }),
  ];
  const reply = await warehouse.write('run-1', batchOf(0, { table: contacts, rows }));
  expect(reply.left).toEqual([
    { entity: 'contact', id: 'not-one', why: 'refused', words: 'The id is no uuid.' },
  ]);
  expect(await database.list('SELECT id FROM crm.contact')).toEqual([id]);
});

it('reference data is kept, and what is listed no longer is retired', async () => {
  const { database, warehouse } = await openStage();
  const references: References = {
    pipelines: [{ id: 1, name: 'Sales' }],
    stages: [
      { id: 1, pipelineId: 1, name: 'New', position: 0, outcome: 'open' },
      { id: 2, pipelineId: 1, name: 'Won', position: 1, outcome: 'won' },
    ],
    leadStatuses: [{ name: 'hot', label: 'Hot' }],
    taskStatuses: [{ id: 1, name: 'Open' }],
    taskPriorities: [{ id: 1, name: 'High' }],
    userNames: [],
    customFields: [{ key: 'tags', columnName: 'cf_tags', name: 'Tags', kind: 'multi-select' }],
    at: noon(1),
  };
  await warehouse.write('run-1', { ...batchOf(0), references });
  const stages = [{ id: 2, pipelineId: 1, name: 'Signed', position: 1, outcome: 'won' as const }];
  await warehouse.write('run-2', { ...batchOf(1), references: { ...references, stages, at: noon(2) } });
  expect(
    await database.query('SELECT id, name, retired_at IS NULL AS is_listed FROM crm.stage ORDER BY id'),
  ).toEqual([
    { id: 1, name: 'New', is_listed: false },
    { id: 2, name: 'Signed', is_listed: true },
  ]);
  await warehouse.write('run-3', { ...batchOf(2), references });
  expect(await database.list('SELECT id FROM crm.stage WHERE retired_at IS NULL ORDER BY id')).toEqual([
    1, 2,
  ]);
  expect(await database.list('SELECT column_name FROM crm.custom_field')).toEqual(['cf_tags']);
});

it('names of users are kept with their ids, and who is not named any longer is retired', async () => {
  const { database, warehouse } = await openStage();
  const nobody: References = {
    pipelines: [],
    stages: [],
    leadStatuses: [],
    taskStatuses: [],
    taskPriorities: [],
    userNames: [],
    customFields: [],
    at: noon(1),
  };
  const shown = () =>
    database.list("SELECT concat_ws(' ', id, name, retired_at::date) FROM crm.user_name ORDER BY id");
  await warehouse.write('run-1', { ...batchOf(0), references: nobody });
  expect(await shown()).toEqual([]);
  const [ewa, jan] = [
    { id: '9001', name: 'Ewa Zielińska' },
    { id: '9003', name: 'Jan' },
  ];
  await warehouse.write('run-2', { ...batchOf(1), references: { ...nobody, userNames: [ewa, jan] } });
  expect(await shown()).toEqual(['9001 Ewa Zielińska', '9003 Jan']);
  const userNames = [{ ...ewa, name: 'Ewa Nowak' }];
  await warehouse.write('run-3', { ...batchOf(2), references: { ...nobody, userNames, at: noon(2) } });
  expect(await shown()).toEqual(['9001 Ewa Nowak', expect.stringMatching(/^9003 Jan 20\d\d-/)]);
});

it('freshness is written alone, and says which run was the last', async () => {
  const { database, warehouse } = await openStage();
  const lead = {
    entity: 'lead',
    records: 2,
    rows: 1,
    state: 'filling',
    note: "It's 1 of 2.",
    at: noon(1),
  } as const;
  await warehouse.write('run-1', batchOf(0));
  await warehouse.touch([lead]);
  expect(await database.list('SELECT note FROM crm.freshness')).toEqual(["It's 1 of 2."]);
  const fresh = { ...lead, rows: 2, state: 'fresh', note: '', listReadAt: noon(1), at: noon(2) } as const;
  expect(await warehouse.touch([fresh])).toBe(1);
  expect(await database.query('SELECT state, rows, list_read_at FROM crm.freshness')).toEqual([
    { state: 'fresh', rows: '2', list_read_at: new Date(noon(1)) },
  ]);
});

it('a fill copies into an empty table, and completes one that is not', async () => {
  const { database, warehouse } = await openStage();
  function* rows(suffix: string, count = 12_000) {
    for (let id = 1; id <= count; id += 1)
      yield version(id, { title: `Lead ${id}${id % 1000 === 0 ? suffix : ''}`, cf_tags: ['a"b', 'c\\d\t'] });
  }
  expect(await warehouse.fill('run-1', 0, leads, rows(''))).toEqual({
    run: 1,
    left: [],
    added: { lead: 12_000 },
  });
  await database.tamper('DELETE FROM crm.lead WHERE id <= 10');
  const [before] = await database.list('SELECT xmin::text FROM crm.lead WHERE id = 11');
  const second = await warehouse.fill('run-2', 1, leads, rows(' changed', 17_000));
  expect(second).toEqual({ run: 2, left: [], added: { lead: 5_010 } });
  expect(await database.list('SELECT xmin::text FROM crm.lead WHERE id = 11')).toEqual([before]);
  expect(
    await database.query(
      `SELECT count(*)::int AS rows, count(*) FILTER (WHERE title LIKE '%changed')::int AS changed, min(cf_tags) AS tags
         FROM crm.lead`,
    ),
  ).toEqual([{ rows: 17_000, changed: 17, tags: ['a"b', 'c\\d\t'] }]);
});

it('a fill reports what the database refuses and writes all else', async () => {
  const { database, warehouse } = await openStage();
  await database.query("ALTER TABLE crm.lead ADD CHECK (title <> 'bad')");
  const bad = [171, 11_000];
  const rows = Array.from({ length: 12_000 }, (_each, index) =>
    version(index + 1, { title: bad.includes(index + 1) ? 'bad' : 'good' }),
  );
  const reply = await warehouse.fill('run-1', 0, leads, rows);
  expect(reply.added).toEqual({ lead: 11_998 });
  expect(reply.left).toEqual(
    bad.map((id) => ({
      entity: 'lead',
      id: String(id),
      why: 'refused',
      words: expect.stringContaining('lead_title_check'),
    })),
  );
  expect(await database.list('SELECT count(*)::int FROM crm.lead')).toEqual([11_998]);
});

it.each([0, 7_000])(
  'a fill whose rows cannot be read after %i does nothing, and the next write goes on',
  async (count) => {
    const { warehouse } = await openStage();
    function* rows() {
      for (let id = 1; id <= count; id += 1) yield version(id, { title: `Lead ${id}` });
      throw new RangeError('no more');
    }
    await expect(warehouse.fill('run-1', 0, leads, rows())).rejects.toThrow('no more');
    expect(await warehouse.findRun('run-1')).toBeUndefined();
    const batch = batchOf(0, { rows: [version(1, { title: 'x' })] });
    expect(await warehouse.write('run-2', batch)).toMatchObject({ run: 1, added: { lead: 1 } });
  },
);

it('meeting says whose tables these are and what was written last', async () => {
  const { database, warehouse } = await openStage();
  await warehouse.write('run-1', batchOf(0));
  expect(await warehouse.meet()).toEqual({
    serverVersion: expect.any(Number),
    isReadOnly: false,
    keeper: 'own',
    lastRun: 1,
  });
  const other = database.open({ keeper: { ...keeper, word: 'mirror-2' } });
  expect(await other.meet()).toMatchObject({ keeper: 'other', lastRun: 1 });
  await database.query('DROP SCHEMA crm_sync CASCADE');
  expect(await warehouse.meet()).toMatchObject({ keeper: 'none', lastRun: 0 });
});

it('a scan goes through ids by size, and rows can be written meanwhile', async () => {
  const { warehouse } = await openStage();
  const rows = [9, 10, 1_000_000].map((id) => version(id, { title: `Lead ${id}` }));
  await warehouse.write('run-1', batchOf(0, { rows }));
  const seen: string[] = [];
  for await (const { id } of warehouse.scan(leads)) {
    seen.push(id);
    await warehouse.write(
      `run-${id}`,
      batchOf(seen.length, { table: opportunities, rows: [version(id, {})] }),
    );
  }
  expect(seen).toEqual(['9', '10', '1000000']);
});
