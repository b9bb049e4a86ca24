import type { Entity } from '../../src/core/record.ts';
import { equalValues, type Value } from '../../src/core/value.ts';
import type { WarehouseLayout } from '../../src/warehouse/port/layout.ts';
import type { EditOutcome, Questions, RowId, RowValues, SqlEdit } from '../../src/warehouse/port/port.ts';

/** What a user does to one row by SQL. Columns that are absent stay as they are. */
export type SqlAct =
  | { readonly kind: 'update'; readonly entity: Entity; readonly id: RowId; readonly values: RowValues }
  | { readonly kind: 'insert'; readonly entity: Entity; readonly id?: RowId; readonly values: RowValues }
  | { readonly kind: 'delete'; readonly entity: Entity; readonly id: RowId }
  | { readonly kind: 'revert'; readonly entity: Entity; readonly id: RowId };

/** An edit as the database keeps it. */
export interface NotedEdit extends Omit<SqlEdit, 'state'> {
  readonly seq: number;
  readonly entity: Entity;
  readonly id: RowId;
  readonly state: SqlEdit['state'] | EditOutcome['state'];
  readonly note: string;
  readonly newId?: RowId | undefined;
  readonly isOver: boolean;
  /** For how many days it has been over. */
  readonly overDays: number;
}

interface Content {
  readonly rows: Map<Entity, Map<RowId, RowValues>>;
  edits: NotedEdit[];
  /** The names of the runs that were committed; the place of each is its number. */
  readonly runs: string[];
  readonly questions: Map<string, Questions['asked'][number] & { readonly answer?: string }>;
  editCount: number;
  lowestId: number;
}

/** Tables of rows in memory, for users to edit as by SQL, with what a database notes of that. Several daemons may open it. */
export class MemoryDatabase {
  layout: WarehouseLayout | undefined;
  /** Rows that a transaction of a user holds, as `entity id`. */
  readonly held = new Set<string>();
  readonly listeners = new Set<() => void>();
  readonly #name: string;
  #content: Content = {
    rows: new Map(),
    edits: [],
    runs: [],
    questions: new Map(),
    editCount: 0,
    lowestId: 0,
  };

  constructor(name = 'memory') {
    this.#name = name;
  }

  get content(): Content {
    return this.#content;
  }

  /** Copies all that it holds. Returns what puts it back, as who restores a backup. */
  backUp(): () => void {
    const copy = structuredClone(this.#content);
    return () => {
      // What was noted since is numbered anew, but never named anew.
      const { editCount } = this.#content;
      this.#content = { ...structuredClone(copy), editCount };
    };
  }

  rowsOf(entity: Entity): Map<RowId, RowValues> {
    const known = this.#content.rows.get(entity);
    if (known) return known;
    const made = new Map<RowId, RowValues>();
    this.#content.rows.set(entity, made);
    return made;
  }

  /** Does all of it in one transaction, as a user. Returns the ids of the rows that were inserted. */
  edit(...acts: readonly SqlAct[]): readonly RowId[] {
    const before = structuredClone(this.#content);
    try {
      const made = acts.flatMap((act) => this.#perform(act));
      if (this.#content.edits.length > before.edits.length) this.tell();
      return made;
    } catch (error) {
      this.#content = before;
      throw error;
    }
  }

  /** What a user answers to a question. */
  answer(scope: string, answer: string): void {
    const question = this.#content.questions.get(scope);
    if (!question?.answers.includes(answer)) throw new Error(`${scope} does not take “${answer}”.`);
    this.#content.questions.set(scope, { ...question, answer });
    this.tell();
  }

  /** Lets so many days pass. */
  age(days: number): void {
    this.#content.edits = this.#content.edits.map((edit) =>
      edit.isOver ? { ...edit, overDays: edit.overDays + days } : edit,
    );
  }

  tell(): void {
    for (const listener of this.listeners) listener();
  }

  #perform(act: SqlAct): readonly RowId[] {
    const rows = this.rowsOf(act.entity);
    const row = act.id === undefined ? undefined : rows.get(act.id);
    if (act.kind === 'insert') return [this.#insert(act)];
    if (act.kind === 'revert') {
      if (
        !this.#content.edits.some((edit) => !edit.isOver && edit.entity === act.entity && edit.id === act.id)
      )
        throw new Error(`No edit of ${act.entity} ${act.id} is open: it shows what the CRM has.`);
      this.#note(act.entity, act.id, 'revert', {}, {});
      return [];
    }
    // As a statement that finds no row.
    if (!row) return [];
    if (act.kind === 'delete') {
      rows.delete(act.id);
      this.#note(act.entity, act.id, 'delete', this.#editable(act.entity, row), {});
      return [];
    }
    const names = Object.keys(act.values).filter(
      (name) => !equalValues(row[name] ?? null, act.values[name] ?? null),
    );
    if (names.length === 0) return [];
    const pick = (values: RowValues) => Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
    rows.set(act.id, { ...row, ...act.values });
    this.#note(act.entity, act.id, 'update', pick(row), pick(act.values));
    return [];
  }

  #insert({ entity, id: given, values }: SqlAct & { readonly kind: 'insert' }): RowId {
    const { edits } = this.#content;
    const rows = this.rowsOf(entity);
    if (
      given !== undefined &&
      (rows.has(given) || edits.at(-1)?.id !== given || edits.at(-1)?.kind !== 'delete')
    )
      throw new Error(`The CRM gives ids: ${entity} ${given} can not be inserted.`);
    this.#content.lowestId -= given === undefined ? 1 : 0;
    const id = given ?? String(this.#content.lowestId);
    rows.set(id, { ...this.#empty(entity), ...values });
    this.#note(entity, id, 'insert', {}, values);
    return id;
  }

  #note(entity: Entity, id: RowId, kind: SqlEdit['kind'], before: RowValues, after: RowValues): void {
    const { edits } = this.#content;
    this.#content.editCount += 1;
    const editId = `${this.#name}-${this.#content.editCount}`;
    const seq = (edits.at(-1)?.seq ?? 0) + 1;
    const noted = { seq, editId, entity, id, kind, before, after, by: 'user', ageMs: 0 };
    edits.push({ ...noted, state: 'new', note: '', isOver: false, overDays: 0 });
  }

  #editable(entity: Entity, row: RowValues): RowValues {
    const columns = this.#columns(entity).filter(({ editing }) => editing);
    return Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null]));
  }

  #empty(entity: Entity): RowValues {
    return Object.fromEntries(this.#columns(entity).map(({ name }): [string, Value] => [name, null]));
  }

  #columns(entity: Entity) {
    return this.layout?.tables.find((table) => table.entity === entity)?.columns ?? [];
  }
}
