import { expect, test } from 'vitest';
import { seedCustomFields } from '../../src/sandbox/crm/seed-catalog.ts';
import { openWarehouseEngine, type WarehouseEngine } from '../support/warehouse-engine.ts';

type Definition = (typeof seedCustomFields)[number];

const setFields = ({ model }: WarehouseEngine, customFields: readonly Definition[]) =>
  void Object.assign(model.records, { customFields });

const city = seedCustomFields.find(({ field_key }) => field_key === 'city') as Definition;
const others = seedCustomFields.filter((field) => field !== city);

const columns = `SELECT column_name FROM information_schema.columns
  WHERE table_schema = 'crm' AND table_name = 'lead' AND column_name LIKE 'cf\\_city%' ORDER BY 1`;
const listed =
  "SELECT column_name, name, retired_at IS NOT NULL AS is_retired FROM crm.custom_field WHERE key LIKE 'city%' ORDER BY 1";

test('fault 49: a custom field keeps its column and the views of users on it, whatever becomes of the field', {
  timeout: 60_000,
}, async () => {
  const stage = await openWarehouseEngine();
  await stage.start();
  await stage.settled();
  await stage.database.query('CREATE VIEW public.mine AS SELECT id, cf_city FROM crm.lead');
  const cities = await stage.database.query('SELECT * FROM public.mine ORDER BY id');

  setFields(stage, [...others, { ...city, name: 'Town' }]);
  await stage.shows(listed, ([row]) => row?.['name'] === 'Town');
  expect(await stage.database.query(columns)).toEqual([{ column_name: 'cf_city' }]);

  setFields(stage, others);
  await stage.shows(listed, ([row]) => row?.['is_retired'] === true);
  expect(await stage.database.query('SELECT * FROM public.mine ORDER BY id')).toEqual(cities);

  setFields(stage, [...others, city]);
  await stage.shows(listed, ([row]) => row?.['is_retired'] === false);

  setFields(stage, [...others, { ...city, id: 900, type: 'number' }]);
  await stage.shows(listed, (rows) => rows.length === 2);
  expect(await stage.database.query(listed)).toMatchObject([
    { column_name: 'cf_city', is_retired: true },
    { column_name: 'cf_city_2', is_retired: false },
  ]);
  expect(await stage.database.query('SELECT * FROM public.mine ORDER BY id')).toEqual(cities);
  expect(stage.engine.listProblems()).toEqual([]);
});

test('users that the configuration names have their names in user_name and beside the ids of leads', {
  timeout: 60_000,
}, async () => {
  const stage = await openWarehouseEngine({ users: { 9001: 'Mara Stein', 9003: 'Ewa Zielińska' } });
  await stage.start();
  await stage.settled();
  await stage.shows('SELECT id, name FROM crm.user_name ORDER BY id', ({ length }) => length === 2);
  const named = await stage.database.query(
    `SELECT DISTINCT cf_account_manager AS id, cf_account_manager_name AS name
       FROM crm.lead_overview WHERE cf_account_manager IS NOT NULL ORDER BY id`,
  );
  expect(named.length).toBeGreaterThan(1);
  const names = new Map<unknown, string>([
    ['9001', 'Mara Stein'],
    ['9003', 'Ewa Zielińska'],
  ]);
  expect(named).toEqual(named.map(({ id }) => ({ id, name: names.get(id) ?? id })));
});
