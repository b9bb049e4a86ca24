import { escapeIdentifier, escapeLiteral } from 'pg';
import type { TableLayout } from '../../warehouse/port/layout.ts';
import { liveColumns, type Names, tail, writtenColumns } from '../names.ts';

/** The statements for the rows of one table. Each takes a JSON array as its first value, and names its columns. */
export type RowSql = ReturnType<typeof rowSqlOf>;

/** The names of the columns in which two rows differ. */
function differingColumns(table: TableLayout, one: string, other: string): string {
  const names = [...liveColumns(table).map(({ name }) => name), ...tail];
  const cases = names.map((name) => {
    const column = escapeIdentifier(name);
    return `CASE WHEN ${one}.${column} IS DISTINCT FROM ${other}.${column} THEN ${escapeLiteral(name)} END`;
  });
  return `array_to_string(ARRAY[${cases.join(', ')}]::text[], ', ')`;
}

const rowOf = (columns: readonly string[], alias: string): string =>
  `ROW(${columns.map((column) => `${alias}.${column}`).join(', ')})`;

export function rowSqlOf(names: Names, table: TableLayout) {
  const shown = names.shown(table.entity);
  const past = names.past(table.entity);
  const columns = writtenColumns(table);
  const idOf = (element: string) => `(${element} ->> 'id')::${table.idType}`;
  const elements = 'jsonb_array_elements($1::jsonb) AS e (element)';
  /** What was sent over what is there: absent columns keep what they have. */
  const sent = `
    SELECT r.*, ${rowOf(columns, 'r')} IS DISTINCT FROM ${rowOf(columns, 'b')} AS crm_differs
      FROM ${elements} JOIN ${shown} b ON b.id = ${idOf('e.element')}
           CROSS JOIN LATERAL jsonb_populate_record(b, e.element) r`;
  /** A domain of a user's own column would have to be filled in a record of the table's type. */
  const types = [
    `id ${table.idType}`,
    ...liveColumns(table).map(({ name, type }) => `${escapeIdentifier(name)} ${type}`),
    ...tail.map((name) => `${name} ${name === 'made_by' ? 'text' : 'timestamptz'}`),
  ].join(', ');
  return {
    shown,
    columns,
    /** Ids of rows that are not there, or not as they are sent. */
    findDiffering: `
      SELECT e.element ->> 'id' AS id
        FROM ${elements} LEFT JOIN ${shown} b ON b.id = ${idOf('e.element')}
             LEFT JOIN LATERAL jsonb_populate_record(b, e.element) r ON true
       WHERE b.id IS NULL OR ${rowOf(columns, 'r')} IS DISTINCT FROM ${rowOf(columns, 'b')}`,
    /** Returns the rows that are otherwise now than they were sent, each with its columns; none where it was not written at all. */
    update: `
      WITH sent AS MATERIALIZED (${sent}),
      written AS (
        UPDATE ${shown} t SET ${columns.map((column) => `${column} = s.${column}`).join(', ')}
          FROM sent s WHERE t.id = s.id AND s.crm_differs RETURNING t.*)
      SELECT s.id::text AS id, w.id IS NOT NULL AS is_written, ${differingColumns(table, 'w', 's')} AS columns
        FROM sent s LEFT JOIN written w ON w.id = s.id
       WHERE s.crm_differs AND (w.id IS NULL OR ${rowOf(columns, 'w')} IS DISTINCT FROM ${rowOf(columns, 's')})`,
    insert: `
      WITH sent AS MATERIALIZED (
        SELECT r.* FROM jsonb_to_recordset($1::jsonb) AS r (${types})),
      written AS (
        INSERT INTO ${shown} (id, ${columns.join(', ')}) SELECT id, ${columns.join(', ')} FROM sent RETURNING *)
      SELECT s.id::text AS id, w.id IS NOT NULL AS is_written, ${differingColumns(table, 'w', 's')} AS columns
        FROM sent s LEFT JOIN written w ON w.id = s.id
       WHERE w.id IS NULL OR ${rowOf(columns, 'w')} IS DISTINCT FROM ${rowOf(columns, 's')}`,
    delete: `
      DELETE FROM ${shown} WHERE id IN (SELECT ${idOf('e.element')} FROM ${elements}) RETURNING id::text AS id`,
    insertPast: `
      INSERT INTO ${past}
      SELECT r.* FROM ${elements} CROSS JOIN LATERAL jsonb_populate_record(NULL::${past}, e.element) r
      ON CONFLICT DO NOTHING`,
    /** Keeps rows as they are now: by name, so that a column which only one of both has is no trouble. */
    archive: `
      INSERT INTO ${past}
      SELECT r.* FROM ${elements} JOIN ${shown} t ON t.id = ${idOf('e.element')}
             CROSS JOIN LATERAL jsonb_populate_record(NULL::${past}, to_jsonb(t) || e.element) r
      ON CONFLICT DO NOTHING`,
    copy: `COPY ${shown} (id, ${columns.join(', ')}) FROM STDIN`,
  };
}
