import { expect, test } from 'vitest';
import { loadSettings } from '../../src/app/config.ts';
import { mistakes, needed, writeConfig } from '../support/config-files.ts';

test('a column rule for a field that does not exist is refused with the fields there are', () => {
  const file = writeConfig(
    'sheet:\n  tabs:\n    tasks:\n      columns:\n        colour: { direction: off }\n',
  );
  expect(mistakes({ ...needed, ...file })).toEqual([
    expect.stringContaining('Tasks has no field colour; it has title, description, status'),
  ]);
});

test('a column that shows more than the CRM’s fields says what it needs', () => {
  const columns = 'columns: { record_url: {}, contacts: {} }';
  const shown = (tabs = '', more = '') => ({
    ...needed,
    ...writeConfig(`sheet: { tabs: { leads: { ${columns} }${tabs} } }\n${more}`),
  });
  expect(mistakes(shown())).toEqual([
    'sheet.tabs.leads.columns.record_url: needs crm.recordUrl, the form of the addresses',
    'sheet.tabs.leads.columns.contacts: needs sheet.tabs.contacts.enabled, which has contacts read',
  ]);
  const address = 'crm: { recordUrl: "https://crm.example/{entity}/{id}" }';
  expect(mistakes(shown(', contacts: { enabled: true }', address))).toEqual([]);
});

test('a rule for a column of a table that there is no field for is refused with the fields there are', () => {
  const rule = (name: string) =>
    `warehouse:\n  tables:\n    tasks:\n      columns:\n        ${name}: { direction: toWarehouse, conflict: ask }\n`;
  const given = { ...needed, WAREHOUSE_URL: 'postgres://u:p@localhost:5432/crm' };
  expect(mistakes({ ...given, ...writeConfig(rule('colour')) })).toEqual([
    expect.stringContaining(
      'warehouse.tables.tasks.columns: there is no field colour; there are title, description, status',
    ),
  ]);
  const { warehouse } = loadSettings({ ...given, ...writeConfig(rule('title')) });
  expect(warehouse?.tables.tasks.columns).toEqual({ title: { direction: 'toWarehouse', conflict: 'ask' } });
});

test('no two columns of a tab may have one header, nor one of the daemon’s own', () => {
  const columns = (tab: string, rules: string) =>
    mistakes({ ...needed, ...writeConfig(`sheet:\n  tabs:\n    ${tab}:\n      columns: { ${rules} }\n`) });
  expect(columns('leads', 'title: { header: "about " }')).toEqual([
    'sheet.tabs.leads.columns.title.header: “about ” is already the header of about.description',
  ]);
  expect(columns('tasks', 'title: { header: sync }')).toEqual([
    'sheet.tabs.tasks.columns.title.header: “sync” is already the header of the daemon itself',
  ]);
  const pause = writeConfig('sheet:\n  tabs:\n    leads:\n      pauseColumn: title\n');
  expect(mistakes({ ...needed, ...pause })).toEqual([
    'sheet.tabs.leads.pauseColumn: “title” is already the header of title',
  ]);
  expect(columns('leads', 'custom.a: { header: Size }, custom.b: { header: size }')).toEqual([
    'sheet.tabs.leads.columns.custom.b.header: “size” is already the header of custom.a',
  ]);
  expect(columns('leads', 'title: { header: About }, about.description: { header: Title }')).toEqual([]);
  expect(columns('leads', 'title: { header: About }, about.description: { direction: off }')).toEqual([]);
});

test('no two tabs may have one title', () => {
  const titled = (sheet: string) => mistakes({ ...needed, ...writeConfig(`sheet: { ${sheet} }`) });
  expect(titled('tabs: { tasks: { title: leads } }')).toEqual([
    'sheet.tabs.tasks.title: “leads” is already the title of sheet.tabs.leads',
  ]);
  expect(titled('tabs: { tasks: { title: "Leads " } }')).toEqual([
    'sheet.tabs.tasks.title: “Leads ” is already the title of sheet.tabs.leads',
  ]);
  expect(titled('tabs: { leads: { title: Conflicts } }')).toEqual([
    'sheet.conflicts.title: “Conflicts” is already the title of sheet.tabs.leads',
  ]);
  expect(titled('tabs: { leads: { title: Conflicts } }, conflicts: { enabled: false }')).toEqual([]);
  expect(titled('tabs: { leads: { title: Contacts } }')).toEqual([]);
});

test('the order of columns names fields that there are', () => {
  const order = (fields: string) => ({
    ...needed,
    ...writeConfig(`sheet: { tabs: { tasks: { order: [${fields}] } } }`),
  });
  expect(loadSettings(order('due_date, title')).sheet?.tabs.tasks.order).toEqual(['due_date', 'title']);
  expect(mistakes(order('due'))[0]).toContain('Tasks has no field due;');
});

test('a rule for the records of a tab may name values, lists of them, and what the lead has to be', () => {
  const settings = loadSettings({
    ...needed,
    ...writeConfig(
      'sheet: { tabs: { leads: { only: { status: [new, contacted], owner: 9001, updatedWithinDays: 30, custom.tier: [Gold, null] } }, opportunities: { only: { stage.pipeline: Sales, lead: { status: new } } } } }',
    ),
  });
  expect(settings.sheet?.tabs.leads.only).toEqual({
    status: ['new', 'contacted'],
    owner: 9001,
    updatedWithinDays: 30,
    'custom.tier': ['Gold', null],
  });
  expect(settings.sheet?.tabs.opportunities.only).toEqual({
    'stage.pipeline': 'Sales',
    lead: { status: 'new' },
  });
});

test.each([
  [
    'leads',
    '{ state: new }',
    'state: there is no such condition; there are status, owner, updatedWithinDays or custom.<key>',
  ],
  [
    'leads',
    '{ title: Acme }',
    'title: there is no such condition; there are status, owner, updatedWithinDays or custom.<key>',
  ],
  ['leads', '{ status: [] }', 'status: must name one value at least'],
  ['leads', '{ updatedWithinDays: soon }', 'updatedWithinDays: must be a number of days above 0'],
  ['leads', '{ status: { is: new } }', 'status: must be a value or a list of values'],
  [
    'opportunities',
    '{ updatedWithinDays: 3 }',
    'updatedWithinDays: there is no such condition; there are stage, stage.pipeline or lead',
  ],
  [
    'tasks',
    '{ lead: new }',
    'lead: must be a section with what the lead has to be, such as { status: [new] }',
  ],
  [
    'tasks',
    '{ lead: { statsu: new } }',
    'lead.statsu: there is no such condition; there are status, owner, updatedWithinDays or custom.<key>',
  ],
])('a rule for the records of %s that says %s is refused with what there is', (tab, rule, mistake) => {
  const config = writeConfig(`sheet: { tabs: { ${tab}: { only: ${rule} } } }`);
  expect(mistakes({ ...needed, ...config })).toEqual([`sheet.tabs.${tab}.only.${mistake}`]);
});

test('a rule for the records of a tab that is no section is refused', () => {
  const config = writeConfig('sheet: { tabs: { leads: { only: [new] } } }');
  expect(mistakes({ ...needed, ...config })).toEqual([
    expect.stringMatching(/^sheet\.tabs\.leads\.only: must be a section/),
  ]);
  const nested = writeConfig('sheet: { tabs: { leads: { only: { status: [[new]] } } } }');
  expect(mistakes({ ...needed, ...nested })).toEqual([
    expect.stringMatching(/^sheet\.tabs\.leads\.only\.status: must be a value or a list of values/),
  ]);
});
