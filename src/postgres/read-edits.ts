import { escapeIdentifier } from 'pg';
import { isObject } from '../core/facts.ts';
import { parseJson } from '../core/text/parse-json.ts';
import type { Value } from '../core/value.ts';
import type { TableLayout } from '../warehouse/port/layout.ts';
import type {
  EditedRow,
  EditPage,
  EndedEdit,
  ReadEdits,
  RowId,
  RowValues,
  SqlEdit,
} from '../warehouse/port/port.ts';
import type { Row, Session } from './connection.ts';
import { editTableName } from './ddl/capture/edit-table.ts';
import { questionTableName } from './ddl/capture/question-table.ts';
import { decoders } from './decode.ts';
import { liveColumns, type Names } from './names.ts';
import { readableColumn } from './scan.ts';
import { readTransaction } from './transaction.ts';
import type { Stage } from './write/run.ts';

/** Reads new edits with all open ones of their rows, and the rows: in one snapshot, so that no row shows an edit that is not among them. */
export function readEdits(
  { connection, keeper, names }: Stage,
  tables: readonly TableLayout[],
  { after, isAll = false, limit }: EditPage,
): Promise<ReadEdits> {
  const read = async (session: Session): Promise<ReadEdits> => {
    const edits = await session.run(editsSql(names, isAll), [
      String(limit),
      tables.map(({ entity }) => entity),
      after,
    ]);
    const byTable = Map.groupBy(edits, ({ entity }) => entity);
    const rows: EditedRow[] = [];
    for (const table of tables)
      rows.push(...(await rowsOf(session, names, table, byTable.get(table.entity) ?? [])));
    const [link] = await session.run(`SELECT run_no FROM ${names.own('link')} WHERE name = $1`, [
      keeper.link,
    ]);
    const answers = await session.run(
      `SELECT scope, answer FROM ${names.shown(questionTableName)} WHERE answer IS NOT NULL`,
    );
    const [first] = edits;
    const isFull = Number(first?.['picked'] ?? 0) >= limit;
    return {
      rows,
      lastRun: Number(link?.['run_no'] ?? 0),
      answers: answers.map(({ answer, scope }) => ({ scope: scope ?? '', answer: answer ?? '' })),
      ...(isFull ? { next: first?.['page_end'] ?? undefined } : {}),
    };
  };
  return connection.use('read edits from', (session) =>
    readTransaction(session, {}, () => read(session), 'REPEATABLE READ'),
  );
}

/** What has come of these edits, of those that are over. */
export const readEnded = ({ connection, names }: Stage, editIds: readonly string[]): Promise<EndedEdit[]> =>
  connection.use('read edits from', (session) =>
    readTransaction(session, {}, async () => {
      const rows = await session.run(
        `SELECT edit_id, state, note, new_id FROM ${names.own(editTableName)} WHERE ended_at IS NOT NULL AND edit_id = ANY ($1::uuid[])`,
        [editIds],
      );
      return rows.map((row) => ({
        editId: row['edit_id'] ?? '',
        state: row['state'] as EndedEdit['state'],
        note: row['note'] ?? '',
        newId: row['new_id'] ?? undefined,
      }));
    }),
  );

const editsSql = (names: Names, isAll: boolean): string => {
  const edit = names.own(editTableName);
  const isWanted = isAll ? 'ended_at IS NULL' : "state IN ('new', 'side_effect')";
  return `
    WITH picked AS MATERIALIZED (
      SELECT seq, entity, id FROM ${edit} WHERE ${isWanted} AND entity = ANY ($2::text[]) AND seq > $3::bigint ORDER BY seq LIMIT $1::int),
    named AS (SELECT DISTINCT entity, id FROM picked)
    SELECT edit_id, entity, id, op, changed, state, by_role, round(extract(epoch FROM clock_timestamp() - at) * 1000)::bigint AS age_ms,
           (SELECT count(*) FROM picked) AS picked, (SELECT max(seq) FROM picked) AS page_end
      FROM ${edit} JOIN named USING (entity, id) WHERE ended_at IS NULL ORDER BY seq`;
};

async function rowsOf(
  session: Session,
  names: Names,
  table: TableLayout,
  edits: readonly Row[],
): Promise<EditedRow[]> {
  const byId = Map.groupBy(edits, ({ id }) => id ?? '');
  const shown = await readRows(session, names, table, [...byId.keys()]);
  return [...byId].map(([id, own]) => {
    const values = shown.get(id);
    return {
      entity: table.entity,
      id,
      ...(values ? { values } : {}),
      edits: own.map((edit) => editOf(table, edit)),
    };
  });
}

async function readRows(
  session: Session,
  names: Names,
  table: TableLayout,
  ids: readonly RowId[],
): Promise<ReadonlyMap<RowId, RowValues>> {
  if (ids.length === 0) return new Map();
  const columns = liveColumns(table);
  const list = columns.map((column) => `${readableColumn(column)} AS ${escapeIdentifier(column.name)}`);
  const rows = await session.run(
    `SELECT id AS crm_row_id${list.map((each) => `, ${each}`).join('')} FROM ${names.shown(table.entity)} WHERE id = ANY ($1::${table.idType}[])`,
    [ids],
  );
  return new Map(
    rows.map((row) => [
      row['crm_row_id'] ?? '',
      Object.fromEntries(
        columns.map(({ name, type }) => {
          const text = row[name] ?? null;
          return [name, text === null ? null : decoders[type](text)];
        }),
      ),
    ]),
  );
}

const kinds = { U: 'update', I: 'insert', D: 'delete', R: 'revert' } as const;

function editOf(table: TableLayout, row: Row): SqlEdit {
  const changed = parseJson(row['changed'] ?? '');
  const kind = kinds[(row['op'] ?? 'U') as keyof typeof kinds];
  const columns = new Map(table.columns.map((column) => [column.name, column]));
  // Of a deleted row only what people may change counts. What names a column that is not in use, or not known, is refused and not forgotten.
  const isEdited = (name: string) => kind !== 'delete' || columns.get(name)?.editing !== undefined;
  const pairs = Object.entries(isObject(changed) ? changed : {}).filter(([name]) => isEdited(name));
  const pick = (take: (given: unknown) => unknown): RowValues =>
    Object.fromEntries(
      pairs.map(([name, given]) => [name, decodeJson(columns.get(name)?.type, take(given))]),
    );
  const place = (index: number) => (given: unknown) => (given as readonly unknown[])[index];
  return {
    editId: row['edit_id'] ?? '',
    kind,
    state: row['state'] as SqlEdit['state'],
    before: kind === 'update' ? pick(place(0)) : kind === 'delete' ? pick((given) => given) : {},
    after: kind === 'update' ? pick(place(1)) : kind === 'insert' ? pick((given) => given) : {},
    by: row['by_role'] ?? '',
    ageMs: Number(row['age_ms']),
  };
}

/** A value as the triggers noted it: numbers that no program reads exactly are texts. */
function decodeJson(type: keyof typeof decoders | undefined, value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' && type !== undefined) return decoders[type](value);
  return value as Value;
}
