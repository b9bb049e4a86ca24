import { escapeLiteral } from 'pg';
import { splitContactId } from '../core/fields/contact-id.ts';
import type { Clock, Log } from '../core/ports.ts';
import { type Entity, entities, perEntity, type RecordKey } from '../core/record.ts';
import { emailsOf, holdsEmail, idsOf, mentionsOf, type Subject } from '../core/subject.ts';
import type { Fields } from '../core/value.ts';
import { newWarehouseError } from '../warehouse/port/errors.ts';
import type { Keeper, RowId } from '../warehouse/port/port.ts';
import { type AddressOptions, readAddress } from './address.ts';
import { createConnection, type Session } from './connection.ts';
import { editTableName } from './ddl/capture/edit-table.ts';
import { questionTableName } from './ddl/capture/question-table.ts';
import { hasTable } from './meet.ts';
import { type Names, namesOf } from './names.ts';
import { readTransaction, writeTransaction } from './transaction.ts';
import { isKeptBy, linkColumns } from './write/link-row.ts';
import { runSettings } from './write/run.ts';

/** A row that is about a person. */
export interface SubjectTableRow {
  readonly table: string;
  readonly entity: Entity;
  /** Whether it is of one of the person's records; else it says the address. */
  readonly isOwn: boolean;
  readonly row: Readonly<Record<string, unknown>>;
}

export interface SubjectTablesOptions extends AddressOptions {
  readonly schema: string;
  readonly keeper: Keeper;
  readonly clock: Clock;
  readonly log: Log;
}

/** The ids of a person's records, as the tables have them. */
type RowIds = Readonly<Record<Entity, readonly RowId[]>>;

interface Found extends SubjectTableRow {
  /** Where the row is, for the time of the transaction that locked it. */
  readonly place: string;
}

/** Opens what the tables of a mirror keep of persons. Nothing connects before it is asked. Fails with WAREHOUSE_ codes. */
export function openSubjectTables({ schema, keeper, clock, log, ...address }: SubjectTablesOptions) {
  const connection = createConnection(readAddress(address), clock, log);
  const names = namesOf(schema);
  return {
    /** `isPresent` says which records the CRM has: what they held once makes those no person's own. */
    read: (subject: Subject, isPresent: (key: RecordKey) => boolean): Promise<readonly SubjectTableRow[]> =>
      connection.use('read', (session) =>
        readTransaction(session, {}, () => findAll(session, names, keeper, { subject, isPresent })),
      ),
    /** Deletes those of the rows that are wanted gone, in one transaction. Returns them. */
    erase: (
      subject: Subject,
      isPresent: (key: RecordKey) => boolean,
      isErased: (found: SubjectTableRow) => boolean,
    ): Promise<readonly SubjectTableRow[]> =>
      connection.use('erase from', (session) =>
        writeTransaction(
          session,
          { run: eraseRun, fence: undefined, settings: runSettings(eraseRun) },
          async () => {
            const found = await findAll(session, names, keeper, { subject, isPresent, isLocking: true });
            const erased = found.filter(isErased);
            for (const [table, rows] of Map.groupBy(erased, (row) => row.table))
              await session.run(`DELETE FROM ${table} WHERE ctid = ANY ($1::tid[])`, [
                rows.map(({ place }) => place),
              ]);
            return erased;
          },
        ),
      ),
    close: () => connection.drop(),
  };
}

/** No run of the ledger: nothing follows from it. */
const eraseRun = 'erase';

interface Search {
  readonly subject: Subject;
  readonly isPresent: (key: RecordKey) => boolean;
  readonly isLocking?: true;
}

async function findAll(
  session: Session,
  names: Names,
  keeper: Keeper,
  { isPresent, isLocking, subject }: Search,
): Promise<readonly Found[]> {
  if (!(await hasTable(session, names.own('link')))) return [];
  const [link] = await session.run(
    `SELECT ${linkColumns} FROM ${names.own('link')} WHERE name = $1 ${isLocking ? 'FOR UPDATE' : ''}`,
    [keeper.link],
  );
  if (!link || !isKeptBy(link, keeper))
    throw newWarehouseError('WAREHOUSE_KEPT', 'The tables are kept by another mirror.');
  const ids = await findIds(session, names, subject, isPresent);
  const says = mentionsOf(emailsOf(subject)).isIn;
  const found: Found[] = [];
  for (const { entity, isOwn, mayMention, table } of placesOf(names)) {
    if (!(await hasTable(session, table))) continue;
    const rows = await session.run(
      `WITH given AS MATERIALIZED (SELECT $1::text[] AS ids, $2::text[] AS leads, $3::text[] AS tasks, $4::text AS email)
       SELECT t.ctid::text AS place, to_jsonb(t)::text AS content, coalesce(${isOwn}, false) AS is_own
         FROM ${table} t, given g
        WHERE ${isOwn} OR (g.email <> '' AND ${mayMention} AND strpos(lower(t::text), g.email) > 0)
        ${isLocking ? 'FOR UPDATE OF t' : ''}`,
      [ids[entity], ids.lead, ids.task, subject.email ?? ''],
    );
    for (const { content, is_own: isOwnRow, place } of rows)
      if (isOwnRow === 't' || says(content ?? ''))
        found.push({
          entity,
          table,
          isOwn: isOwnRow === 't',
          place: place ?? '',
          row: JSON.parse(content ?? '{}'),
        });
  }
  return found;
}

/** Where a table says of which record a row `t` is, in SQL; `g` holds the person's ids of the kind, those of leads and tasks, and the address. */
interface Place {
  readonly entity: Entity;
  readonly table: string;
  readonly isOwn: string;
  /** Whether a row may be about the person because it says the address. */
  readonly mayMention: string;
}

/** Whether what it shows belongs to one of the person's records. */
const isOfOwner = (fields: string): string =>
  `(${fields} ->> 'lead_id' = ANY (g.leads) OR ${fields} ->> 'parent_task_id' = ANY (g.tasks))`;

const placesOf = (names: Names): readonly Place[] =>
  entities.flatMap((entity) => {
    const isOfKind = `t.entity = ${escapeLiteral(entity)}`;
    const isOfEdit = `(t.id = ANY (g.ids) OR t.new_id = ANY (g.ids) OR t.op = 'I' AND ${isOfOwner('t.changed')})`;
    return [
      { entity, table: names.shown(entity), isOwn: 't.id::text = ANY (g.ids)', mayMention: 'true' },
      {
        entity,
        table: names.past(entity),
        isOwn: `(t.id::text = ANY (g.ids) OR ${isOfOwner('to_jsonb(t)')})`,
        mayMention: 'true',
      },
      {
        entity,
        table: names.own(editTableName),
        isOwn: `(${isOfKind} AND ${isOfEdit})`,
        mayMention: isOfKind,
      },
      {
        entity,
        table: names.shown(questionTableName),
        isOwn: `(${isOfKind} AND t.id = ANY (g.ids))`,
        mayMention: isOfKind,
      },
    ];
  });

/** The ids that the tables have of a person's records, also of those that only the history knows: who held the address, and the tasks of leads. */
async function findIds(
  session: Session,
  names: Names,
  { email, keys }: Subject,
  isPresent: (key: RecordKey) => boolean,
): Promise<RowIds> {
  const own = perEntity((entity) => idsOf(keys, entity).map((id) => rowIdOf({ entity, id })));
  const readPast = async (entity: Entity, condition: string, value: string | readonly string[]) => {
    if (!(await hasTable(session, names.past(entity)))) return [];
    const rows = await session.run(
      `SELECT t.id::text AS id, to_jsonb(t)::text AS content FROM ${names.past(entity)} t WHERE ${condition}`,
      [value],
    );
    return rows
      .map(({ content, id }) => ({ id: id ?? '', fields: JSON.parse(content ?? '{}') as Fields }))
      .filter(({ id }) => !isPresent({ entity, id }));
  };
  const holders = new Map<Entity, readonly RowId[]>();
  for (const entity of email === undefined ? [] : entities) {
    const saying = await readPast(entity, 'strpos(lower(t::text), $1) > 0', email ?? '');
    holders.set(
      entity,
      saying.filter(({ fields }) => holdsEmail(fields, email ?? '')).map(({ id }) => id),
    );
  }
  const ids = perEntity((entity) => [...own[entity], ...(holders.get(entity) ?? [])]);
  const tasks = await readPast('task', "to_jsonb(t) ->> 'lead_id' = ANY ($1::text[])", ids.lead);
  return { ...ids, task: [...new Set([...ids.task, ...tasks.map(({ id }) => id)])] };
}

/** The tables name a contact by the CRM's own id alone. */
export const rowIdOf = ({ entity, id }: RecordKey): RowId =>
  entity === 'contact' ? splitContactId(id).contactId : id;
