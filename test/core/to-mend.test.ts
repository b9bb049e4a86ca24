import { expect, test } from 'vitest';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import { createLabels } from '../../src/core/fields/labels.ts';
import { isForUser, listToMend } from '../../src/sync/to-mend.ts';

const labels = createLabels({
  catalog: emptyCatalog,
  findFields: ({ id }) => ({ title: `Lead ${id}` }),
  headerOf: (_entity, { header }) => header,
  timeZone: 'UTC',
  titles: { lead: 'Leads', opportunity: 'Deals', task: 'Tasks', contact: 'Contacts' },
});

const none = { brakes: [], holds: [], refusals: [] };
const brakeOf = (entity: 'lead' | 'task') => ({
  scope: `brake:${entity}:reading`,
  entity,
  reason: 'The key is a new one.',
  changes: { count: 0, shown: [] },
});

test('what stops several kinds of record for one reason is said once, with all of their names', () => {
  const found = { ...none, brakes: [brakeOf('lead'), brakeOf('task')] };
  expect(listToMend(found, new Set(), labels)).toEqual([
    { kind: 'stopped', entityTitle: 'Leads, Tasks', reason: 'The key is a new one.' },
  ]);
});

test('what is asked about is not said a second time', () => {
  const hold = { entity: 'lead', id: '1', reason: 'Its row is gone.', decision: 'vanished:lead-1' } as const;
  const refusal = { entity: 'lead', id: '2', reason: 'No.', decision: 'refused:lead-2' } as const;
  const found = { brakes: [brakeOf('lead')], holds: [hold], refusals: [refusal] };
  const asked = new Set(['brake:lead:reading', 'vanished:lead-1', 'refused:lead-2']);
  expect(listToMend(found, asked, labels)).toEqual([]);
});

test('only what a user has to mend is for one', () => {
  const holds = [
    { entity: 'lead', id: '1', position: 4, reason: 'Paused.' },
    { entity: 'task', reason: 'Its column is not there.', isOffer: true },
    { entity: 'question', reason: 'There is no column “ID”.' },
  ] as const;
  const refusals = [
    { entity: 'lead', position: 8, reason: 'Not a date.' },
    { entity: 'lead', id: '3', reason: 'No.', decision: 'refused:lead-3', isIgnored: true },
  ] as const;
  const all = listToMend({ brakes: [brakeOf('lead')], holds, refusals }, new Set(), labels);
  expect(all.map((item) => [item.kind, item.name, item.scope, isForUser(item)])).toEqual([
    ['stopped', undefined, undefined, false],
    ['error', undefined, undefined, true],
    ['ignored', 'Lead 3 (#3)', 'refused:lead-3', false],
    ['held', 'Lead 1 (#1)', undefined, true],
    ['offered', undefined, undefined, false],
    ['held', undefined, undefined, true],
  ]);
});
