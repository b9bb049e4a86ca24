import { type RecordKey, recordKeyText } from '../core/record.ts';
import type { TakenEdit } from '../core/taken-edit.ts';

/** An edit with its number: they are taken in the order of these. */
export interface NumberedEdit {
  readonly number: number;
  readonly edit: TakenEdit;
}

type Group = Map<string, NumberedEdit>;

/** Edits that are open, by their ids, and by the record and the row that they are about. */
export class OpenEdits {
  readonly #all: Group = new Map();
  readonly #byKey = new Map<string, Group>();
  readonly #byRow = new Map<string, Group>();
  #last = 0;
  #list: readonly TakenEdit[] | undefined;

  /** Each edit comes after those with smaller numbers. */
  constructor(edits: Iterable<NumberedEdit>) {
    for (const each of edits) this.add(each);
  }

  /** Adds an edit. Returns whether its place is at the end: nothing is added elsewhere. */
  add(added: NumberedEdit): boolean {
    if (added.number <= this.#last) return false;
    this.#last = added.number;
    this.#put(added);
    return true;
  }

  find = (editId: string): TakenEdit | undefined => this.#all.get(editId)?.edit;

  /** Puts an edit in the place of the one of the same id. Returns whether there is one. */
  replace(edit: TakenEdit): boolean {
    const before = this.#all.get(edit.editId);
    if (!before) return false;
    const isMoved = recordKeyText(before.edit.key) !== recordKeyText(edit.key);
    if (isMoved) this.#take(before);
    this.#put({ number: before.number, edit });
    // What an insert has made gets the edits of its row, which may be older than others of the record.
    if (isMoved) sort(this.#byKey, recordKeyText(edit.key));
    return true;
  }

  drop(editId: string): void {
    const before = this.#all.get(editId);
    if (!before) return;
    this.#take(before);
    this.#all.delete(editId);
    this.#list = undefined;
  }

  get size(): number {
    return this.#all.size;
  }

  readAll(): readonly TakenEdit[] {
    this.#list ??= editsOf(this.#all);
    return this.#list;
  }

  findOf = (key: RecordKey): readonly TakenEdit[] => editsOf(this.#byKey.get(recordKeyText(key)));

  findOfRow: (entity: RecordKey['entity'], row: string) => readonly TakenEdit[] = (entity, row) =>
    editsOf(this.#byRow.get(rowName(entity, row)));

  #put(each: NumberedEdit): void {
    const { editId, key, row } = each.edit;
    this.#all.set(editId, each);
    this.#list = undefined;
    putInto(this.#byKey, recordKeyText(key), each);
    putInto(this.#byRow, rowName(key.entity, row), each);
  }

  #take({ edit: { editId, key, row } }: NumberedEdit): void {
    takeFrom(this.#byKey, recordKeyText(key), editId);
    takeFrom(this.#byRow, rowName(key.entity, row), editId);
  }
}

const rowName = (entity: RecordKey['entity'], row: string): string => `${entity} ${row}`;

const editsOf = (group: Group | undefined): readonly TakenEdit[] =>
  group ? Array.from(group.values(), ({ edit }) => edit) : [];

function putInto(groups: Map<string, Group>, name: string, each: NumberedEdit): void {
  const group = groups.get(name) ?? new Map();
  groups.set(name, group.set(each.edit.editId, each));
}

function sort(groups: Map<string, Group>, name: string): void {
  const edits = [...(groups.get(name) ?? [])];
  groups.set(name, new Map(edits.sort(([, one], [, other]) => one.number - other.number)));
}

function takeFrom(groups: Map<string, Group>, name: string, editId: string): void {
  const group = groups.get(name);
  group?.delete(editId);
  if (group?.size === 0) groups.delete(name);
}
