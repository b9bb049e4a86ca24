import { describe, expect, test } from 'vitest';
import { createCascades, relateRecords } from '../../src/core/cascade.ts';
import { type Catalog, emptyCatalog } from '../../src/core/fields/catalog.ts';
import type { HistoryEntry } from '../../src/core/history.ts';
import { waitingStep } from '../../src/core/outbox.ts';
import type { RecordKey } from '../../src/core/record.ts';
import { emptyAgreement, type StoredRecord } from '../../src/core/state.ts';
import { notTakenBackCause, planUndo, type UndoSubject } from '../../src/core/undo.ts';
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
  const agreement = { ...emptyAgreement(key, 0), fields };
  return () => ({ record, agreement, item: undefined, goingWith: [], ...changes });
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

  test('counts nothing that is agreed about a row that left by a rule, which shows no edit since', () => {
    const left = {
      ...emptyAgreement(key, 0),
      fields: { title: 'B' },
      leave: { state: 'left', at: 0 },
    } as const;
    const plan = planUndo(twice, knowing({ title: 'C' }, { agreement: left }), emptyCatalog, 'title');
    expect(plan).toMatchObject({ steps: [{ fields: { title: 'A' } }], refusals: [] });
  });

  test('a row that left by a rule has changed nothing that could go back', () => {
    const left = entry(3, { kind: 'delete', side: 'table', before: { title: 'A' }, cause: 'left the tab' });
    expect(planUndo([left], knowing({ title: 'A' }), emptyCatalog)).toEqual({
      steps: [],
      refusals: [{ key, reason: expect.stringMatching(/^Only its row left the sheet: /) }],
    });
    const edit = entry(2, { before: { title: 'B' }, after: { title: 'A' } });
    expect(planUndo([left, edit], knowing({ title: 'A' }), emptyCatalog).steps).toMatchObject([
      { fields: { title: 'B' } },
    ]);
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

  test.each<[string, Fields]>([
    ['filled a field that was empty then', { title: 'A', status_name: 'New', 'about.url': 'x' }],
    ['changed what the CRM had set of itself', { title: 'A', status_name: 'Won' }],
    ['emptied what the CRM had set of itself', { title: 'A', status_name: null }],
  ])('S4: stops at a record that was created in the sheet when somebody %s', (_, fields) => {
    const created = entry(1, { kind: 'create', after: { title: 'A' } });
    const told = entry(2, { kind: 'adopt', after: { status_name: 'New' } });
    expect(
      planUndo([told, created], knowing({ title: 'A', status_name: 'New' }), emptyCatalog).steps,
    ).toEqual([{ key, kind: 'delete', fields: {}, base: { title: 'A', status_name: 'New' } }]);
    expect(planUndo([told, created], knowing(fields), emptyCatalog)).toMatchObject({
      steps: [],
      refusals: [{ key, field: 'about.url' in fields ? 'about.url' : 'status_name' }],
    });
  });

  test('a value that the CRM does not take is refused beforehand, and the others go back', () => {
    const priced = { entity: 'opportunity', id: '7' } as const;
    const line = entry(1, {
      key: priced,
      before: { value: null, note: 'a' },
      after: { value: 500, note: 'b' },
    });
    const plan = planUndo([line], knowing({ value: 500, note: 'b' }), emptyCatalog);
    expect(plan.steps).toMatchObject([{ fields: { note: 'a' } }]);
    expect(plan.refusals).toEqual([{ key: priced, field: 'value', reason: 'Value can not be empty.' }]);
  });

  test('a status that was deleted since is not added to the CRM again', () => {
    const line = entry(1, {
      before: { status_name: 'cold', title: 'A' },
      after: { status_name: 'won', title: 'B' },
    });
    const now = knowing({ status_name: 'won', title: 'B' });
    const withStatuses = (...names: readonly string[]) => ({
      ...emptyCatalog,
      leadStatuses: names.map((name) => ({ name, label: name })),
    });
    const plan = planUndo([line], now, withStatuses('won'));
    expect(plan.steps).toMatchObject([{ fields: { title: 'A' }, base: { title: 'B' } }]);
    const reason = 'The CRM does not have the status “cold” any more.';
    expect(plan.refusals).toEqual([{ key, field: 'status_name', reason }]);
    expect(planUndo([line], now, withStatuses('won', 'cold')).refusals).toEqual([]);
  });

  test.each([
    ['stage', 'opportunity', { stage_id: 1 }, { stage_id: 2 }, 'the stage that it was in'],
    ['option', 'lead', { 'custom.size': 'XL' }, { 'custom.size': 's' }, 'the option “XL”'],
    ['option', 'lead', { 'custom.topics': ['Web', 'Print'] }, { 'custom.topics': [] }, 'the option “Print”'],
    ['lead', 'opportunity', { lead_id: 8 }, { lead_id: 9 }, 'lead 8'],
    ['task', 'task', { parent_task_id: 8 }, { parent_task_id: 9 }, 'task 8'],
  ] as const)(
    'a value that names a %s which was deleted since stays in its %s, and the others go back',
    (_, entity, before: Fields, after: Fields, what) => {
      const own = { entity, id: '7' } as const;
      const other = entity === 'opportunity' ? 'note' : 'title';
      const back = entry(1, {
        key: own,
        before: { ...before, [other]: 'A' },
        after: { ...after, [other]: 'B' },
      });
      const forth = entry(1, {
        key: own,
        before: { ...after, [other]: 'A' },
        after: { ...before, [other]: 'B' },
      });
      const catalog: Catalog = {
        ...emptyCatalog,
        pipelines: [{ id: 1, name: 'Sales', stages: [{ id: 2, name: 'Won', order: 1 }] }],
        customFields: [
          { key: 'size', name: 'Size', kind: 'select', options: ['S', 'M'] },
          { key: 'topics', name: 'Topics', kind: 'multi-select', options: ['Web'] },
        ],
      };
      const among = (fields: Fields) => (asked: RecordKey) => {
        const { record, ...rest } = knowing({ ...fields, [other]: 'B' })();
        const presence = asked.id === '8' ? ('gone' as const) : ('present' as const);
        return { ...rest, record: record && { ...record, key: asked, presence } };
      };
      const plan = planUndo([back], among(after), catalog);
      expect(plan.steps).toMatchObject([{ fields: { [other]: 'A' }, base: { [other]: 'B' } }]);
      const [field] = Object.keys(before);
      const reason = `The CRM does not have ${what} any more.`;
      expect(plan.refusals).toEqual([{ key: own, field, reason }]);
      expect(planUndo([forth], among(before), catalog).refusals).toEqual([]);
    },
  );

  test('a custom field that the CRM does not have any more stays, and the others go back', () => {
    const line = entry(1, {
      before: { 'custom.city': 'Rome', title: 'A' },
      after: { 'custom.city': 'Oslo', title: 'B' },
    });
    const now = knowing({ 'custom.city': 'Oslo', title: 'B' });
    const city = { key: 'city', name: 'City', kind: 'text', options: [] } as const;
    const plan = planUndo([line], now, emptyCatalog);
    expect(plan.steps).toMatchObject([{ fields: { title: 'A' }, base: { title: 'B' } }]);
    const reason = 'The CRM does not list this field any more.';
    expect(plan.refusals).toEqual([{ key, field: 'custom.city', reason }]);
    expect(planUndo([line], now, { ...emptyCatalog, customFields: [city] }).refusals).toEqual([]);
  });

  test('a custom field that the CRM takes no value for now stays, and the others go back', () => {
    const line = entry(1, {
      before: { 'custom.city': 'Rome', title: 'A' },
      after: { 'custom.city': 'Oslo', title: 'B' },
    });
    const now = knowing({ 'custom.city': 'Oslo', title: 'B' });
    const held = 'it is switched off in the CRM';
    const city = { key: 'city', name: 'City', kind: 'text', options: [], held } as const;
    const plan = planUndo([line], now, { ...emptyCatalog, customFields: [city] });
    expect(plan.steps).toMatchObject([{ fields: { title: 'A' }, base: { title: 'B' } }]);
    const reason = 'It is left alone, because it is switched off in the CRM.';
    expect(plan.refusals).toEqual([{ key, field: 'custom.city', reason }]);
  });

  test.each([
    ['waiting', 'Something of it waits to be sent to the CRM: try again when that is done.'],
    ['refused', 'The CRM refused something of it: retry or revert that first, or mend its row.'],
  ] as const)('a record of which a change is %s says what comes first', (state, reason) => {
    const item = {
      ...waitingStep({ now: 0, run: 'run-2' }, key, { kind: 'update', fields: {}, base: {} }),
      state,
    };
    const { refusals } = planUndo(twice, knowing({ title: 'C', 'about.url': 'y' }, { item }), emptyCatalog);
    expect(refusals).toEqual([{ key, reason }]);
  });

  test('a line that says that something was not taken back is nothing to take back', () => {
    const failed = entry(3, {
      before: { title: 'C' },
      after: { title: 'C' },
      lost: { title: 'A' },
      cause: notTakenBackCause('It was edited in the CRM since.'),
    });
    expect(planUndo([failed], knowing({ title: 'C' }), emptyCatalog)).toEqual({ steps: [], refusals: [] });
  });

  test('says of a contact that it is gone for good', () => {
    const contact = { entity: 'contact', id: '4.a' } as const;
    const gone = [entry(1, { key: contact, kind: 'delete' })];
    const [refusal] = planUndo(gone, knowing({}, { record: undefined }), emptyCatalog).refusals;
    expect(refusal?.reason).toBe('It was deleted for good: the CRM has no trash for contacts.');
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

test.each([
  ['created in the CRM', 'It was created in the CRM: delete it there.'],
  ['row restored', 'Its row came back to the sheet: delete it there again.'],
])('of a row that says “%s” in the history, what to do instead is told', (cause, reason) => {
  const row = entry(1, { kind: 'create', side: 'table', after: { title: 'A' }, cause });
  expect(planUndo([row], knowing({ title: 'A' }), emptyCatalog).refusals).toEqual([{ key, reason }]);
});

describe('taking back what was created', () => {
  const lead = { entity: 'lead', id: '1' } as const;
  const task = { entity: 'task', id: '2' } as const;
  const subtask = { entity: 'task', id: '3' } as const;
  const contact = { entity: 'contact', id: '1:a' } as const;
  const owners = new Map<RecordKey, Fields>([
    [lead, {}],
    [task, { lead_id: 1 }],
    [subtask, { lead_id: 1, parent_task_id: 2 }],
    [contact, { lead_id: 1 }],
  ]);
  const createdAs = (id: number, created: RecordKey) =>
    entry(id, { key: created, kind: 'create', after: { ...owners.get(created), title: 'A' } });

  /** Undo where the CRM has these records, each with the title that it was created with unless another is named. */
  function undoWith(created: readonly RecordKey[], has: readonly RecordKey[], titles: Fields = {}) {
    const records = has.map((own): StoredRecord => {
      const { record } = knowing({ ...owners.get(own), title: titles[own.id] ?? 'A' })();
      if (!record) throw new Error('A subject of these tests has a record.');
      return { ...record, key: own };
    });
    const { goingWith } = createCascades(relateRecords(records), []);
    const find = (own: RecordKey): UndoSubject => ({
      record: records.find((record) => record.key === own),
      agreement: undefined,
      item: undefined,
      goingWith: goingWith(own),
    });
    const entries = created.map((own, index) => createdAs(index + 1, own));
    return planUndo(entries, find, emptyCatalog);
  }

  test('S4: stops at a record to which others were added, and names them', () => {
    const plan = undoWith([lead], [lead, task, subtask, contact]);
    const reason =
      '2 tasks and 1 contact would go with it. Take back what belongs to it first, or delete it in the CRM.';
    expect(plan).toEqual({ steps: [], refusals: [{ key: lead, reason }] });
  });

  test('takes a record back as a whole, and last what the others belong to', () => {
    const all = [lead, task, subtask, contact];
    const { steps, refusals } = undoWith(all, all);
    expect(steps.map(({ kind }) => kind)).toEqual(['delete', 'delete', 'delete', 'delete']);
    expect(steps.map((step) => step.key)).toEqual([subtask, contact, task, lead]);
    expect(refusals).toEqual([]);
  });

  test('S4: keeps all that something which was edited since belongs to, and takes back what is beside it', () => {
    const all = [lead, task, subtask, contact];
    const { steps, refusals } = undoWith(all, all, { [subtask.id]: 'Edited' });
    expect(steps.map((step) => step.key)).toEqual([contact]);
    expect(refusals).toMatchObject([
      { key: subtask, field: 'title' },
      { key: task, reason: expect.stringMatching(/^1 task would go with it\./) },
      { key: lead, reason: expect.stringMatching(/^2 tasks would go with it\./) },
    ]);
  });

  test('is not kept by what went before it', () => {
    expect(undoWith([lead, task], [lead])).toMatchObject({
      steps: [{ key: lead, kind: 'delete' }],
      refusals: [{ key: task }],
    });
  });
});
