import { expect, test } from 'vitest';
import { createLabels } from '../../src/core/fields/labels.ts';
import type { RecordKey } from '../../src/core/record.ts';
import type { StoppedChange } from '../../src/core/waiting/waiting.ts';
import type { Plan, TableStep } from '../../src/sheet/plans/plan.ts';
import { textCell } from '../../src/sheet/port/cell.ts';
import { tellPlan } from '../../src/sheet/told-plan.ts';
import { editsOf, tellPlan as tellWarehousePlan } from '../../src/warehouse/plan.ts';
import { sampleCatalog } from '../support/fields.ts';

const labels = createLabels({
  catalog: sampleCatalog,
  findFields: ({ entity, id }: RecordKey) =>
    entity === 'lead' && id === '42' ? { title: 'Acme' } : undefined,
  headerOf: (_, { header }) => header,
  timeZone: 'UTC',
  titles: { lead: 'Leads', opportunity: 'Opportunities', task: 'Tasks', contact: 'Contacts' },
});

const acme: RecordKey = { entity: 'lead', id: '42' };
const empty = {
  outbox: { save: [], drop: [] },
  table: [],
  conflicts: [],
  brakes: [],
  holds: [],
  refusals: [],
};
const tell = (parts: object) => tellPlan(labels, { ...empty, restlessRows: 0, ...parts } as unknown as Plan);

const inSheet: TableStep['write'] = {
  kind: 'set',
  entity: 'lead',
  position: 3,
  idSeen: textCell('42'),
  cells: {},
};
const step = { key: acme, offers: {}, notice: '', write: inSheet };

test('a plan names records, headers and values as people know them, on both sides', () => {
  const save = [{ key: acme, kind: 'update', base: { title: 'Acme' }, fields: { title: 'Acme AG' } }];
  expect(tell({ outbox: { save, drop: [] } })).toEqual(['CRM  update Acme (#42) · Title: Acme → Acme AG']);
  const creates = { title: 'Dune', 'about.url': 'https://dune.example' };
  expect(tell({ table: [{ write: inSheet, creates }] })).toEqual([
    'CRM  create a new row of Leads',
    '    Title: empty → Dune',
    '    Website: empty → https://dune.example',
  ]);
  expect(tell({ conflicts: [{ key: acme, field: 'title', agreed: 'A', crm: 'B', table: 'C' }] })).toEqual([
    'Conflict  Acme (#42) · Title: the CRM has B, the sheet C',
  ]);
});

test('a plan shows the value with which a person settled a conflict before that is put into the sheet', () => {
  const journal = { before: { title: 'Acme' }, after: { title: 'Chosen' } };
  expect(tell({ table: [{ ...step, journal }, step] })).toEqual([
    'Sheet  set Acme (#42) · Title: Acme → Chosen',
    'Sheet  set Acme (#42) (its ID, Sync text or look)',
  ]);
});

test('what is held or an error is named by its tab, its record, or the row of the sheet that has none yet', () => {
  const holds = [
    { entity: 'task', reason: 'There is no tab.' },
    { entity: 'lead', id: '', position: 4, reason: 'It looks like record 7.' },
    { entity: 'lead', id: '42', position: 1, reason: 'Paused.' },
    { entity: 'question', reason: 'It has no column “ID”.' },
    { entity: 'lead', reason: 'Not added.', isOffer: true },
  ];
  expect(
    tell({ holds, refusals: [{ entity: 'lead', position: 8, reason: 'Not a date.' }], restlessRows: 2 }),
  ).toEqual([
    'Held  Tasks: There is no tab.',
    'Held  Leads, row 5: It looks like record 7.',
    'Held  Acme (#42), Leads: Paused.',
    'Held  The questions: It has no column “ID”.',
    'Offered  Leads: Not added.',
    'Error  Leads, row 9: Not a date.',
    '2 rows changed just now and are taken once they rest.',
  ]);
});

test('what waits behind a brake is told in words where a cell shows what can not be read, and not as empty', () => {
  const shown: StoppedChange[] = [
    { id: '1', what: 'differs', field: 'due_date' },
    { id: '2', what: 'differs', field: 'due_date', before: '2026-12-31' },
    { id: '3', what: 'emptied', field: 'due_date', before: '2026-12-31', after: null },
    { id: '4', what: 'row gone' },
  ];
  const brake = { scope: 'brake:task:rebase', entity: 'task', reason: 'New.', changes: { count: 5, shown } };
  expect(tell({ brakes: [brake] })).toEqual([
    'Stopped  New. To go on: answer brake:task:rebase approve',
    '    #1 · Due: differs',
    '    #2 · Due: differs from 2026-12-31',
    '    #3 · Due: 2026-12-31 → empty',
    '    #4: row gone',
    '    and 1 more',
  ]);
});

test('a plan asks nobody to approve a brake of which nobody is asked', () => {
  const changes = { count: 0, shown: [] };
  const brake = { scope: 'brake:lead:reading', entity: 'lead', reason: 'The CRM is being read.', changes };
  expect(tell({ brakes: [brake] })).toEqual(['Stopped  The CRM is being read.']);
});

test('a plan of the warehouse counts rows and names the edits by SQL that it decides about', () => {
  const parts = { records: { lead: 3, task: 0 }, deletes: { lead: 1 }, edits: [], brakes: [], holds: [] };
  const edits = [
    { place: 'lead 42 title', before: "'A'", after: "'B'" },
    { place: 'task 7', before: '', after: 'deleted' },
  ];
  expect(tellWarehousePlan(labels, { ...parts, edits, run: 'r', side: 'warehouse', at: 0 })).toEqual([
    'Warehouse  write 3 Leads',
    'Warehouse  delete 1 Leads',
    "SQL  lead 42 title: 'A' → 'B'",
    'SQL  task 7: deleted',
  ]);
  expect(editsOf([])).toEqual([]);
});
