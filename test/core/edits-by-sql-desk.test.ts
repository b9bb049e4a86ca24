import { describe, expect, test } from 'vitest';
import { advance } from '../../src/core/outbox.ts';
import { emptyAgreement } from '../../src/core/state.ts';
import { decisionOf } from '../../src/core/waiting/answer.ts';
import { WarehouseEdits } from '../../src/warehouse/edits/edits.ts';
import { editingOf } from '../../src/warehouse/edits/landing.ts';
import { sliceMax } from '../../src/warehouse/edits/turns.ts';
import type { WarehouseLink } from '../../src/warehouse/link.ts';
import type { EditedRow, SqlEdit } from '../../src/warehouse/port/port.ts';
import { editOf, leadKey as key, openDesk, retitle } from '../support/edit-desk.ts';
import { editTerms } from '../support/warehouse-edits-engine.ts';
import { layoutWith } from '../support/warehouse-layout.ts';

const limits = { changesMin: 1, changesShare: 0, deletesMin: 5, deletesShare: 0 };

describe('what a user takes back at a brake', () => {
  test('is not sent, although it waited to be sent before', () => {
    const { decide, mirror, take } = openDesk({ limits });
    take(retitle('7', 'A', 'B'));
    decide();
    expect(mirror.readOutbox()).toHaveLength(1);
    take(retitle('8', 'A', 'B'));
    expect(decide().brakes).toHaveLength(1);
    mirror.saveDecision({ scope: 'brake:lead:edited', choice: 'revert', at: 9 });
    decide();
    expect(mirror.edits.readOpen()).toEqual([]);
    expect([mirror.readOutbox(), mirror.readAgreements()]).toEqual([[], []]);
  });

  test('is taken back after the CRM has answered where it is on its way, with what was written since', () => {
    const { decide, mirror, save, take } = openDesk({ limits });
    const [one, two, three] = [retitle('7', 'A', 'B'), retitle('7', 'B', 'C'), retitle('8', 'A', 'B')];
    take(one);
    decide();
    const item = mirror.findOutboxItem(key)!;
    mirror.saveOutboxItem(advance(item, 'sent', { at: 10 }));
    take(two, three);
    expect(decide().brakes).toHaveLength(1);
    mirror.saveDecision({ scope: 'brake:lead:edited', choice: 'revert', at: 9 });
    decide();
    expect(decide().brakes).toEqual([]);
    expect(mirror.readOutbox().map(({ state }) => state)).toEqual(['sending']);
    mirror.dropOutboxItem(key);
    mirror.saveAgreement({ ...mirror.findAgreement(key)!, fields: { title: 'B' } });
    save('7', 'B');
    decide();
    expect([mirror.readOutbox(), mirror.edits.readOpen()]).toEqual([[], []]);
    const states = [one, two, three].map(({ editId }) => mirror.edits.find(editId)?.state);
    expect(states).toEqual(['done', 'superseded', 'lost']);
  });

  test('row by row counts no more', () => {
    const { decide, mirror, take } = openDesk({ limits });
    take(retitle('7', 'A', 'B'), retitle('8', 'A', 'B'));
    expect(decide().brakes).toHaveLength(1);
    take(editOf('revert'));
    expect(decide().brakes).toEqual([]);
    expect(mirror.readOutbox().map((item) => item.key.id)).toEqual(['8']);
  });
});

describe('where the agreed value is an empty one', () => {
  test('what is written after that is an edit of it', () => {
    const { decide, mirror, save, take } = openDesk();
    take(retitle('7', 'A', null), retitle('7', null, 'B'));
    save('7', null);
    mirror.saveAgreement({ ...emptyAgreement(key, 1), fields: { title: null } });
    expect(decide().conflicts).toEqual([]);
    expect(mirror.readOutbox()[0]?.fields).toEqual({ title: 'B' });
  });

  test('an answer for the value of SQL counts until it is sent', () => {
    const { decide, mirror, save, take } = openDesk({ conflict: 'ask' });
    take(retitle('7', 'A', 'B'));
    save('7', null);
    expect(decide().conflicts).toHaveLength(1);
    const values = JSON.stringify({ crm: null, table: 'B' });
    mirror.saveDecision(decisionOf('conflict:lead-7:title', 'sheet', 9, values));
    for (let time = 0; time < 2; time += 1) expect(decide().conflicts).toEqual([]);
    expect(mirror.readOutbox()).toMatchObject([{ fields: { title: 'B' }, base: { title: null } }]);
  });
});

test('an answer about a record counts no more once its edits are over', () => {
  const { decide, mirror, take } = openDesk();
  take(editOf('delete', { before: { title: 'A' } }));
  decide();
  mirror.saveDecision({ scope: 'vanished:lead-7', choice: 'trash', at: 9 });
  decide();
  take(editOf('revert'));
  decide();
  take(editOf('delete', { before: { title: 'A' } }));
  expect(decide().holds).toHaveLength(1);
  expect(mirror.readOutbox()).toEqual([]);
});

test('what was edited in a new row is an edit of its record, where the database alone knows that it was made', async () => {
  const { link, mirror, take } = openDesk();
  const token = { entity: 'lead', id: 'new-1' } as const;
  take(
    editOf('insert', { editId: 'made', key: token, row: '-1', after: { title: 'A' } }),
    editOf('update', {
      editId: 'since',
      key: token,
      row: '-1',
      before: { title: 'A' },
      after: { title: 'B' },
    }),
  );
  const database = {
    readEdits: async () => ({ rows: [], answers: [], lastRun: 0 }),
    readEnded: async () => [{ editId: 'made', state: 'done', note: '', newId: '7' }],
  };
  const edits = new WarehouseEdits({ ...link, database, editing: editTerms } as unknown as WarehouseLink);
  await edits.take(layoutWith());
  expect(mirror.edits.readOpen()).toMatchObject([{ editId: 'since', key }]);
});

test('many new edits are taken over in slices, between which others have their turn', async () => {
  const { link, mirror } = openDesk();
  const rows = Array.from({ length: 2 * sliceMax + 1 }, (_, place): EditedRow => {
    const made = { before: { title: 'A' }, after: { title: 'B' }, by: 'u', ageMs: 0 };
    const edit: SqlEdit = { editId: `sql-${place}`, kind: 'update', state: 'new', ...made };
    return { entity: 'lead', id: String(place), edits: [edit] };
  });
  const database = {
    readEdits: async () => ({ rows, answers: [], lastRun: 0 }),
    readEnded: async () => [],
  };
  const taken: number[] = [];
  const sleep = async () => void taken.push(mirror.transaction(() => mirror.edits.countOpen()));
  const clock = { ...link.clock, sleep };
  const edits = new WarehouseEdits({
    ...{ ...link, clock, database },
    editing: editTerms,
  } as unknown as WarehouseLink);
  await edits.take(layoutWith());
  expect(taken).toEqual([sliceMax, 2 * sliceMax]);
  expect(mirror.edits.countOpen()).toBe(rows.length);
});

test('a write names the open edits of its own rows, and of rows that get their ids', () => {
  const { mirror, take } = openDesk();
  const made = editOf('insert', { row: '-1', newId: '7', state: 'done', isTold: false });
  const since = editOf('update', { row: '-1', after: { title: 'B' } });
  const late = editOf('update', { key: { entity: 'lead', id: 'new-x' }, row: '-1' });
  const own = retitle('8', 'A', 'B');
  take(made, since, late, own, retitle('9', 'A', 'B'));
  const editing = editingOf(mirror, ['lead'], 10);
  const known = editing.decidedFor([{ entity: 'lead', id: '8' }]).known;
  expect(new Set(known)).toEqual(new Set([made, since, late, own].map(({ editId }) => editId)));
  expect(editing.decidedFor([]).renames).toMatchObject([{ from: '-1', to: '7' }]);
});
