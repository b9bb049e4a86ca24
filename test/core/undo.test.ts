import { describe, expect, test } from 'vitest';
import { emptyCatalog } from '../../src/core/catalog.ts';
import type { HistoryEntry } from '../../src/core/history.ts';
import { emptyAgreement, type StoredRecord } from '../../src/core/state.ts';
import { planUndo, type UndoSubject } from '../../src/core/undo.ts';
import type { Fields } from '../../src/core/value.ts';

const key = { entity: 'lead', id: '7' } as const;

function entry(id: number, parts: Partial<HistoryEntry>): HistoryEntry {
  const own = { id, at: id, run: 'run-1', key, lost: {}, cause: 'edited in the sheet' };
  return { ...own, kind: 'update', side: 'crm', before: {}, after: {}, ...parts };
}

function knowing(fields: Fields, changes: Partial<UndoSubject> = {}): () => UndoSubject {
  const record: StoredRecord = {
    key,
    fields,
    observedAt: 0,
    firstSeenAt: 0,
    lastSeenAt: 0,
    missedSweeps: 0,
    presence: 'present',
  };
  return () => ({ record, agreement: { ...emptyAgreement(key, 0), fields }, item: undefined, ...changes });
}

describe('taking back', () => {
  const twice = [
    entry(2, { before: { title: 'B' }, after: { title: 'C' } }),
    entry(1, { before: { title: 'A', 'about.url': 'x' }, after: { title: 'B', 'about.url': 'y' } }),
  ];

  test('several changes of a field goes back to what stood before the first of them', () => {
    const plan = planUndo(twice, knowing({ title: 'C', 'about.url': 'y' }), emptyCatalog);
    expect(plan).toEqual({
      steps: [
        {
          key,
          kind: 'update',
          fields: { title: 'A', 'about.url': 'x' },
          base: { title: 'C', 'about.url': 'y' },
        },
      ],
      refusals: [],
    });
  });

  test('stops at a field that was edited since, and takes back the others', () => {
    const plan = planUndo(twice, knowing({ title: 'Later', 'about.url': 'y' }), emptyCatalog);
    expect(plan.steps).toMatchObject([{ fields: { 'about.url': 'x' } }]);
    expect(plan.refusals).toEqual([{ key, field: 'title', reason: 'It was edited since.' }]);
  });

  test('stops at a field whose cell has another value than was agreed', () => {
    const agreement = { ...emptyAgreement(key, 0), fields: { title: 'D' } };
    const plan = planUndo(twice, knowing({ title: 'C' }, { agreement }), emptyCatalog, 'title');
    expect(plan).toMatchObject({ steps: [], refusals: [{ field: 'title' }] });
  });

  test('one field leaves the others as they are', () => {
    const plan = planUndo(twice, knowing({ title: 'C', 'about.url': 'y' }), emptyCatalog, 'title');
    expect(plan.steps).toMatchObject([{ fields: { title: 'A' }, base: { title: 'C' } }]);
  });

  test('a value that lost a conflict puts it back', () => {
    const lost = entry(3, {
      side: 'table',
      before: { title: 'Mine' },
      after: { title: 'Theirs' },
      lost: { title: 'Mine' },
    });
    const plan = planUndo([lost], knowing({ title: 'Theirs' }), emptyCatalog);
    expect(plan.steps).toMatchObject([{ fields: { title: 'Mine' }, base: { title: 'Theirs' } }]);
  });

  test('all of a record that came from the CRM takes back what was changed since it got its row', () => {
    const appended = entry(0, { kind: 'create', side: 'table', after: { title: 'A', 'about.url': 'x' } });
    const now = knowing({ title: 'C', 'about.url': 'y' });
    expect(planUndo([...twice, appended], now, emptyCatalog)).toEqual(planUndo(twice, now, emptyCatalog));
    expect(planUndo([...twice, appended], now, emptyCatalog, 'title')).toMatchObject({
      steps: [{ fields: { title: 'A' } }],
      refusals: [],
    });
  });

  test('a record that was created in the sheet moves it to the trash, unless it was edited since', () => {
    const created = entry(1, { kind: 'create', after: { title: 'A' } });
    expect(planUndo([created], knowing({ title: 'A' }), emptyCatalog).steps).toMatchObject([
      { kind: 'delete' },
    ]);
    expect(planUndo([created], knowing({ title: 'B' }), emptyCatalog)).toMatchObject({
      steps: [],
      refusals: [{ field: 'title' }],
    });
  });

  test('what was changed after the record was brought back from the trash goes back', () => {
    const trashed = entry(0, { kind: 'delete' });
    const now = knowing({ title: 'C', 'about.url': 'y' });
    expect(planUndo([...twice, trashed], now, emptyCatalog)).toEqual(planUndo(twice, now, emptyCatalog));
  });

  test.each<[string, Partial<HistoryEntry>, Partial<UndoSubject>]>([
    ['was created in the CRM', { kind: 'create', side: 'table', after: { title: 'A' } }, {}],
    ['is in the trash of the CRM', { kind: 'delete' }, { record: undefined }],
    ['is not in the CRM any more', { before: { title: 'A' }, after: { title: 'B' } }, { record: undefined }],
  ])('what %s is refused with a reason', (_, parts, subject) => {
    const plan = planUndo([entry(1, parts)], knowing({ title: 'B' }, subject), emptyCatalog);
    expect(plan).toMatchObject({ steps: [], refusals: [{ key }] });
  });
});
