import { recordKeyText } from '../../src/core/record.ts';
import { newWarehouseError } from '../../src/warehouse/port/errors.ts';
import type { TableLayout, WarehouseLayout } from '../../src/warehouse/port/layout.ts';
import type {
  DecidedEdits,
  EditedRow,
  EditOutcome,
  EditPage,
  EndedEdit,
  Freshness,
  LayoutFault,
  LeftRow,
  Meeting,
  OldEdits,
  ReadEdits,
  Rename,
  RowId,
  RowValues,
  RowVersion,
  ScannedRow,
  SqlEdit,
  TableBatch,
  Warehouse,
  WriteBatch,
  WriteReply,
} from '../../src/warehouse/port/port.ts';
import { compareIds } from '../../src/warehouse/rows.ts';
import type { MemoryDatabase, NotedEdit } from './memory-database.ts';

/** Carries a call to the database. `lost` is what the caller sees of a reply that never comes. */
export type Carry = <Reply>(label: string, work: () => Reply, lost: () => never) => Promise<Reply>;

const atOnce: Carry = async (_label, work) => work();

const openStates: ReadonlySet<EditOutcome['state']> = new Set(['taken', 'conflict', 'held', 'refused']);

const nothingDecided: DecidedEdits = { known: [], outcomes: [], renames: [] };

/** The tables of a database in memory. It keeps no history and no reference data, and refuses no value. */
export class MemoryWarehouse implements Warehouse {
  readonly name = 'crm in memory';
  readonly #database: MemoryDatabase;
  readonly #carry: Carry;
  #listener: (() => void) | undefined;

  constructor(database: MemoryDatabase, carry = atOnce) {
    this.#database = database;
    this.#carry = carry;
  }

  meet = (): Promise<Meeting> =>
    this.#read('meet', () => ({
      serverVersion: 180_000,
      isReadOnly: false,
      keeper: this.#database.layout ? ('own' as const) : ('none' as const),
      lastRun: this.#lastRun,
    }));

  layOut = (layout: WarehouseLayout): Promise<readonly LayoutFault[]> =>
    this.#read('lay out', () => {
      this.#database.layout = layout;
      return [];
    });

  inspect = (): Promise<readonly LayoutFault[]> => this.#read('inspect', () => []);

  printDdl = (): string => '';

  write = (run: string, batch: WriteBatch): Promise<WriteReply> =>
    this.#carry('warehouse write', () => this.#write(run, batch), loseCommit);

  fill = (run: string, after: number, table: TableLayout, rows: Iterable<RowVersion>): Promise<WriteReply> =>
    this.write(run, { after, tables: [{ table, rows: [...rows], past: [], gone: [] }] });

  findRun = (run: string): Promise<number | undefined> =>
    this.#read('find a run', () => {
      const place = this.#database.content.runs.indexOf(run);
      return place < 0 ? undefined : place + 1;
    });

  touch = (_freshness: readonly Freshness[]): Promise<number> => this.#read('touch', () => this.#lastRun);

  readEdits = (tables: readonly TableLayout[], page: EditPage): Promise<ReadEdits> =>
    this.#read('read edits', () => this.#readEdits(tables, page));

  readEnded = (editIds: readonly string[]): Promise<readonly EndedEdit[]> =>
    this.#read('read ended', () =>
      this.#database.content.edits
        .filter(({ editId, isOver }) => isOver && editIds.includes(editId))
        .map(({ editId, newId, note, state }) => ({
          editId,
          state: state as EndedEdit['state'],
          note,
          newId,
        })),
    );

  listen(listener: () => void): void {
    this.#listener = () =>
      void this.#carry('warehouse notify', () => undefined, loseRead).then(listener, () => undefined);
    this.#database.listeners.add(this.#listener);
    // What was edited before is told once.
    this.#listener();
  }

  async *scan({ entity }: TableLayout): AsyncIterable<ScannedRow> {
    const rows = await this.#read('scan', () => [...this.#database.rowsOf(entity)]);
    for (const [id, values] of rows.toSorted(([one], [other]) => compareIds(one, other)))
      yield { id, values };
  }

  async close(): Promise<void> {
    if (this.#listener) this.#database.listeners.delete(this.#listener);
  }

  get #lastRun(): number {
    return this.#database.content.runs.length;
  }

  #read<Reply>(what: string, work: () => Reply): Promise<Reply> {
    return this.#carry(`warehouse ${what}`, work, loseRead);
  }

  #write(
    run: string,
    { after, edits = nothingDecided, oldEdits, questions, tables }: WriteBatch,
  ): WriteReply {
    const { content } = this.#database;
    if (this.#lastRun !== after)
      throw newWarehouseError('WAREHOUSE_WENT_BACK', `The last run is ${this.#lastRun}, not ${after}.`);
    const known = new Set(edits.known);
    const open = content.edits.filter(({ editId, isOver }) => !isOver && !known.has(editId));
    const edited = new Set(open.map(recordKeyText));
    const work = new WriteWork(this.#database, tables, edited);
    for (const rename of edits.renames) work.rename(rename);
    for (const batch of tables) for (const row of batch.rows) work.write(batch, row);
    for (const batch of tables.toReversed()) for (const { id } of batch.gone) work.remove(batch, id);
    if (questions) this.#ask(questions);
    for (const outcome of edits.outcomes) if (!work.untold.has(outcome.editId)) this.#note(outcome);
    content.runs.push(run);
    const forgotten = oldEdits && this.#forget(oldEdits);
    return { run: this.#lastRun, left: work.left, added: work.added, forgotten };
  }

  #forget({ days, insertDays, limit }: OldEdits): number {
    const { content } = this.#database;
    const old = content.edits
      .filter(({ isOver, kind, overDays }) => isOver && overDays > (kind === 'insert' ? insertDays : days))
      .toSorted((one, other) => other.overDays - one.overDays)
      .slice(0, limit);
    content.edits = content.edits.filter((edit) => !old.includes(edit));
    return old.length;
  }

  #note({ editId, newId, note, state }: EditOutcome): void {
    const { content } = this.#database;
    content.edits = content.edits.map((edit) =>
      edit.editId === editId
        ? { ...edit, state, note: note ?? '', newId: newId ?? edit.newId, isOver: !openStates.has(state) }
        : edit,
    );
  }

  #ask({ asked, taken }: NonNullable<WriteBatch['questions']>): void {
    const { questions } = this.#database.content;
    const before = new Map(questions);
    questions.clear();
    for (const question of asked) {
      const known = before.get(question.scope);
      const isSame = known?.what === question.what && known.answers.join() === question.answers.join();
      const isKept = isSame && known.answer !== undefined && !taken.includes(question.scope);
      questions.set(question.scope, isKept ? { ...question, answer: known.answer ?? '' } : question);
    }
  }

  #readEdits(tables: readonly TableLayout[], { after, isAll = false, limit }: EditPage): ReadEdits {
    const { edits, questions } = this.#database.content;
    const entities = new Set(tables.map(({ entity }) => entity));
    const isWanted = ({ entity, isOver, seq, state }: NotedEdit) =>
      (isAll ? !isOver : state === 'new') && entities.has(entity) && seq > Number(after);
    const picked = edits.filter(isWanted).slice(0, limit);
    const named = new Set(picked.map(recordKeyText));
    const open = edits.filter((edit) => !edit.isOver && named.has(recordKeyText(edit)));
    const byTable = tables.flatMap(({ entity }) => {
      const byId = Map.groupBy(
        open.filter((edit) => edit.entity === entity),
        ({ id }) => id,
      );
      return [...byId].map(([id, own]) => this.#editedRow(entity, id, own));
    });
    const answers = [...questions].flatMap(([scope, { answer }]) =>
      answer === undefined ? [] : [{ scope, answer }],
    );
    const next = picked.length < limit ? {} : { next: String(picked.at(-1)?.seq) };
    return { rows: byTable, lastRun: this.#lastRun, answers, ...next };
  }

  #editedRow(entity: TableLayout['entity'], id: RowId, edits: readonly NotedEdit[]): EditedRow {
    const values = this.#database.rowsOf(entity).get(id);
    const shown = edits.map(
      ({ after, ageMs, before, by, editId, kind, state }): SqlEdit => ({
        editId,
        kind,
        state: state as SqlEdit['state'],
        before,
        after,
        by,
        ageMs,
      }),
    );
    return { entity, id, edits: shown, ...(values ? { values } : {}) };
  }
}

/** One write to the rows: what it left, and what it has changed. */
class WriteWork {
  readonly left: LeftRow[] = [];
  readonly added: Record<string, number> = {};
  /** Edits whose outcome is not told, because their row did not get its id. */
  readonly untold = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #database: MemoryDatabase;
  readonly #edited: ReadonlySet<string>;
  readonly #tables: readonly TableBatch[];

  constructor(database: MemoryDatabase, tables: readonly TableBatch[], edited: ReadonlySet<string>) {
    this.#database = database;
    this.#tables = tables;
    this.#edited = edited;
    for (const { table } of tables) this.added[table.entity] = 0;
  }

  write({ table: { columns, entity } }: TableBatch, { id, values }: RowVersion): void {
    if (!this.#isFree(entity, id)) return;
    const rows = this.#database.rowsOf(entity);
    if (!rows.has(id)) this.added[entity] = (this.added[entity] ?? 0) + 1;
    const empty = Object.fromEntries(columns.map(({ name }) => [name, null]));
    rows.set(id, { ...empty, ...rows.get(id), ...values });
  }

  remove({ table: { entity } }: TableBatch, id: RowId): void {
    if (!this.#isFree(entity, id)) return;
    if (this.#database.rowsOf(entity).delete(id)) this.added[entity] = (this.added[entity] ?? 0) - 1;
  }

  /** Gives a row the id of its record, and with it the rows that point to it. */
  rename({ editId, entity, from, to }: Rename): void {
    const pointing = this.#pointing(entity, from);
    const isFree = this.#isFree(entity, from);
    const holder = pointing.find(({ key }) => this.#database.held.has(key));
    if (isFree && holder) this.#leave(entity, from, 'locked', 'A transaction of others holds a row of it.');
    if (!isFree || holder) {
      this.untold.add(editId);
      this.#waiting.add(`${entity} ${to}`);
      return;
    }
    for (const { id, name, rows, values } of pointing) rows.set(id, { ...values, [name]: Number(to) });
    const rows = this.#database.rowsOf(entity);
    const row = rows.get(from);
    if (row && !rows.has(to)) rows.set(to, row);
    rows.delete(from);
    const { content } = this.#database;
    content.edits = content.edits.map((edit) =>
      !edit.isOver && edit.kind !== 'insert' && edit.entity === entity && edit.id === from
        ? { ...edit, id: to }
        : edit,
    );
  }

  #pointing(entity: TableLayout['entity'], id: RowId) {
    return this.#tables.flatMap(({ table }) =>
      table.columns
        .filter(({ refersTo }) => refersTo === entity)
        .flatMap(({ name }) => {
          const rows = this.#database.rowsOf(table.entity);
          return [...rows]
            .filter(([, values]) => values[name] === Number(id))
            .map(([own, values]: [RowId, RowValues]) => ({
              id: own,
              key: `${table.entity} ${own}`,
              name,
              rows,
              values,
            }));
        }),
    );
  }

  /** Whether the row may be written; else it is left. */
  #isFree(entity: TableLayout['entity'], id: RowId): boolean {
    if (this.#waiting.has(`${entity} ${id}`))
      return this.#leave(entity, id, 'locked', 'Its row waits for its id.');
    if (this.#database.held.has(`${entity} ${id}`))
      return this.#leave(entity, id, 'locked', 'A transaction of others holds it.');
    if (this.#edited.has(recordKeyText({ entity, id })))
      return this.#leave(entity, id, 'edited', 'A user edited the row meanwhile.');
    return true;
  }

  #leave(entity: TableLayout['entity'], id: RowId, why: LeftRow['why'], words: string): false {
    this.left.push({ entity, id, why, words });
    return false;
  }
}

function loseCommit(): never {
  throw newWarehouseError('WAREHOUSE_UNKNOWN_OUTCOME', 'The commit got no reply.');
}

function loseRead(): never {
  throw newWarehouseError('WAREHOUSE_UNREACHABLE', 'The connection was lost.');
}
