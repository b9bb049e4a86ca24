import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { loadLinks, loadSettings } from '../../src/app/config.ts';
import { linkNameOf } from '../../src/app/link.ts';
import { auditMinuteOf, warehouseName, warehouseTls } from '../../src/app/settings/warehouse.ts';
import { enabledEntities } from '../../src/app/settings.ts';
import { layoutNow, termsOf } from '../../src/app/warehouse-side.ts';

const crm = {
  CRM_BASE_URL: 'https://crm.example/api/v1/external',
  CRM_API_KEY: `svc_live_${'0a'.repeat(32)}`,
};
const password = 'correct-horse';
const WAREHOUSE_URL = `postgres://crm:${password}@db.example:5433/analytics`;
const needed = { ...crm, WAREHOUSE_URL };

function configured(settings: object): Record<string, string> {
  const directory = mkdtempSync(join(tmpdir(), 'config-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'config.yaml');
  writeFileSync(file, stringify(settings));
  return { CRM_SYNC_CONFIG: file };
}

function refusalOf(load: () => unknown): string {
  try {
    load();
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  return 'nothing was refused';
}

const warehouseOf = (environment: Record<string, string>) => loadSettings(environment).warehouse!;

describe('a link', () => {
  test('with a database alone needs no spreadsheet, and everything else has its default', () => {
    const settings = loadSettings(needed);
    expect(settings.sheet).toBeUndefined();
    expect(settings.warehouse).toMatchObject({
      schema: 'crm',
      freshnessMs: 60_000,
      history: 'on',
      auditAt: '03:30',
      brakes: { deletesMin: 5, deletesShare: 0.1 },
    });
    expect(enabledEntities(settings)).toEqual(['lead', 'opportunity', 'task']);
    expect(linkNameOf(settings)).toBe('db.example:5433/analytics/crm');
  });

  test('with a spreadsheet alone has no database, whatever else is said of one', () => {
    const file = configured({ warehouse: { history: 'off' } });
    expect(loadSettings({ ...crm, ...file, GOOGLE_SPREADSHEET_ID: 'abc' }).warehouse).toBeUndefined();
  });

  test('has no spreadsheet because the machine has a login for Google', () => {
    expect(loadSettings({ ...needed, GOOGLE_APPLICATION_CREDENTIALS: '/key.json' }).sheet).toBeUndefined();
  });

  test('with neither gets the words that it needs one of both', () => {
    expect(refusalOf(() => loadSettings(crm))).toContain(
      'sheet.spreadsheetId (GOOGLE_SPREADSHEET_ID): is missing: name a spreadsheet here, or a database in warehouse.url (WAREHOUSE_URL), or both',
    );
  });

  test('keeps the same what any of its sides shows', () => {
    const contacts = configured({
      sheet: { tabs: { contacts: { enabled: true } } },
      warehouse: { tables: { leads: { enabled: true }, tasks: { enabled: false } } },
    });
    const both = { ...needed, ...contacts, GOOGLE_SPREADSHEET_ID: 'abc' };
    expect(enabledEntities(loadSettings(both))).toEqual(['lead', 'opportunity', 'task', 'contact']);
    expect(enabledEntities(loadSettings({ ...needed, ...contacts }))).toEqual(['lead', 'opportunity']);
    expect(linkNameOf(loadSettings(both))).toBe('abc');
  });
});

describe('the address of the database', () => {
  test.each([
    ['mysql://crm:correct-horse@db.example/analytics', 'must be an address such as postgres://'],
    ['postgres://crm:correct-horse%@db.example/analytics', 'must be an address such as postgres://'],
    ['postgres://crm:correct-horse@db%zz/analytics', 'must be an address such as postgres://'],
    ['postgres://db.example/analytics', 'must name a user'],
    ['postgres://crm:correct-horse@db.example', 'must end with the name of the database'],
    ['postgres://crm:correct-horse@db.example/analytics?sslmode=require', 'must have no parameters but host'],
  ])('is refused where it is not one, without its password: %s', (url, words) => {
    const refusal = refusalOf(() => loadSettings({ ...crm, WAREHOUSE_URL: url }));
    expect(refusal).toContain(`warehouse.url (WAREHOUSE_URL): ${words}`);
    expect(refusal).not.toContain(password);
  });

  test('comes from a file that the environment or the configuration names', () => {
    const directory = mkdtempSync(join(tmpdir(), 'secret-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'url');
    writeFileSync(file, `${WAREHOUSE_URL}\n`);
    expect(warehouseOf({ ...crm, WAREHOUSE_URL_FILE: file }).url).toBe(WAREHOUSE_URL);
    expect(warehouseOf({ ...crm, ...configured({ warehouse: { urlFile: file } }) }).url).toBe(WAREHOUSE_URL);
  });

  test('and its schema name the database without the login', () => {
    expect(warehouseName(warehouseOf(needed))).toBe('db.example:5433/analytics/crm');
  });

  test.each([
    ['postgres://crm@localhost/a', 'off'],
    ['postgres://crm@127.0.0.1/a', 'off'],
    ['postgres://crm@[::1]/a', 'off'],
    ['postgres://crm@localhost/a?host=/run/postgresql', 'off'],
    ['postgres://crm@%2Frun%2Fpostgresql/a', 'off'],
    ['postgres://crm@db.example/a', 'verify'],
  ] as const)('%s is reached with tls %s where nothing else is said', (url, tls) => {
    expect(warehouseTls(warehouseOf({ ...crm, WAREHOUSE_URL: url }))).toBe(tls);
    const file = configured({ warehouse: { tls: 'encrypt' } });
    expect(warehouseTls(warehouseOf({ ...crm, ...file, WAREHOUSE_URL: url }))).toBe('encrypt');
  });
});

test.each(['Crm', 'public', 'pg_crm', 'crm_sync', 'crm-north', '1crm', 'c'.repeat(41)])(
  '%s cannot be the schema of the tables',
  (schema) => {
    const refusal = refusalOf(() => loadSettings({ ...needed, ...configured({ warehouse: { schema } }) }));
    expect(refusal).toContain('warehouse.schema: must');
  },
);

test.each([
  ['03:30', 210],
  ['00:00', 0],
  ['off', undefined],
])('rows are compared at %s, which is minute %s of the day', (auditAt, minute) => {
  expect(auditMinuteOf(warehouseOf({ ...needed, ...configured({ warehouse: { auditAt } }) }))).toBe(minute);
});

test('there is no time 24:00', () => {
  const file = configured({ warehouse: { auditAt: '24:00' } });
  expect(refusalOf(() => loadSettings({ ...needed, ...file }))).toContain('must be a time of the day');
});

describe('of several links', () => {
  const keys = { CRM_API_KEY_NORTH: crm.CRM_API_KEY, CRM_API_KEY_FAR_SOUTH: crm.CRM_API_KEY };
  const two = { north: {}, 'far-south': { sheet: { spreadsheetId: 'abc' } } };

  test('each has a schema of its own in the database that they share', () => {
    const links = loadLinks({ ...needed, ...keys, ...configured({ links: two }) });
    expect(links.map(({ sheet, warehouse }) => [sheet?.spreadsheetId, warehouse?.schema])).toEqual([
      [undefined, 'crm_north'],
      ['abc', 'crm_far_south'],
    ]);
  });

  test('one has the database that its own variable names', () => {
    const links = loadLinks({
      ...crm,
      ...keys,
      ...configured({ links: two }),
      WAREHOUSE_URL_NORTH: WAREHOUSE_URL,
    });
    expect(links.map(({ warehouse }) => warehouse?.schema)).toEqual(['crm_north', undefined]);
  });

  test('two with the same schema in the same database are refused, however its address is written', () => {
    const environment = {
      ...crm,
      ...keys,
      ...configured({ warehouse: { schema: 'sales' }, links: two }),
      WAREHOUSE_URL_NORTH: 'postgres://crm@DB.example/analytics',
      WAREHOUSE_URL_FAR_SOUTH: 'postgres://other@db.example:5432/analytics',
    };
    const words =
      'north and far-south have the same warehouse.schema in one database; each link needs its own';
    expect(refusalOf(() => loadLinks(environment))).toContain(words);
    expect(refusalOf(() => loadSettings({ ...environment, CRM_SYNC_LINK: 'north' }))).toContain(words);
  });

  test('one whose name ends with sync has to name a schema, because _sync is for the machinery', () => {
    const file = configured({ links: { 'north-sync': {} } });
    expect(refusalOf(() => loadLinks({ ...needed, ...file }))).toContain('not end with _sync');
  });
});

test('edits that are over are kept for 90 days, or as many as the settings say, at least one', () => {
  expect(warehouseOf(needed).edits.keepDays).toBe(90);
  const daysOf = (keepDays: number) =>
    warehouseOf({ ...needed, ...configured({ warehouse: { edits: { keepDays } } }) }).edits.keepDays;
  expect(daysOf(1)).toBe(1);
  expect(refusalOf(() => daysOf(0))).toContain('warehouse.edits.keepDays');
});

describe('a rule for a column', () => {
  const withTables = (tables: object) => ({
    ...needed,
    ...configured({ warehouse: { edits: { enabled: true, conflict: 'ask' }, tables } }),
  });
  const leads = (columns: object) => withTables({ leads: { columns } });

  test('is for the decision as it is in the settings, and the others keep the rule for all', () => {
    const columns = { title: { conflict: 'warehouse' }, 'custom.city': { direction: 'toWarehouse' } };
    const { editing } = termsOf(warehouseOf(leads(columns)));
    expect(editing?.conflict).toBe('ask');
    expect(editing?.columns?.lead).toEqual({
      title: { conflict: 'table', isReadOnly: false },
      'custom.city': { conflict: undefined, isReadOnly: true },
    });
    expect(editing?.columns?.task).toEqual({});
  });

  test('keeps the column of its field from SQL, and no other', () => {
    const columns = { 'about.url': { direction: 'toWarehouse' }, title: { direction: 'both' } };
    const { tables } = layoutNow(termsOf(warehouseOf(leads(columns))));
    const kept = tables.flatMap((table) =>
      table.columns.flatMap(({ editing, name }) => (editing?.isReadOnly ? [`${table.entity}.${name}`] : [])),
    );
    expect(kept).toEqual(['lead.about_url']);
  });

  test.each([
    [
      { leads: { columns: { title: { direction: 'toSheet' } } } },
      'warehouse.tables.leads.columns.title.direction: must be one of both, toWarehouse',
    ],
    [
      { leads: { columns: { title: { conflict: 'sheet' } } } },
      'warehouse.tables.leads.columns.title.conflict: must be one of crm, warehouse, ask',
    ],
    [
      { leads: { columns: { title: { header: 'Name' } } } },
      'warehouse.tables.leads.columns.title: there is no setting header here',
    ],
    [{ lead: { columns: {} } }, 'warehouse.tables: there is no setting lead here'],
    [
      { leads: { columns: { about_url: { conflict: 'ask' } } } },
      'warehouse.tables.leads.columns: there is no field about_url; there are title,',
    ],
    [
      { tasks: { columns: { 'custom.city': { conflict: 'ask' } } } },
      'warehouse.tables.tasks.columns: there is no field custom.city; there are title,',
    ],
  ])('is refused where it is none: %j', (tables, words) => {
    expect(refusalOf(() => loadSettings(withTables(tables)))).toContain(words);
  });
});
