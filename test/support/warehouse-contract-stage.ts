import { escapeIdentifier } from 'pg';
import type { Entity } from '../../src/core/record.ts';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import type { EditOutcome, RowValues, Warehouse } from '../../src/warehouse/port/port.ts';
import { MemoryDatabase, type SqlAct } from './memory-database.ts';
import { MemoryWarehouse } from './memory-warehouse.ts';
import { throughPooler } from './pooled.ts';
import { openDatabase } from './postgres.ts';
import { realClock } from './real-clock.ts';
import { createRecordingLog } from './recording-log.ts';
import { editableLayout } from './warehouse-editing.ts';
import { testKeeper } from './warehouse-layout.ts';

export const contractLayout = editableLayout(100_000);

/** What came of an edit, as its user sees it. */
export interface SeenOutcome {
  readonly kind: 'update' | 'insert' | 'delete' | 'revert';
  readonly state: EditOutcome['state'] | 'new';
  readonly note: string;
  readonly newId: string | undefined;
  readonly isOver: boolean;
}

/** A warehouse with the tables of {@link contractLayout}, and the users who work on it. */
export interface WarehouseContractStage {
  readonly warehouse: Warehouse;
  /** Another daemon's way in. */
  open(): Warehouse;
  /** A way in past any pooler: of edits a database tells only there. */
  openDirect(): Warehouse;
  /** What users do in one transaction. */
  user(...acts: readonly SqlAct[]): Promise<void>;
  /** The rows of a table in the order of their ids, with what columns hold that are not empty. */
  rows(entity: Entity): Promise<readonly (RowValues & { readonly id: string })[]>;
  /** Of all edits, oldest first. */
  outcomes(): Promise<readonly SeenOutcome[]>;
  questions(): Promise<readonly { readonly scope: string; readonly answer: string | null }[]>;
  answer(scope: string, answer: string): Promise<void>;
  /** A transaction of a user holds the row until the returned function is called. */
  hold(entity: Entity, id: string): Promise<() => Promise<void>>;
  /** Lets so many days pass. */
  age(days: number): Promise<void>;
  close(): Promise<void>;
}

export async function openMemoryWarehouseStage(): Promise<WarehouseContractStage> {
  const database = new MemoryDatabase();
  const warehouse = new MemoryWarehouse(database);
  await warehouse.layOut(contractLayout);
  return {
    warehouse,
    open: () => new MemoryWarehouse(database),
    openDirect: () => new MemoryWarehouse(database),
    async user(...acts) {
      database.edit(...acts);
    },
    async rows(entity) {
      const found: (RowValues & { readonly id: string })[] = [];
      const table = contractLayout.tables.find((each) => each.entity === entity);
      if (table)
        for await (const { id, values } of warehouse.scan(table)) found.push(shownRow({ ...values, id }));
      return found;
    },
    outcomes: async () =>
      database.content.edits.map(({ isOver, kind, newId, note, state }) => ({
        kind,
        state: state as SeenOutcome['state'],
        note,
        newId,
        isOver,
      })),
    questions: async () =>
      [...database.content.questions.values()].map(({ answer = null, scope }) => ({ scope, answer })),
    async answer(scope, answer) {
      database.answer(scope, answer);
    },
    async hold(entity, id) {
      database.held.add(`${entity} ${id}`);
      return async () => void database.held.delete(`${entity} ${id}`);
    },
    age: async (days) => database.age(days),
    close: () => warehouse.close(),
  };
}

const shownRow = (row: RowValues & { readonly id: string }) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as typeof row;

export async function openPostgresWarehouseStage() {
  const database = await openDatabase();
  const role = `daemon_of_${database.name}`;
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret' CREATEROLE`);
  await database.query(`GRANT CREATE ON DATABASE ${database.name} TO ${role}`);
  const opened: Warehouse[] = [];
  const directUrl = database.server.urlOf(database.name, role, 'secret');
  const pooledUrl = await throughPooler(database.server, directUrl);
  const open = (url = pooledUrl) => {
    const warehouse = createPostgresWarehouse({
      url,
      schema: 'crm',
      keeper: testKeeper,
      hasHistory: true,
      isEditable: true,
      clock: realClock,
      log: createRecordingLog(),
    });
    opened.push(warehouse);
    return warehouse;
  };
  const warehouse = open();
  await warehouse.layOut(contractLayout);
  const user = await database.connect();
  const perform = async (act: SqlAct) => {
    const [sql, values] = sqlOf(act);
    await user.query(sql, values);
  };
  const stage: WarehouseContractStage = {
    warehouse,
    open: () => open(),
    openDirect: () => open(directUrl),
    async user(...acts) {
      await user.query('BEGIN');
      for (const act of acts) await perform(act);
      await user.query('COMMIT');
    },
    async rows(entity) {
      const found: (RowValues & { readonly id: string })[] = [];
      const table = contractLayout.tables.find((each) => each.entity === entity);
      if (table)
        for await (const { id, values } of warehouse.scan(table)) found.push(shownRow({ ...values, id }));
      return found;
    },
    async outcomes() {
      const { rows } = await user.query(
        `SELECT op AS kind, state, coalesce(note, '') AS note, new_id AS "newId", ended_at IS NOT NULL AS "isOver" FROM crm_sync.edit ORDER BY seq`,
      );
      const kinds: Record<string, SeenOutcome['kind']> = {
        U: 'update',
        I: 'insert',
        D: 'delete',
        R: 'revert',
      };
      return rows.map((row) => ({ ...row, kind: kinds[row.kind], newId: row.newId ?? undefined }));
    },
    async questions() {
      const { rows } = await user.query('SELECT scope, answer FROM crm.question ORDER BY scope');
      return rows;
    },
    async answer(scope, answer) {
      await user.query('UPDATE crm.question SET answer = $2 WHERE scope = $1', [scope, answer]);
    },
    async hold(entity, id) {
      const holder = await database.connect();
      await holder.query(`BEGIN; SELECT FROM crm.${entity} WHERE id = '${id}' FOR UPDATE`);
      return async () => void (await holder.query('ROLLBACK'));
    },
    async age(days) {
      await user.query('UPDATE crm_sync.edit SET ended_at = ended_at - make_interval(days => $1)', [days]);
    },
    async close() {
      await Promise.all(opened.map((each) => each.close()));
      await database.query(
        `DROP SCHEMA crm, crm_sync CASCADE; DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}; DROP ROLE IF EXISTS crm_reader, crm_editor`,
      );
      await database[Symbol.asyncDispose]();
    },
  };
  return { ...stage, database };
}

function sqlOf(act: SqlAct): [sql: string, values: unknown[]] {
  if (act.kind === 'revert') return ['SELECT crm.revert($1, $2)', [act.entity, act.id]];
  if (act.kind === 'delete') return [`DELETE FROM crm.${act.entity} WHERE id = $1`, [act.id]];
  const given = Object.entries({ ...act.values, ...(act.kind === 'insert' && act.id ? { id: act.id } : {}) });
  const values = given.map(([, value]) => value);
  if (act.kind === 'insert') {
    const names = given.map(([name]) => escapeIdentifier(name)).join(', ');
    return [
      `INSERT INTO crm.${act.entity} (${names}) VALUES (${given.map((_, place) => `$${place + 1}`).join(', ')})`,
      values,
    ];
  }
  const sets = given.map(([name], place) => `${escapeIdentifier(name)} = $${place + 2}`).join(', ');
  return [`UPDATE crm.${act.entity} SET ${sets} WHERE id = $1`, [act.id, ...values]];
}
