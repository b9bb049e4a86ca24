import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { openDoctorStage } from '../support/doctor-stage.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { openWarehouseStage, password } from '../support/warehouse-roles.ts';

const limit = { timeout: 120_000 };
const tablesIn = async (database: TestDatabase): Promise<unknown[]> =>
  (
    await database.query(
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'crm' AND table_type = 'BASE TABLE'",
    )
  ).map(({ table_name: name }) => name);

describe('a link with a database alone', limit, () => {
  test('is checked and set up without a spreadsheet, and no password is shown', async () => {
    const { as, database, diagnose, run } = await openWarehouseStage();
    const { checks: before } = await diagnose(as('maker'));
    expect(before.get('warehouse')).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/^PostgreSQL \d+/),
    });
    expect(before.get('warehouse rights')).toMatchObject({
      found: expect.stringMatching(/may create its schemas$/),
    });
    expect(before.get('warehouse keeper')).toMatchObject({ found: 'no mirror keeps the tables yet' });
    expect([...before.keys()]).not.toContain('spreadsheet');

    const { code, output } = await run(['init'], as('maker'));
    expect(output).toMatch(/has got its tables: crm\.lead \(\d+ fields\), crm\.opportunity \(\d+ fields\)/);
    expect(code).toBe(0);
    expect(await tablesIn(database)).toEqual(
      expect.arrayContaining(['lead', 'opportunity', 'task', 'freshness']),
    );
    expect((await run(['init'], as('maker'))).output).toContain('has its tables: crm.lead');

    const { checks, code: healthy } = await diagnose(as('maker'));
    expect(healthy).toBe(0);
    expect(checks.get('warehouse tables')).toMatchObject({ state: 'ok', found: 'lead, opportunity, task' });
    expect(checks.get('warehouse rights')).toMatchObject({
      found: expect.stringMatching(/owns its schemas$/),
    });
    expect(checks.get('warehouse keeper')).toMatchObject({ found: 'kept by this mirror, with 0 writes' });
    expect(JSON.stringify([output, ...before.values(), ...checks.values()])).not.toContain(password);
  });

  test('whose role may not make schemas is given the SQL for an administrator', async () => {
    const { as, database, diagnose, run } = await openWarehouseStage();
    const { checks } = await diagnose(as('guest'));
    expect(checks.get('warehouse rights')).toMatchObject({ state: 'failed' });
    const { code, output } = await run(['init'], as('guest'));
    expect(code).toBe(3);
    expect(output).toContain('An administrator of the database has to run this:');
    const printed = await run(['warehouse', 'sql'], as('guest'));
    expect(printed.code).toBe(0);
    expect(output).toContain(printed.output.trim());
    await database.query(printed.output);
    expect(await tablesIn(database)).toContain('lead');
    expect(await run(['init'], as('guest'))).toMatchObject({ code: 0 });
  });

  test('which logs in as a superuser is warned', async () => {
    const { as, diagnose } = await openWarehouseStage();
    expect((await diagnose(as('postgres'))).checks.get('warehouse role')).toMatchObject({
      state: 'warning',
      found: 'postgres is a superuser',
    });
  });

  test('whose tables another mirror keeps takes them over only with consent', async () => {
    const { as, diagnose, environment, run } = await openWarehouseStage();
    expect(await run(['init'], as('maker'))).toMatchObject({ code: 0 });
    const elsewhere = { ...as('maker'), STATE_DIR: `${environment['STATE_DIR']}-2` };
    const refused = await run(['init'], elsewhere);
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining('“init --adopt” takes over those of another mirror'),
    });
    expect((await diagnose(elsewhere)).checks.get('warehouse keeper')).toMatchObject({ state: 'failed' });
    expect(await run(['init', '--adopt'], elsewhere)).toMatchObject({ code: 0 });
    expect((await diagnose(elsewhere)).checks.get('warehouse keeper')).toMatchObject({ state: 'ok' });
    expect((await diagnose(as('maker'))).checks.get('warehouse keeper')).toMatchObject({ state: 'failed' });
  });

  test('whose table lost a column hears of it from doctor, and gets it back by init', async () => {
    const { as, database, diagnose, run } = await openWarehouseStage();
    expect(await run(['init'], as('maker'))).toMatchObject({ code: 0 });
    await database.query('ALTER TABLE crm.task DROP COLUMN title CASCADE');
    const lacking = (await diagnose(as('maker'))).checks.get('warehouse tables');
    expect(lacking).toMatchObject({ state: 'warning', found: expect.stringContaining('title') });
    expect(await run(['init'], as('maker'))).toMatchObject({ code: 0 });
    expect((await diagnose(as('maker'))).checks.get('warehouse tables')).toMatchObject({ state: 'ok' });
  });

  test('describes its tables to dbt', async () => {
    const { as, run } = await openWarehouseStage();
    const { code, output } = await run(['warehouse', 'dbt'], as('maker'));
    expect(code).toBe(0);
    const { sources } = parse(output);
    expect(sources[0]).toMatchObject({ name: 'crm', schema: 'crm' });
    expect(sources[0].tables[0]).toMatchObject({
      name: 'lead',
      loaded_at_query: `select list_read_at from "crm".freshness where entity = 'lead'`,
    });
    const columns = sources[0].tables[0].columns.map(({ name }: { name: string }) => name);
    expect(columns).toEqual(expect.arrayContaining(['id', 'title', 'valid_from']));
  });

  test('that does not answer is named without its login', async () => {
    const { diagnose } = await openDoctorStage();
    const url = `postgres://crm:${password}@127.0.0.1:1/analytics`;
    const { checks, code } = await diagnose({ GOOGLE_SPREADSHEET_ID: '', WAREHOUSE_URL: url });
    expect(code).toBe(4);
    expect(checks.get('warehouse')).toMatchObject({ state: 'failed' });
    expect(JSON.stringify([...checks.values()])).not.toContain(password);
  });
});

test('the commands about the database say where none is named', limit, async () => {
  const { run } = await openDoctorStage();
  expect(await run(['warehouse', 'sql'])).toMatchObject({
    code: 2,
    output: expect.stringContaining('name one in warehouse.url (WAREHOUSE_URL)'),
  });
});
