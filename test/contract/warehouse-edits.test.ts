import { expect, it, onTestFinished } from 'vitest';
import { contractLayout, openPostgresWarehouseStage } from '../support/warehouse-contract-stage.ts';
import { batchOf, version } from '../support/warehouse-database.ts';

const [leads, opportunities] = contractLayout.tables as readonly [
  (typeof contractLayout.tables)[0],
  (typeof contractLayout.tables)[0],
];

/** What only this database does with edits; what every one does is in the contract. */
async function openEdits() {
  const stage = await openPostgresWarehouseStage();
  onTestFinished(() => stage.close());
  await stage.warehouse.write(
    'run-1',
    batchOf(
      0,
      { table: leads, rows: [version(1, { title: 'one', cf_tags: ['a'] })] },
      { table: opportunities, rows: [version(5, { lead_id: 1, value: 12.5, note: null })] },
    ),
  );
  const read = () => stage.warehouse.readEdits(contractLayout.tables, { limit: 100, after: '0' });
  return { ...stage, query: (sql: string) => stage.database.query(sql), read };
}

it('edits are read in the form of values, whatever SQL they were written in', async () => {
  const { query, read } = await openEdits();
  await query("UPDATE crm.lead SET title = 'uno', cf_tags = '{b,a}' WHERE id = 1");
  await query(
    "UPDATE crm.opportunity SET value = 3.10, note = 'n', confidence = 7, expected_close_date = '2026-02-03'",
  );
  const { rows } = await read();
  expect(rows).toMatchObject([
    {
      values: { title: 'uno', cf_tags: ['b', 'a'], status_name: null },
      edits: [
        {
          by: 'postgres',
          before: { title: 'one', cf_tags: ['a'] },
          after: { title: 'uno', cf_tags: ['b', 'a'] },
        },
      ],
    },
    {
      edits: [
        {
          before: { value: 12.5, note: null, confidence: null, expected_close_date: null },
          after: { value: 3.1, note: 'n', confidence: 7, expected_close_date: '2026-02-03' },
        },
      ],
    },
  ]);
});

it('what came of edits is told to who listens, but that they were taken', async () => {
  const { database, query, read, warehouse } = await openEdits();
  const user = await database.connect();
  const heard: unknown[] = [];
  user.on('notification', ({ payload }) => heard.push(payload));
  await user.query('LISTEN crm_outcome');
  for (const title of ['a', 'b', 'c']) await query(`UPDATE crm.lead SET title = '${title}' WHERE id = 1`);
  const [one = '', two = '', three = ''] = (await read()).rows[0]?.edits.map(({ editId }) => editId) ?? [];
  const outcomes = [
    { editId: one, state: 'superseded' },
    { editId: two, state: 'lost', note: 'The CRM has \u0000“x”.' },
    { editId: three, state: 'taken' },
  ] as const;
  await warehouse.write('run-2', { ...batchOf(1), edits: { known: [], outcomes, renames: [] } });
  await user.query('SELECT 1');
  expect(heard).toEqual(expect.arrayContaining([one, two]));
  expect(heard).toHaveLength(2);
  expect(await query("SELECT note FROM crm.edit WHERE state = 'lost'")).toEqual([
    { note: 'The CRM has �“x”.' },
  ]);
});
