import { expect, test } from 'vitest';
import { emptyAgreement } from '../../src/core/state.ts';
import type { TakenEdit } from '../../src/core/taken-edit.ts';
import { lead, openMirrorDirectory, outboxItem, storedRecord } from '../support/mirror-directory.ts';

const { open } = openMirrorDirectory();

const edit = (editId: string, change: Partial<TakenEdit> = {}): TakenEdit => ({
  editId,
  key: { entity: 'lead', id: '1' },
  row: '1',
  kind: 'update',
  before: { title: 'Old' },
  after: { title: 'New' },
  ended: {},
  by: 'ana',
  at: 10,
  state: 'done',
  note: '',
  isMeant: false,
  isTold: true,
  ...change,
});

function openEdits(...edits: readonly TakenEdit[]) {
  const { edits: store } = open().mirror.of('warehouse');
  for (const each of edits) store.save(each);
  const known = () => ['a', 'b', 'c', 'd'].filter((editId) => store.find(editId) !== undefined);
  return { store, known };
}

test('an edit is known for as long since its side was told what came of it, however long it was open', () => {
  const { known, store } = openEdits(edit('a', { toldAt: 20 }), edit('b'));
  store.save(edit('c', { state: 'held' }));
  store.save(edit('c', { toldAt: 100 }));
  store.forget(10);
  expect(known()).toEqual(['a', 'b', 'c']);
  store.forget(21);
  expect(known()).toEqual(['c']);
  store.forget(100);
  expect(known()).toEqual(['c']);
  store.forget(101);
  expect(known()).toEqual([]);
});

test('an edit that is open, or of which the side does not know the state, is never forgotten', () => {
  const { known, store } = openEdits(
    edit('a', { state: 'held', toldAt: 20 }),
    edit('b', { isTold: false, toldAt: 20 }),
  );
  store.forget(1_000);
  expect(known()).toEqual(['a', 'b']);
});

test('of two inserts that gave a row the same id the later one counts', () => {
  const inserted = (editId: string) =>
    edit(editId, { kind: 'insert', row: '-1', key: { entity: 'lead', id: `new-${editId}` } });
  const { store } = openEdits(inserted('a'), inserted('b'));
  expect(store.findInsert('lead', '-1')?.editId).toBe('b');
  expect(store.findInsert('lead', '-2')).toBeUndefined();
});

test('edits that are open are found by their record and their row, in the order in which they were taken', () => {
  const open = (editId: string, id: string, row = id) =>
    edit(editId, { key: { entity: 'lead', id }, row, state: 'taken' });
  const { store } = openEdits(open('a', 'new-1', '-1'), open('b', '1'), open('c', '1'));
  const idsOf = (edits: readonly TakenEdit[]) => edits.map(({ editId }) => editId);
  const found = () => [
    idsOf(store.findOpen({ entity: 'lead', id: '1' })),
    idsOf(store.findOpen({ entity: 'lead', id: 'new-1' })),
    idsOf(store.findOpenOfRow('lead', '-1')),
    idsOf(store.readOpen()),
  ];
  expect(found()).toEqual([['b', 'c'], ['a'], ['a'], ['a', 'b', 'c']]);
  store.save(open('a', '1', '-1'));
  expect(found()).toEqual([['a', 'b', 'c'], [], ['a'], ['a', 'b', 'c']]);
  store.save(edit('b', { state: 'done' }));
  store.save(open('d', '1'));
  expect(found()).toEqual([['a', 'c', 'd'], [], ['a'], ['a', 'c', 'd']]);
  store.save(open('b', '1'));
  expect(found()).toEqual([['a', 'b', 'c', 'd'], [], ['a'], ['a', 'b', 'c', 'd']]);
  expect(store.countOpen()).toBe(4);
});

test('what a transaction that failed did to open edits is not there', () => {
  const { mirror } = open();
  const { edits } = mirror.of('warehouse');
  edits.save(edit('a', { state: 'taken' }));
  const work = () => {
    edits.save(edit('a', { state: 'done' }));
    edits.save(edit('b', { state: 'taken', key: { entity: 'lead', id: '2' } }));
    throw new Error('It fails.');
  };
  expect(() => mirror.transaction(work)).toThrow('It fails.');
  expect(edits.readOpen().map(({ editId }) => editId)).toEqual(['a']);
  expect(edits.findOpen({ entity: 'lead', id: '2' })).toEqual([]);
});

test('a row that was inserted is a new one of its record until the side knows that', () => {
  const key = { entity: 'lead', id: '7' } as const;
  const { store } = openEdits();
  const made = edit('a', { kind: 'insert', row: '-1', key, newId: '7', isTold: false });
  expect(store.isNewRow(key)).toBe(false);
  store.save(made);
  expect(store.isNewRow(key)).toBe(true);
  store.save({ ...made, isTold: true });
  expect(store.isNewRow(key)).toBe(false);
});

test('a side that watches hears what changes that it decides by, and nothing of what another one keeps', () => {
  const { mirror } = open();
  const own = mirror.of('warehouse');
  const heard: string[] = [];
  own.watch((name) => heard.push(name));
  const changes = (work: () => void) => {
    heard.length = 0;
    work();
    return heard;
  };
  const record = storedRecord(lead('1'));
  expect(changes(() => mirror.saveRecord(record))).toEqual(['lead-1']);
  expect(changes(() => mirror.saveRecord({ ...record, lastSeenAt: record.lastSeenAt + 1 }))).toEqual([]);
  expect(changes(() => own.saveAgreement(emptyAgreement(lead('2'), 1)))).toEqual(['lead-2']);
  expect(changes(() => own.dropAgreement(lead('2')))).toEqual(['lead-2']);
  expect(changes(() => own.saveOutboxItem(outboxItem(lead('3'))))).toEqual(['lead-3']);
  const answer = { choice: 'retry', at: 1 };
  expect(changes(() => own.saveDecision({ scope: 'refused:lead-4', ...answer }))).toEqual(['lead-4']);
  expect(changes(() => own.saveDecision({ scope: 'brake:lead:edited', ...answer }))).toEqual(['lead']);
  const token = { entity: 'lead', id: 'new-a' } as const;
  expect(changes(() => own.edits.save(edit('a', { key: token, row: '-1', state: 'taken' })))).toEqual([
    'lead-new-a',
    'lead--1',
  ]);
  expect(changes(() => own.edits.save(edit('a', { row: '-1' })))).toEqual([
    'lead-1',
    'lead--1',
    'lead-new-a',
  ]);
  const other = mirror.of('sheet');
  expect(changes(() => other.saveOutboxItem(outboxItem(lead('1'))))).toEqual([]);
  expect(changes(() => other.saveRecord({ ...record, presence: 'gone' }))).toEqual(['lead-1']);
});
