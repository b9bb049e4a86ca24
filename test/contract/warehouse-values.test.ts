import { expect, it, onTestFinished } from 'vitest';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import type { Value } from '../../src/core/value.ts';
import { layoutOf, nextColumns } from '../../src/warehouse/columns.ts';
import type { TableLayout } from '../../src/warehouse/port/layout.ts';
import type { RowValues } from '../../src/warehouse/port/port.ts';
import { referencesOf } from '../../src/warehouse/references.ts';
import {
  batchOf,
  leads,
  noon,
  openWarehouseDatabase,
  version,
  type WarehouseDatabaseOptions,
} from '../support/warehouse-database.ts';

async function openStage(options: WarehouseDatabaseOptions = {}) {
  const database = await openWarehouseDatabase(options);
  onTestFinished(() => database[Symbol.asyncDispose]());
  const warehouse = database.open();
  const scanAll = async (table: TableLayout = leads): Promise<RowValues[]> => {
    const rows: RowValues[] = [];
    for await (const { values } of warehouse.scan(table)) rows.push(values);
    return rows;
  };
  /** What a column shows after values were written and filled into it, a row each. */
  const roundTrip = async (column: string, values: readonly Value[]) => {
    const rows = values.map((value, index) => version(index + 1, { [column]: value }));
    const written = await warehouse.write('run-1', batchOf(0, { rows }));
    const shownWritten = (await scanAll()).map((row) => row[column]);
    await database.tamper('TRUNCATE crm.lead');
    const filled = await warehouse.fill('run-2', 1, leads, rows);
    const shownFilled = (await scanAll()).map((row) => row[column]);
    return { left: [...written.left, ...filled.left], shownWritten, shownFilled };
  };
  return { database, warehouse, scanAll, roundTrip };
}

it('fault 33: texts of any kind come back as they were written, by a write and by a fill', async () => {
  const { roundTrip } = await openStage();
  const texts = [
    'plain',
    '',
    '\\N',
    '\\.',
    'tab\tline\nreturn\rback\\slash',
    '"quoted", {braced}',
    '👩‍👩‍👧 שלום e\u0301',
    'x'.repeat(10_000_000),
    null,
  ];
  const { left, shownWritten, shownFilled } = await roundTrip('title', texts);
  expect(left).toEqual([]);
  expect(shownWritten).toEqual(texts);
  expect(shownFilled).toEqual(texts);
});

it('a NUL is refused in its row alone, and half a character becomes U+FFFD', async () => {
  const { roundTrip } = await openStage();
  const { left, shownWritten, shownFilled } = await roundTrip('title', ['a', 'n\0l', 'half\ud83d', 'z']);
  expect(left.map(({ id, why }) => `${id} ${why}`)).toEqual(['2 refused', '2 refused']);
  expect(shownWritten).toEqual(['a', 'half\ufffd', 'z']);
  expect(shownFilled).toEqual(shownWritten);
});

it('names of the CRM with a NUL or half a character keep nothing from being written', async () => {
  const { database, warehouse } = await openStage();
  const name = 'A\0B\ud800';
  const catalog = {
    ...emptyCatalog,
    pipelines: [{ id: 1, name, stages: [{ id: 2, name, order: 1 }] }],
    leadStatuses: [{ name, label: name }],
    customFields: [{ key: 'odd', name, kind: 'text' as const, options: [] }],
  };
  const custom = nextColumns([], catalog, '2026-01-01T00:00:00Z');
  const layout = layoutOf({ schema: 'crm', hasHistory: true, entities: ['lead'] }, catalog, custom);
  await warehouse.layOut(layout);
  const references = referencesOf(catalog, { custom, lostStages: [], at: noon(1) });
  await warehouse.write('run-1', { ...batchOf(0), references });
  const stored = 'A\ufffdB\ufffd';
  expect(
    await database.list(
      'SELECT name FROM crm.pipeline UNION ALL SELECT name FROM crm.stage UNION ALL SELECT label FROM crm.lead_status UNION ALL SELECT name FROM crm.custom_field',
    ),
  ).toEqual([stored, stored, stored, stored]);
});

it('fault 34: numbers keep every digit, and one that JavaScript cannot hold stays text', async () => {
  const { roundTrip } = await openStage();
  const numbers = [0, -0, 0.1 + 0.2, 1e21, 1.5e-7, -1.25, Number.MAX_SAFE_INTEGER, 5e-324];
  const long = '1234567890123456789012345678901234567890.12';
  const { left, shownWritten, shownFilled } = await roundTrip('cf_amount', [...numbers, long]);
  expect(left).toEqual([]);
  expect(shownWritten).toEqual([0, 0, ...numbers.slice(2), long]);
  expect(shownFilled).toEqual(shownWritten);
});

it('numbers that people put into a column are scanned as they are', async () => {
  const { database, scanAll } = await openStage();
  await database.tamper(
    `INSERT INTO crm.lead (id, cf_amount) VALUES (1, 'NaN'), (2, 1.50), (3, 1e400), (4, 100), (5, 0.30000000000000004)`,
  );
  const amounts = (await scanAll()).map((row) => row['cf_amount']);
  expect(amounts).toEqual(['NaN', 1.5, `1${'0'.repeat(400)}`, 100, 0.1 + 0.2]);
});

it('what a type cannot hold is left with the words of the database, and all else is written', async () => {
  const { warehouse, scanAll } = await openStage();
  const rows = [
    version(1, { cf_visits: 2 ** 40 }),
    version(2, { cf_visits: 1.5 }),
    version(3, { cf_day: '2026-02-30' }),
    version(4, { cf_open: 'perhaps' }),
    version(5, { cf_tags: 'no list' }),
    version(6, { title: 7, cf_visits: 8 }),
  ];
  const { left } = await warehouse.write('run-1', batchOf(0, { rows }));
  expect(left.map(({ id, why }) => `${id} ${why}`)).toEqual([1, 2, 3, 4, 5].map((id) => `${id} refused`));
  expect(left[2]?.words).toContain('2026-02-30');
  expect(await scanAll()).toMatchObject([{ title: '7', cf_visits: 8 }]);
});

const unkind = {
  DateStyle: "'German, DMY'",
  TimeZone: "'Asia/Kathmandu'",
  IntervalStyle: "'sql_standard'",
  extra_float_digits: '-15',
  default_transaction_isolation: "'serializable'",
  client_encoding: "'LATIN1'",
};

it('fault 35: no default of the role changes what a value means', async () => {
  const { database, warehouse, roundTrip } = await openStage({ defaults: unkind });
  const instants = ['2026-03-29T01:30:00.000Z', '0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
  const shown = await roundTrip('created_at', instants);
  expect(shown).toEqual({ left: [], shownWritten: instants, shownFilled: instants });
  await database.tamper('TRUNCATE crm.lead; UPDATE crm_sync.link SET run_no = 0; TRUNCATE crm_sync.ledger');
  const days = ['2026-10-05', '0001-01-01', '9999-12-31', null];
  expect(await roundTrip('cf_day', days)).toEqual({ left: [], shownWritten: days, shownFilled: days });
  const at = Date.UTC(2026, 9, 5, 1);
  await warehouse.touch([{ entity: 'lead', records: 1, rows: 1, state: 'fresh', note: 'ä ☃', at }]);
  expect(await database.query('SELECT note, written_at FROM crm.freshness')).toEqual([
    { note: 'ä ☃', written_at: new Date(at) },
  ]);
});

it('dates and times beyond the CRM are scanned as the database has them', async () => {
  const { database, scanAll } = await openStage();
  await database.tamper(
    `INSERT INTO crm.lead (id, cf_day, created_at) VALUES (1, 'infinity', '-infinity'),
       (2, '4713-01-01 BC', '2026-01-01 00:00:00.123456+00'), (3, '10000-01-01', '10000-01-01 00:00+00')`,
  );
  expect((await scanAll()).map((row) => [row['cf_day'], row['created_at']])).toEqual([
    ['infinity', '-infinity'],
    ['4713-01-01 BC', '2026-01-01T00:00:00.123456Z'],
    ['10000-01-01', '10000-01-01 00:00:00+00'],
  ]);
});

it('lists keep their members and order, and a list that is none for the CRM is scanned as text', async () => {
  const { database, roundTrip, scanAll } = await openStage();
  const lists = [['b', 'a'], ['', 'NULL', 'a,b', '{}', 'ü"\\'], [], null];
  const { left, shownWritten, shownFilled } = await roundTrip('cf_tags', lists);
  expect(left).toEqual([]);
  expect([shownWritten, shownFilled]).toEqual([lists, lists]);
  await database.tamper(`TRUNCATE crm.lead; INSERT INTO crm.lead (id, cf_tags) VALUES (1, '{a,NULL}')`);
  expect(await scanAll()).toMatchObject([{ cf_tags: '["a",null]' }]);
});

it('a column that is absent keeps what it has', async () => {
  const { warehouse, scanAll } = await openStage();
  const both = { title: 'A', cf_open: true, cf_tags: ['x'] };
  await warehouse.write('run-1', batchOf(0, { rows: [version(1, both)] }));
  await warehouse.write('run-2', batchOf(1, { rows: [version(1, { title: 'B' }), version(2, {})] }));
  await warehouse.fill('run-3', 2, leads, [version(1, { cf_open: false })]);
  expect(await scanAll()).toMatchObject([
    { title: 'B', cf_open: false, cf_tags: ['x'] },
    { title: null, cf_open: null },
  ]);
});

it('fault 49: two hundred and fifty custom fields are written and read', async () => {
  const { database, warehouse, scanAll } = await openStage();
  const names = Array.from({ length: 250 }, (_each, index) => `cf_more_${index}`);
  await database.query(`ALTER TABLE crm.lead ${names.map((name) => `ADD COLUMN ${name} text`).join(', ')}`);
  await database.query(
    `ALTER TABLE crm_sync.lead_past ${names.map((name) => `ADD COLUMN ${name} text`).join(', ')}`,
  );
  const columns = names.map((name) => ({ field: name, name, type: 'text' as const, comment: '' }));
  const wide: TableLayout = { ...leads, columns: [...leads.columns, ...columns] };
  const values = Object.fromEntries(names.map((name) => [name, `of ${name}`]));
  const rows = [version(1, values), version(2, values)];
  expect((await warehouse.write('run-1', batchOf(0, { table: wide, rows }))).left).toEqual([]);
  expect(await scanAll(wide)).toMatchObject([values, values]);
});

it('a column that is retired is neither written nor read, also where it is gone', async () => {
  const { database, warehouse, scanAll } = await openStage();
  await database.query('ALTER TABLE crm.lead DROP COLUMN cf_day CASCADE');
  const columns = leads.columns.map((column) =>
    column.name === 'cf_day' ? { ...column, retiredAt: '2026-01-01T00:00:00.000Z' } : column,
  );
  const table: TableLayout = { ...leads, columns };
  const { left } = await warehouse.write('run-1', batchOf(0, { table, rows: [version(1, { title: 'A' })] }));
  expect(left).toEqual([]);
  expect(await scanAll(table)).toMatchObject([{ title: 'A' }]);
});
