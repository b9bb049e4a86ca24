import { expect, test } from 'vitest';
import type { TakenEdit } from '../../src/core/taken-edit.ts';
import { openMirrorDirectory } from '../support/mirror-directory.ts';

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
