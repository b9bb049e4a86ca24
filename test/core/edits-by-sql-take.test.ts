import { describe, expect, test } from 'vitest';
import type { TakenEdit } from '../../src/core/taken-edit.ts';
import { takeRow } from '../../src/warehouse/edits/take.ts';
import type { EditedRow, SqlEdit } from '../../src/warehouse/port/port.ts';
import { layoutWith } from '../support/warehouse-layout.ts';

const { tables } = layoutWith();

const take = (row: Pick<EditedRow, 'entity' | 'id'>, edits: readonly Partial<SqlEdit>[]) =>
  takeRow(
    {
      now: 1,
      run: 'run',
      rememberedMs: 1_000,
      edits: { find: () => undefined, findInsert: () => undefined },
    },
    tables.find(({ entity }) => entity === row.entity)!,
    {
      ...row,
      edits: edits.map((edit, index) => ({
        editId: `e${index}`,
        kind: 'update',
        state: 'new',
        before: {},
        after: {},
        by: 'u',
        ageMs: 1,
        ...edit,
      })),
    },
  );

const namesOf = (edits: readonly TakenEdit[]) => edits.map(({ key, kind }) => `${kind} ${key.id}`);

const contact = { entity: 'contact', id: '00000000-0000-4000-8000-000000000001' } as const;

describe('a contact that is inserted', () => {
  const values = { lead_id: 5, full_name: 'Ann' };

  test('and deleted before it is seen is one that never was', () => {
    const { edits } = take(contact, [
      { kind: 'insert', after: values },
      { kind: 'delete', before: values },
    ]);
    expect(namesOf(edits)).toEqual(['insert new-e0', 'delete new-e0']);
  });

  test('again after that is new', () => {
    const { edits } = take(contact, [
      { kind: 'insert', after: values },
      { kind: 'delete', before: values },
      { kind: 'insert', after: { ...values, full_name: 'Bob' } },
    ]);
    expect(namesOf(edits)).toEqual(['insert new-e0', 'delete new-e0', 'update new-e0']);
    expect(edits[2]?.after).toEqual({ full_name: 'Bob' });
  });

  test('in the place of one of the CRM is that one', () => {
    const { edits } = take(contact, [
      { kind: 'delete', before: values },
      { kind: 'insert', after: { ...values, full_name: 'Bob' } },
    ]);
    expect(namesOf(edits)).toEqual([`delete 5.${contact.id}`, `update 5.${contact.id}`]);
  });
});

const lead = { entity: 'lead', id: '-1' } as const;

test('what a trigger changed in a row while it was inserted is an edit of the new row', () => {
  const { edits } = take(lead, [
    { before: { title: 'a' }, after: { title: 'A' } },
    { kind: 'insert', after: { title: 'a' } },
  ]);
  expect(namesOf(edits)).toEqual(['insert new-e1', 'update new-e1']);
});

test('a row that nobody meant to insert goes again', () => {
  const { due, edits } = take(lead, [{ kind: 'insert', state: 'side_effect', after: { title: 'a' } }]);
  expect(edits.map(({ state }) => state)).toEqual(['void']);
  expect(due).toEqual([lead]);
});
