import { parseRecordKey } from '../../src/core/record.ts';
import type { FieldName, Value } from '../../src/core/value.ts';
import { columnNameOf } from '../../src/warehouse/columns.ts';
import type { RowId, RowValues } from '../../src/warehouse/port/port.ts';
import type { SqlAct } from '../support/memory-database.ts';
import type { Operation, OperationKind } from './operation.ts';
import { type People, pick } from './people.ts';
import type { OwnedRow, SqlMass, SqlWork } from './sql-work.ts';
import { type TabEntity, tabEntities, typedFields } from './tab-view.ts';

/** This many rows are always left: a CRM that lists nothing any more is taken for one that fails. */
const leftMin = 2;

type Deed = (people: People, sql: SqlWork, operation: Operation) => string;

const deeds: Partial<Record<OperationKind, Deed>> = {
  'edit by SQL'(people, sql, { how, what, which }) {
    const entity = entityOf(which);
    const row = pick(sql.rows(entity), which >> 2);
    const field = pick(typedFields[entity], what) ?? 'title';
    if (!row) return 'nothing';
    write(people, sql, entity, [update(people, entity, row, field, how % 8 === 0)]);
    return `${field} of ${entity} ${row.id}`;
  },
  'edit twice by SQL'(people, sql, { what, which }) {
    const entity = entityOf(which);
    const row = pick(sql.rows(entity), which >> 2);
    const field = pick(typedFields[entity], what) ?? 'title';
    if (!row) return 'nothing';
    for (let time = 0; time < 2; time += 1) {
      const now = sql.rows(entity).find(({ id }) => id === row.id);
      if (now) write(people, sql, entity, [update(people, entity, now, field)]);
    }
    return `${field} of ${entity} ${row.id}`;
  },
  'edit in sheet and SQL'(people, sql, { how, what, which }) {
    const entity = entityOf(which);
    const tab = people.tab(entity);
    const field = pick(typedFields[entity], what) ?? 'title';
    const column = tab?.columnOfField(field);
    if (!tab || column === undefined) return 'nothing';
    const pairs = people.writableRows(tab).flatMap(({ owner, row }) => {
      const own = sql.rows(entity).find(({ id }) => id === row.id);
      return own?.owner === owner ? [{ own, owner, row }] : [];
    });
    const pair = pick(pairs, which >> 2);
    if (!pair) return 'nothing';
    const inSheet = () => {
      const text = people.typeValue(pair.owner, field);
      people.act({ kind: 'edit', sheet: tab.sheetId, row: pair.row.position, column, text });
    };
    const bySql = () => write(people, sql, entity, [update(people, entity, pair.own, field)]);
    for (const act of how % 2 === 0 ? [inSheet, bySql] : [bySql, inSheet]) act();
    return `${field} of ${entity} ${pair.own.id}`;
  },
  'insert by SQL'(people, sql, { which }) {
    const entity = entityOf(which);
    const owner = people.claims.newOwner();
    const values = Object.fromEntries(
      typedFields[entity].map((field) => [columnOf(field), newValue(people, owner, field)]),
    );
    const [id] = write(people, sql, entity, [{ kind: 'insert', entity, values }]);
    sql.owners.set(`${entity} ${id}`, owner);
    return `${entity} ${id} of ${owner}`;
  },
  'delete by SQL'(people, sql, { which }) {
    const entity = entityOf(which);
    const rows = sql.rows(entity);
    const row = pick(rows, which >> 2);
    if (!row || isAlmostEmpty(people, rows, entity)) return 'nothing';
    remove(people, sql, entity, [row]);
    return `${entity} ${row.id} of ${row.owner}`;
  },
  'replace by SQL'(people, sql, { which }) {
    const entity = entityOf(which);
    const row = pick(
      sql.rows(entity).filter(({ id }) => !id.startsWith('-')),
      which >> 2,
    );
    if (!row) return 'nothing';
    const { values } = update(people, entity, row, 'title');
    write(people, sql, entity, [
      { kind: 'delete', entity, id: row.id },
      { kind: 'insert', entity, id: row.id, values: { ...editableValues(sql, entity, row), ...values } },
    ]);
    return `${entity} ${row.id}`;
  },
  'edit many by SQL'(people, sql, { what, which }) {
    const entity = entityOf(which);
    const field = pick(typedFields[entity].slice(1), what) ?? 'title';
    const rows = sql.rows(entity);
    const acts = rows.map((row) => update(people, entity, row, field));
    write(people, sql, entity, acts);
    const written = new Map(acts.map(({ id, values }) => [id, String(values[columnOf(field)])]));
    note(sql, { entity, kind: 'edited', rows: written }, sql.side.editing.limits.changesMin);
    return `${field} of ${rows.length} rows of ${entity}`;
  },
  'delete many by SQL'(people, sql, { which }) {
    const entity = entityOf(which);
    const rows = sql.rows(entity).slice(0, -leftMin);
    const least = Math.min(people.liveRecords(entity).length, people.tab(entity)?.rows.length ?? 0);
    if (rows.length === 0 || least - rows.length < leftMin) return 'nothing';
    remove(people, sql, entity, rows);
    const gone = new Map(rows.map(({ id }) => [id, undefined]));
    note(sql, { entity, kind: 'deleted', rows: gone }, sql.side.editing.limits.deletesMin);
    return `${rows.length} rows of ${entity}`;
  },
  'revert by SQL'(people, sql, { which }) {
    const edit = pick(sql.openEdits, which);
    if (!edit) return 'nothing';
    const { entity, id } = edit;
    const own = sql.openEdits.filter((each) => each.entity === entity && each.id === id);
    for (const { after } of own)
      for (const value of Object.values(after)) people.withdrawn.add(String(value));
    sql.side.database.edit({ kind: 'revert', entity, id });
    if (entity === 'lead' || entity === 'task') sql.forgetInMasses(entity, id);
    return `${entity} ${id}`;
  },
  'hold a row'(_people, sql, { which }) {
    const { held } = sql.side.database;
    held.clear();
    const entity = entityOf(which);
    const row = pick(sql.rows(entity), which >> 2);
    if (!row || which % 3 === 0) return 'none';
    held.add(`${entity} ${row.id}`);
    return `${entity} ${row.id}`;
  },
  'answer by SQL': (people) => (answerBySql(people) ? 'done' : 'nothing'),
};

export const isOfSql = (kind: OperationKind): boolean => kind in deeds;

/** What people do by SQL. */
export function workBySql(people: People, operation: Operation): string {
  const { sql } = people;
  if (!sql) return 'nothing';
  return deeds[operation.kind]?.(people, sql, operation) ?? 'nothing';
}

const entityOf = (which: number): TabEntity => (which % 4 === 0 ? 'task' : 'lead');

const columnOf = (field: FieldName): string => columnNameOf({ name: field });

/** All columns that a user may write, as the row has them. */
function editableValues({ side }: SqlWork, entity: TabEntity, { values }: OwnedRow): RowValues {
  const table = side.database.layout?.tables.find((each) => each.entity === entity);
  return Object.fromEntries(
    (table?.columns ?? []).filter(({ editing }) => editing).map(({ name }) => [name, values[name] ?? null]),
  );
}

const newValue = (people: People, owner: string, field: FieldName): Value => {
  const value = people.claims.newValue(owner, field);
  people.sql?.written.add(value);
  return field === 'custom.budget' ? Number(value) : value;
};

function update(people: People, entity: TabEntity, row: OwnedRow, field: FieldName, isEmptied = false) {
  const column = columnOf(field);
  const value = isEmptied && field !== 'title' ? null : newValue(people, row.owner, field);
  people.withdrawn.add(String(row.values[column]));
  return { kind: 'update', entity, id: row.id, values: { [column]: value } } as const;
}

function write(people: People, sql: SqlWork, entity: TabEntity, acts: readonly SqlAct[]): readonly RowId[] {
  people.stage.tell(() => `by SQL in ${entity}: ${JSON.stringify(acts)}`);
  return sql.side.database.edit(...acts);
}

function remove(people: People, sql: SqlWork, entity: TabEntity, rows: readonly OwnedRow[]): void {
  for (const { id, owner, values } of rows) {
    for (const value of Object.values(values)) people.withdrawn.add(String(value));
    people.deleted.add(owner);
    sql.deleted.add(owner);
    people.masses.forgetRecord(entity, id);
    sql.forgetInMasses(entity, id);
  }
  write(
    people,
    sql,
    entity,
    rows.map(({ id }) => ({ kind: 'delete', entity, id })),
  );
}

const isAlmostEmpty = (people: People, rows: readonly OwnedRow[], entity: TabEntity): boolean =>
  Math.min(people.liveRecords(entity).length, people.tab(entity)?.rows.length ?? 0, rows.length) <= leftMin;

/** Notes that so many were changed, where that is more than may be at once, and more than somebody has just agreed to. */
function note(sql: SqlWork, mass: SqlMass, allowed: number): void {
  const questions = [...sql.side.database.content.questions.values()];
  const isAgreed = questions.some(
    ({ answer, scope }) => answer !== undefined && scope.startsWith(`brake:${mass.entity}:`),
  );
  if (mass.rows.size > allowed && !isAgreed) sql.masses = [...sql.masses, mass];
}

/** People look at what is asked, and answer it by SQL. Returns whether there was anything. */
export function answerBySql(people: People): boolean {
  const { sql } = people;
  if (!sql) return false;
  const { database } = sql.side;
  const open = [...database.content.questions.values()].filter(({ answer }) => answer === undefined);
  for (const { answers, scope } of open) {
    const choice = choose(people, sql, scope, answers);
    people.stage.tell(() => `by SQL: ${scope} is answered ${choice}`);
    if (choice !== undefined) database.answer(scope, choice);
  }
  return open.length > 0;
}

function choose(people: People, sql: SqlWork, scope: string, answers: readonly string[]): string | undefined {
  const [kind = '', subject = ''] = scope.split(':');
  const offered = (...wanted: string[]) => wanted.find((each) => answers.includes(each)) ?? answers[0];
  if (kind === 'brake') {
    sql.forgetMasses(subject);
    return sql.edits.length % 2 === 0 ? offered('approve') : offered('revert', 'approve');
  }
  const key = parseRecordKey(subject);
  const isEven = Number(key?.id) % 2 === 0;
  if (kind === 'conflict') return isEven ? offered('crm') : offered('sql');
  const owner = people.ownerOfRecord.get(subject) ?? '';
  if (kind === 'vanished') {
    const isTrash = sql.deleted.has(owner) && isEven;
    if (isTrash) people.trashed.add(scope);
    return offered(isTrash ? 'trash' : 'restore');
  }
  if (kind === 'refused' && dropIfThere(people, sql, subject)) return undefined;
  return offered('retry', 'revert');
}

/** A create of which nobody knows whether it was done: whoever finds the record in the CRM deletes the row. */
function dropIfThere(people: People, sql: SqlWork, subject: string): boolean {
  const entity = tabEntities.find((each) => subject.startsWith(`${each}-new-`));
  if (!entity) return false;
  const question = [...sql.side.database.content.questions.values()].find(({ scope }) =>
    scope.endsWith(subject),
  );
  const row = sql.rows(entity).find(({ id }) => id === question?.id);
  if (!row || people.recordOf(entity, row.owner) === undefined) return false;
  write(people, sql, entity, [{ kind: 'delete', entity, id: row.id }]);
  return true;
}
