import { expect, test } from 'vitest';
import type { Catalog } from '../../src/core/fields/catalog.ts';
import { createLabels } from '../../src/core/fields/labels.ts';
import { type RecordKey, recordKeyText } from '../../src/core/record.ts';
import type { Fields } from '../../src/core/value.ts';

const catalog: Catalog = {
  pipelines: [{ id: 1, name: 'Sales', stages: [{ id: 7, name: 'Won', order: 1 }] }],
  leadStatuses: [{ name: 'qualified', label: 'Qualified' }],
  customFields: [
    { key: 'yearly_budget', name: 'Yearly budget (€)', kind: 'number', options: [] },
    { key: 'manager', name: 'Manager', kind: 'user', options: [] },
    { key: 'team', name: 'Team', kind: 'users', options: [] },
  ],
  users: [{ id: '9003', name: 'Ewa Zielińska' }],
};

const records: Readonly<Record<string, Fields>> = {
  'lead-1018': { title: 'Oak & Ember GmbH' },
  'opportunity-3003': { lead_id: 1018 },
  'task-5': { title: '' },
  'contact-1018.ab': { full_name: 'Zoë Weiß', lead_id: 1018 },
  'lead-new-1a2b': { title: 'Typed' },
};

const labels = createLabels({
  catalog,
  findFields: (key) => records[recordKeyText(key)],
  headerOf: (_entity, { header, name }) => (name === 'value' ? 'Amount' : header),
  timeZone: 'Europe/Berlin',
  titles: { lead: 'Leads', opportunity: 'Deals', task: 'Tasks', contact: 'Contacts' },
});

test.each<[key: RecordKey, name: string]>([
  [{ entity: 'lead', id: '1018' }, 'Oak & Ember GmbH (#1018)'],
  [{ entity: 'opportunity', id: '3003' }, 'Oak & Ember GmbH (#3003)'],
  [{ entity: 'contact', id: '1018.ab' }, 'Zoë Weiß (#1018.ab)'],
  [{ entity: 'task', id: '5' }, '#5'],
  [{ entity: 'lead', id: 'new-1a2b' }, 'Typed (new)'],
  [{ entity: 'lead', id: 'new-ffff' }, 'a new row'],
])('the record %j is called %s', (key, name) => {
  expect(labels.nameOf(key)).toBe(name);
});

test('a record that is known no more is called what its line of the history says', () => {
  expect(labels.nameOf({ entity: 'lead', id: '9' }, { title: 'Gone AG' })).toBe('Gone AG (#9)');
});

test.each([
  ['lead', 'custom.yearly_budget', 48_750, '48,750'],
  ['lead', 'custom.yearly_budget', 1250.5, '1,250.50'],
  ['lead', 'status_name', 'qualified', 'Qualified'],
  ['lead', 'status_name', 'unlisted', 'unlisted'],
  ['lead', 'created_at', '2026-01-06T23:44:54.556Z', '2026-01-07 00:44'],
  ['lead', 'title', '', 'empty'],
  ['lead', 'title', null, 'empty'],
  ['lead', 'title', undefined, 'empty'],
  ['lead', 'custom.unlisted', true, 'yes'],
  ['lead', 'custom.unlisted', ['A', 'B'], 'A, B'],
  ['lead', 'custom.manager', '9003', 'Ewa Zielińska'],
  ['lead', 'custom.team', ['9003', '9004'], 'Ewa Zielińska, 9004'],
  ['opportunity', 'stage_id', 7, 'Sales / Won'],
  ['opportunity', 'stage_id', 8, '#8'],
  ['opportunity', 'lead_id', 1018, 'Oak & Ember GmbH (#1018)'],
  ['task', 'status', 2, 'In progress'],
  ['task', 'parent_task_id', 5, '#5'],
  ['task', 'due_date', '2026-12-05', '2026-12-05'],
] as const)('a value of %s.%s, %j, is shown as %s', (entity, name, value, shown) => {
  expect(labels.show(entity, name, value)).toBe(shown);
});

test('a change names its field as its column is headed, and only what was lost as lost', () => {
  const key = { entity: 'opportunity', id: '3003' } as const;
  const change = {
    before: { value: 1, stage_id: null },
    after: { value: null, stage_id: null },
    lost: { note: 'Call' },
  };
  expect(labels.listChanges(key, change)).toEqual([
    { header: 'Amount', before: '1', after: 'empty' },
    { header: 'Note', before: 'empty', after: 'empty', lost: 'Call' },
  ]);
});
