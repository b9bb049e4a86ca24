import { describe, expect, test } from 'vitest';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import { waitingStep } from '../../src/core/outbox.ts';
import type { StoredRecord } from '../../src/core/state.ts';
import type { TakenEdit } from '../../src/core/taken-edit.ts';
import { type EditContext, type EditedRecord, resolve } from '../../src/warehouse/edits/context.ts';
import { decideEdits } from '../../src/warehouse/edits/decide.ts';
import { takeRow } from '../../src/warehouse/edits/take.ts';
import { keepUnlogged } from '../../src/warehouse/edits/unlogged.ts';
import type { WarehouseLink } from '../../src/warehouse/link.ts';
import type { SqlEdit } from '../../src/warehouse/port/port.ts';
import { rebaseTables } from '../../src/warehouse/recover.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';
import { layoutWith } from '../support/warehouse-layout.ts';

const context: EditContext = {
  now: 1_000,
  run: 'run',
  catalog: emptyCatalog,
  policy: { conflict: 'ask', deletes: 'ask' },
  choice: () => undefined,
  answeredAt: () => undefined,
  findInsert: () => undefined,
  isRead: () => true,
  companyOf: () => '',
};

const key = { entity: 'lead', id: '7' } as const;

let count = 0;

function editOf(kind: TakenEdit['kind'], parts: Partial<TakenEdit> = {}): TakenEdit {
  count += 1;
  const given = { editId: `edit-${count}`, key, row: key.id, kind, before: {}, after: {}, ended: {} };
  return { ...given, by: 'u', at: 1, state: 'taken', note: '', isMeant: false, isTold: false, ...parts };
}

const update = (before: string, after: string, field = 'title') =>
  editOf('update', { before: { [field]: before }, after: { [field]: after } });

const recordWith = (fields: StoredRecord['fields']): StoredRecord => ({
  key,
  fields,
  firstSeenAt: 1,
  lastSeenAt: 1,
  missedSweeps: 0,
  presence: 'present',
  observedAt: 1,
});

const subject = (edits: readonly TakenEdit[], title = 'A'): EditedRecord => ({
  key,
  record: recordWith({ title, 'about.url': 'https://a' }),
  agreement: undefined,
  item: undefined,
  edits,
});

const statesOf = (edits: readonly TakenEdit[], changed: readonly TakenEdit[]) =>
  edits.map(({ editId, state }) => changed.find((each) => each.editId === editId)?.state ?? state);

describe('where the CRM changed a field as well, the rule for its column says who wins', () => {
  const decideWith = (policy: EditContext['policy']) => {
    const edits = [update('A', 'B'), update('https://a', 'https://b', 'about.url')];
    const record = recordWith({ title: 'C', 'about.url': 'https://c' });
    const verdict = decideEdits({ ...context, policy }, { ...subject(edits), record });
    return { sent: verdict.step?.fields, states: statesOf(edits, verdict.edits) };
  };

  test.each([
    ['table', { sent: { title: 'B' }, states: ['taken', 'conflict'] }],
    ['crm', { sent: undefined, states: ['lost', 'conflict'] }],
    ['ask', { sent: undefined, states: ['conflict', 'conflict'] }],
  ] as const)('%s for one column leaves the other to the rule for all', (conflict, comesTo) => {
    const columns = { lead: { title: { conflict } } };
    expect(decideWith({ conflict: 'ask', deletes: 'ask', columns })).toEqual(comesTo);
  });

  test('but not that for the same field of another kind of record', () => {
    const columns = { task: { title: { conflict: 'table' } } } as const;
    expect(decideWith({ conflict: 'crm', deletes: 'ask', columns }).states).toEqual(['lost', 'lost']);
  });

  test('but a rule without a conflict changes nothing', () => {
    const columns = { lead: { title: { isReadOnly: true } } };
    expect(decideWith({ conflict: 'table', deletes: 'ask', columns }).states).toEqual(['taken', 'taken']);
  });
});

test('a column that is kept from SQL is no edit where edits were not noted, and counts against a missing row', () => {
  const { mirror } = openMirrorInMemory();
  mirror.setFollowers(['warehouse']);
  const own = mirror.of('warehouse');
  const { columns, ...table } = layoutWith().tables[0]!;
  const edited = columns.map((column) => ({
    ...column,
    editing: column.name === 'status_name' ? ({ isReadOnly: true } as const) : {},
  }));
  const link = { clock: { now: () => 1 }, mirror: own, newWord: () => 'word-1' };
  const after = { title: 'A', status_name: 'new' };
  const drifts = [
    { kind: 'different', key: { ...key, id: '8' }, after, lost: { status_name: 'x' } },
    { kind: 'missing', key, after, lost: {} },
  ] as const;
  expect(keepUnlogged(link as unknown as WarehouseLink, { ...table, columns: edited }, drifts)).toEqual([
    drifts[0],
  ]);
  expect(own.edits.readOpen()).toMatchObject([{ kind: 'delete', key, before: after }]);
});

describe('what was taken back', () => {
  test('counts no more, but for the base of what was written to the same field since', () => {
    const edits = [
      update('A', 'B'),
      update('https://a', 'https://b', 'about.url'),
      editOf('revert'),
      update('B', 'C'),
    ];
    const verdict = decideEdits(context, subject(edits));
    expect(verdict.step).toMatchObject({ fields: { title: 'C' }, base: { title: 'A' } });
    expect(statesOf(edits, verdict.edits)).toEqual(['superseded', 'superseded', 'done', 'taken']);
    expect(verdict.isDue).toBe(true);
  });

  test('is over where nothing was written since', () => {
    const edits = [update('A', 'B'), editOf('revert')];
    const verdict = decideEdits(context, subject(edits));
    expect(verdict).toMatchObject({ dropsStep: false, isDue: true });
    expect(statesOf(edits, verdict.edits)).toEqual(['superseded', 'done']);
  });
});

test('what is written to a row that was taken back comes to nothing', () => {
  const own = { entity: 'lead', id: 'new-gone' } as const;
  const edits = [{ ...update('A', 'B'), key: own, row: '-1' }];
  const nobody = { key: own, record: undefined, agreement: undefined, item: undefined };
  const verdict = decideEdits(context, { ...nobody, edits });
  expect(verdict.edits).toMatchObject([{ state: 'lost', note: 'Its row was taken back before.' }]);
});

describe('a row that was deleted and inserted again', () => {
  const replaced = () => [editOf('delete', { before: { title: 'A' } }), update('A', 'B')];

  test('waits and ends as the edit that this was', () => {
    const edits = replaced();
    expect(statesOf(edits, decideEdits(context, subject(edits, 'C')).edits)).toEqual([
      'conflict',
      'conflict',
    ]);
    expect(statesOf(edits, decideEdits(context, subject(edits, 'B')).edits)).toEqual(['superseded', 'void']);
  });
});

test('W4: a mirror that was put back doubts every create that it was to send', () => {
  const { mirror } = openMirrorInMemory();
  mirror.setFollowers(['warehouse']);
  const own = mirror.of('warehouse');
  for (const id of ['a', 'b', 'c']) {
    const made = editOf('insert', {
      editId: id,
      key: { entity: 'lead', id: `new-${id}` },
      row: '-1',
      isTold: true,
    });
    own.edits.save(made);
    const step = waitingStep({ now: 1, run: 'r' }, made.key, {
      kind: 'create',
      fields: { title: id },
      base: {},
    });
    if (id === 'a') own.saveOutboxItem(step);
    if (id === 'c') own.saveOutboxItem({ ...step, state: 'refused' });
  }
  rebaseTables(own, 2);
  const states = own.readOutbox().map((item) => [item.key.id, item.state, item.error?.code]);
  expect(states.toSorted()).toEqual([
    ['new-a', 'review', 'CRM_UNKNOWN_OUTCOME'],
    ['new-b', 'review', 'CRM_UNKNOWN_OUTCOME'],
    ['new-c', 'review', 'CRM_UNKNOWN_OUTCOME'],
  ]);
});

/** Takes edits of a row of which nothing was taken before. */
const takeNew = (id: string, edits: readonly Partial<SqlEdit>[]) => {
  const given = { kind: 'update', state: 'new', before: {}, after: {}, by: 'u', ageMs: 1 } as const;
  return takeRow(
    {
      now: 1,
      run: 'run',
      rememberedMs: 1_000,
      edits: { find: () => undefined, findInsert: () => undefined },
    },
    layoutWith().tables[0]!,
    { entity: 'lead', id, edits: edits.map((edit, index) => ({ editId: String(index), ...given, ...edit })) },
  );
};

describe('a column that the CRM does not list', () => {
  const take = (edit: Partial<SqlEdit>) => takeNew('-1', [{ kind: 'insert', ...edit }]).edits;

  test('is kept with what was written there, and the row is not sent without it', () => {
    const edits = take({ after: { title: 'New', cf_city: 'Bern', cf_size: null } });
    expect(edits[0]?.after).toEqual({ title: 'New', 'custom.city': 'Bern', 'custom.size': null });
    const verdict = decideEdits(context, {
      key: edits[0]?.key ?? key,
      record: undefined,
      agreement: undefined,
      item: undefined,
      edits,
    });
    expect(verdict.step).toBeUndefined();
    expect(verdict.edits).toMatchObject([{ state: 'refused', note: 'The CRM has no field custom.city.' }]);
  });
});

describe('a row that is inserted', () => {
  const own = { entity: 'lead', id: 'new-1' } as const;
  const decideInsert = (after: TakenEdit['after'], parts: Partial<EditContext>) =>
    decideEdits(
      { ...context, ...parts },
      {
        key: own,
        record: undefined,
        agreement: undefined,
        item: undefined,
        edits: [editOf('insert', { key: own, row: '-1', after })],
      },
    );

  test('is not sent without what it has for a field that is left alone', () => {
    const field = { key: 'city', name: 'City', kind: 'text' as const, held: 'it is gone', options: [] };
    const catalog = { ...emptyCatalog, customFields: [field] };
    const verdict = decideInsert({ title: 'A', 'custom.city': 'Bern' }, { catalog });
    expect(verdict.step).toBeUndefined();
    expect(verdict.edits).toMatchObject([
      { state: 'refused', note: 'cf_city is left alone, because it is gone.' },
    ]);
    expect(decideInsert({ title: 'A', 'custom.city': null }, { catalog }).step?.fields).toEqual({
      title: 'A',
    });
  });
});

test.each(['void', 'superseded', 'lost'] as const)('nothing waits for a row whose insert is %s', (state) => {
  const token = { entity: 'lead', id: 'new-5' } as const;
  const findInsert = () => editOf('insert', { key: token, row: '-5', state });
  const field = { name: 'lead_id', header: 'lead_id', kind: 'lead' as const };
  expect(resolve({ ...context, findInsert }, field, -5)).toMatchObject({ kind: 'never' });
});

describe('a refusal that a user ignores', () => {
  const item = {
    ...waitingStep({ now: 1, run: 'r' }, key, {
      kind: 'update',
      fields: { title: 'B' },
      base: { title: 'A' },
    }),
    state: 'refused' as const,
    error: { code: 'CRM_REFUSED' as const, message: 'No.' },
  };
  const choice = () => 'ignore';

  test('is listed as ignored as long as the row stays as it is', () => {
    const verdict = decideEdits({ ...context, choice }, { ...subject([update('A', 'B')]), item });
    expect(verdict).toMatchObject({ refusals: [{ isIgnored: true }], spent: [] });
  });

  test('is asked about again once it was edited', () => {
    const verdict = decideEdits({ ...context, choice }, { ...subject([update('A', 'C')]), item });
    expect(verdict).toMatchObject({ step: { fields: { title: 'C' } }, spent: ['refused:lead-7'] });
  });
});

describe('an edit that is new, and older than the daemon remembers', () => {
  const take = (edits: readonly Partial<SqlEdit>[], ageMs: number) =>
    takeNew(
      edits[0]?.kind === 'insert' ? '-1' : '7',
      edits.map((edit) => ({ ageMs, ...edit })),
    );

  test('is not sent again, and its row is put right', () => {
    for (const edits of [
      [{ kind: 'update', before: { title: 'a' }, after: { title: 'b' } }],
      [{ kind: 'delete', before: { title: 'a' } }],
      [
        { kind: 'delete', before: { title: 'a' } },
        { kind: 'insert', after: { title: 'b' } },
      ],
    ] as const) {
      const taken = take(edits, 1_001);
      expect(new Set(taken.edits.map(({ state }) => state))).toEqual(new Set(['void']));
      expect(taken.due[0]).toEqual({ entity: 'lead', id: '7' });
      expect(take(edits, 1_000).edits.at(-1)?.state).toBe('taken');
    }
  });

  test('is asked about where it inserted a row', () => {
    const insert = [{ kind: 'insert', after: { title: 'b' } }] as const;
    expect(take(insert, 1_001).doubtful).toMatchObject([
      { state: 'review', error: { code: 'CRM_UNKNOWN_OUTCOME' } },
    ]);
    expect(take(insert, 1_000).doubtful).toEqual([]);
  });
});
