import { expect, test } from 'vitest';
import { type Entity, listedEntities } from '../../src/core/record.ts';
import type { Agreement, StoredRecord } from '../../src/core/state.ts';
import type { Fields } from '../../src/core/value.ts';
import { decide } from '../../src/sheet/decide/decide.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { buildLayout } from '../../src/sheet/policy.ts';
import { emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { ObservedRow, ObservedTab } from '../../src/sheet/port/table.ts';
import { sampleCatalog } from '../support/fields.ts';
import { policyWith } from '../support/policy.ts';

const policy = policyWith();

const stored = (
  entity: Entity,
  id: string,
  fields: Fields,
  presence: StoredRecord['presence'],
): StoredRecord => ({
  key: { entity, id },
  fields,
  observedAt: 0,
  firstSeenAt: 0,
  lastSeenAt: 0,
  missedSweeps: 0,
  presence,
});

const agreed = ({ key, fields }: StoredRecord): Agreement => ({
  key,
  fields,
  offered: {},
  changedAt: 0,
  notice: '',
});

const tab = (...rows: ObservedRow[]): ObservedTab => ({
  state: 'read',
  rows,
  fields: new Set(['title', 'lead_id']),
  hasSync: true,
});

/** Leads 1 and 2 are both called Acme, and lead 1 was trashed. Task 5 of lead 1 shows it as `leadText`. */
function planTask(task: { readonly presence: StoredRecord['presence']; readonly leadText: string }): Plan {
  const records = [
    stored('lead', '1', { title: 'Acme' }, 'gone'),
    stored('lead', '2', { title: 'Acme' }, 'present'),
    stored('task', '5', { title: 'Call', lead_id: 1 }, task.presence),
  ];
  const row: ObservedRow = {
    position: 1,
    id: numberCell(5),
    sync: emptyCell,
    cells: { title: textCell('Call'), lead_id: textCell(task.leadText) },
  };
  return decide({
    known: {
      records,
      agreements: records.slice(1).map(agreed),
      outbox: [],
      decisions: [],
      suspects: [],
      claims: { open: new Set(), void: new Set() },
      arriving: new Set(),
      rules: new Map(),
      rebases: new Map(),
      remaps: new Map(),
      accountDoubt: undefined,
      contests: new Map(),
      catalog: sampleCatalog,
      sweptEntities: new Set(),
      nameless: new Map(),
      emptyLists: new Set(),
    },
    table: { tabs: { lead: tab(), opportunity: tab(), task: tab(row), contact: tab() }, timeZone: 'UTC' },
    isRestless: () => false,
    wasMissing: () => false,
    shownUntil: () => 0,
    layout: buildLayout(listedEntities, policy, sampleCatalog),
    policy,
    now: 1_000,
    run: 'run',
    newToken: () => 'new-token',
    isOwnToken: () => true,
  });
}

test('a row trashed together with its lead goes, although the lead it names is gone', () => {
  const { holds, table } = planTask({ presence: 'gone', leadText: 'Acme (#1)' });
  expect(holds.filter(({ entity, id }) => entity === 'task' && id !== undefined)).toEqual([]);
  expect(table.map(({ write }) => write.kind)).toEqual(['delete']);
});

test('a row that outlives its lead goes on naming it', () => {
  const { refusals, outbox } = planTask({ presence: 'present', leadText: 'Acme (#1)' });
  expect({ refusals, sent: outbox.save }).toEqual({ refusals: [], sent: [] });
});

test('a bare title never means a lead that is gone', () => {
  const { refusals, outbox } = planTask({ presence: 'present', leadText: 'Acme' });
  expect(refusals).toEqual([]);
  expect(outbox.save.map(({ fields }) => fields)).toEqual([{ lead_id: 2 }]);
});
