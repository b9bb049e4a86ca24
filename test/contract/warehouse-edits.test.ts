import { expect, it, onTestFinished } from 'vitest';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import { openDatabase } from '../support/postgres.ts';
import { realClock } from '../support/real-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { batchOf, noon, version } from '../support/warehouse-database.ts';
import { editableLayout } from '../support/warehouse-editing.ts';
import { testKeeper } from '../support/warehouse-layout.ts';

const layout = editableLayout(100_000);
const [leads, opportunities] = layout.tables as readonly [
  (typeof layout.tables)[0],
  (typeof layout.tables)[0],
];

/** Tables that people edit, and the daemon’s way in; `query` is of a user with all rights. */
async function openEdits() {
  const database = await openDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const role = `daemon_of_${database.name}`;
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret' CREATEROLE`);
  await database.query(`GRANT CREATE ON DATABASE ${database.name} TO ${role}`);
  const warehouse = createPostgresWarehouse({
    url: database.server.urlOf(database.name, role, 'secret'),
    schema: 'crm',
    keeper: testKeeper,
    hasHistory: true,
    isEditable: true,
    clock: realClock,
    log: createRecordingLog(),
  });
  onTestFinished(async () => {
    await warehouse.close();
    await database.query(
      `DROP SCHEMA crm, crm_sync CASCADE; DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}; DROP ROLE IF EXISTS crm_reader, crm_editor`,
    );
  });
  await warehouse.layOut(layout);
  await warehouse.write(
    'run-1',
    batchOf(
      0,
      { table: leads, rows: [version(1, { title: 'one', cf_tags: ['a'] }), version(2, { title: 'two' })] },
      { table: opportunities, rows: [version(5, { lead_id: 1, value: 12.5, note: null })] },
    ),
  );
  return {
    database,
    query: (sql: string) => database.query(sql),
    read: (limit = 100) => warehouse.readEdits(layout.tables, { limit, after: '0' }),
    warehouse,
  };
}

it('what the daemon writes and fills is no edit', async () => {
  const { read, warehouse } = await openEdits();
  const rows = Array.from({ length: 50 }, (_, index) => version(100 + index, { title: 'filled' }));
  await warehouse.fill('run-2', 1, leads, rows);
  await warehouse.write(
    'run-3',
    batchOf(2, {
      table: leads,
      rows: [version(1, { title: 'next' }, noon(2))],
      gone: [{ id: '2', at: noon(2) }],
    }),
  );
  expect(await read()).toEqual({ rows: [], lastRun: 3, answers: [] });
});

it('edits are read with the row that they made, in the form of values', async () => {
  const { query, read } = await openEdits();
  await query("UPDATE crm.lead SET title = 'uno', cf_tags = '{b,a}' WHERE id = 1");
  await query(
    "UPDATE crm.opportunity SET value = 3.10, note = 'n', confidence = 7, expected_close_date = '2026-02-03'",
  );
  await query('DELETE FROM crm.lead WHERE id = 2');
  await query("INSERT INTO crm.lead (title) VALUES ('new')");
  const { lastRun, rows } = await read();
  expect(lastRun).toBe(1);
  expect(rows).toMatchObject([
    {
      entity: 'lead',
      id: '1',
      values: { title: 'uno', cf_tags: ['b', 'a'], status_name: null },
      edits: [
        {
          kind: 'update',
          state: 'new',
          by: 'postgres',
          before: { title: 'one', cf_tags: ['a'] },
          after: { title: 'uno', cf_tags: ['b', 'a'] },
        },
      ],
    },
    { entity: 'lead', id: '2', edits: [{ kind: 'delete', before: { title: 'two' }, after: {} }] },
    {
      entity: 'lead',
      id: '-1',
      values: { title: 'new' },
      edits: [{ kind: 'insert', before: {}, after: { title: 'new' } }],
    },
    {
      entity: 'opportunity',
      id: '5',
      edits: [
        {
          before: { value: 12.5, note: null, confidence: null, expected_close_date: null },
          after: { value: 3.1, note: 'n', confidence: 7, expected_close_date: '2026-02-03' },
        },
      ],
    },
  ]);
  expect(rows[1]).not.toHaveProperty('values');
});

it('a row comes with all of its open edits, and those that were edited first come first', async () => {
  const { query, read } = await openEdits();
  await query("UPDATE crm.lead SET title = 'b' WHERE id = 2");
  await query("UPDATE crm_sync.edit SET state = 'taken'");
  await query("UPDATE crm.lead SET title = 'a' WHERE id = 1");
  await query("UPDATE crm.lead SET title = 'c' WHERE id = 2");
  expect((await read(1)).rows.map(({ id }) => id)).toEqual(['1']);
  expect((await read()).rows).toMatchObject([
    {
      id: '2',
      edits: [
        { state: 'taken', after: { title: 'b' } },
        { state: 'new', after: { title: 'c' } },
      ],
    },
    { id: '1', edits: [{ state: 'new' }] },
  ]);
  await query("UPDATE crm_sync.edit SET state = 'done', ended_at = now()");
  expect((await read()).rows).toEqual([]);
});

it('a row that was edited meanwhile is left, and one whose edits are known is written where they are not about it', async () => {
  const { database, query, read, warehouse } = await openEdits();
  await query("UPDATE crm.lead SET title = 'mine' WHERE id = 1");
  await query('DELETE FROM crm.lead WHERE id = 2');
  const rows = [
    version(1, { status_name: 'won' }, noon(2)),
    version(2, { title: 'two' }, noon(2)),
    version(3, { title: 'three' }),
  ];
  const first = await warehouse.write('run-2', batchOf(1, { table: leads, rows }));
  const why = { entity: 'lead', why: 'edited', words: 'A user edited the row meanwhile.' };
  expect(first).toEqual({
    run: 2,
    added: { lead: 1 },
    left: [
      { ...why, id: '1' },
      { ...why, id: '2' },
    ],
  });
  const known = (await read()).rows.flatMap(({ edits }) => edits.map(({ editId }) => editId));
  const user = await database.connect();
  await user.query("UPDATE crm.lead SET title = 'mine again' WHERE id = 1");
  const second = await warehouse.write('run-3', {
    ...batchOf(2, { table: leads, rows }),
    edits: { known, outcomes: [], renames: [] },
  });
  expect(second.left).toEqual([{ ...why, id: '1' }]);
  const all = (await read()).rows.flatMap(({ edits }) => edits.map(({ editId }) => editId));
  await warehouse.write('run-4', {
    ...batchOf(3, { table: leads, rows }),
    edits: { known: all, outcomes: [], renames: [] },
  });
  const { rows: shown } = await user.query('SELECT id, title, status_name FROM crm.lead ORDER BY id');
  expect(shown).toEqual([
    { id: '1', title: 'mine again', status_name: 'won' },
    { id: '2', title: 'two', status_name: null },
    { id: '3', title: 'three', status_name: null },
  ]);
});

it('what came of edits is noted and told, and those that go on stay open', async () => {
  const { database, query, read, warehouse } = await openEdits();
  const user = await database.connect();
  const heard: unknown[] = [];
  user.on('notification', ({ payload }) => heard.push(payload));
  await user.query('LISTEN crm_outcome');
  for (const title of ['a', 'b', 'c']) await query(`UPDATE crm.lead SET title = '${title}' WHERE id = 1`);
  const [lead] = (await read()).rows;
  const [one, two, three] = lead?.edits.map(({ editId }) => editId) ?? [];
  const outcomes = [
    { editId: one ?? '', state: 'superseded' },
    { editId: two ?? '', state: 'lost', note: 'The CRM has \u0000“x”.' },
    { editId: three ?? '', state: 'taken' },
  ] as const;
  await warehouse.write('run-2', { ...batchOf(1), edits: { known: [], outcomes, renames: [] } });
  await user.query('SELECT 1');
  expect(heard).toEqual(expect.arrayContaining([one, two]));
  expect(heard).toHaveLength(2);
  expect(await query('SELECT state, note, ended_at IS NULL AS is_open FROM crm.edit ORDER BY seq')).toEqual([
    { state: 'superseded', note: null, is_open: false },
    { state: 'lost', note: 'The CRM has �“x”.', is_open: false },
    { state: 'taken', note: null, is_open: true },
  ]);
  await warehouse.write('run-3', {
    ...batchOf(2),
    edits: { known: [], outcomes: [{ editId: three ?? '', state: 'done', newId: '77' }], renames: [] },
  });
  expect(await query("SELECT new_id FROM crm.edit WHERE state = 'done' AND ended_at IS NOT NULL")).toEqual([
    { new_id: '77' },
  ]);
});
