import { syncSchemaOf, type TableLayout } from '../../../warehouse/port/layout.ts';
import type { ColumnDefinition, TableDefinition } from '../definition.ts';
import { qualified } from '../quote.ts';

export const editTableName = 'edit';

/** Gives rows that people insert an id until the CRM has given one: from -1 downwards. */
export const newIdName = 'new_id';

const column = (
  name: string,
  type: ColumnDefinition['type'],
  comment: string,
  rule?: string,
): ColumnDefinition => ({ name, type, comment, ...(rule === undefined ? {} : { rule }) });

/** Each edit that was made by SQL, and what came of it. A number of `seq` may come again after a restore, an `edit_id` does not. */
export const editTable = (schema: string): TableDefinition => ({
  schema: syncSchemaOf(schema),
  name: editTableName,
  columns: [
    column('seq', 'bigint', 'Its number.', 'GENERATED ALWAYS AS IDENTITY'),
    column('edit_id', 'uuid', 'Its name.', 'NOT NULL DEFAULT gen_random_uuid()'),
    column('xid', 'xid8', 'The transaction that made it.', 'NOT NULL DEFAULT pg_current_xact_id()'),
    column('at', 'timestamptz', 'When it was made.', 'NOT NULL DEFAULT clock_timestamp()'),
    column('by_role', 'text', 'The login that made it.', 'NOT NULL DEFAULT session_user'),
    column(
      'by_app',
      'text',
      'What the program calls itself.',
      "NOT NULL DEFAULT coalesce(current_setting('application_name', true), '')",
    ),
    column('entity', 'text', 'The table.', 'NOT NULL'),
    column('id', 'text', 'The id of the row.', 'NOT NULL'),
    column(
      'op',
      'text',
      'U for an update, I for an insert, D for a delete, R for one that takes the edits of a row back.',
      'NOT NULL',
    ),
    column(
      'changed',
      'jsonb',
      'By column: of an update the value before and after, of an insert the value; of a delete the row.',
      'NOT NULL',
    ),
    column(
      'state',
      'text',
      'new, taken, done, void, lost, refused, conflict, held, superseded; side_effect where nobody meant it.',
      "NOT NULL DEFAULT 'new'",
    ),
    column('note', 'text', 'What there is to say about it.'),
    column('ended_at', 'timestamptz', 'When it was over.'),
    column('new_id', 'text', "The CRM's id of a row that was inserted."),
  ],
  key: ['seq'],
  unique: 'edit_id',
  comment: 'Each edit that was made by SQL, and what came of it.',
});

/** What goes with the table: ways to find what is open, and the ids for rows that are inserted. */
export function editObjectsSql(schema: string): string {
  const sync = syncSchemaOf(schema);
  const table = qualified(sync, editTableName);
  return [
    `CREATE INDEX IF NOT EXISTS edit_new ON ${table} (seq) WHERE state IN ('new', 'side_effect')`,
    `CREATE INDEX IF NOT EXISTS edit_open ON ${table} (entity, id) WHERE ended_at IS NULL`,
    `CREATE INDEX IF NOT EXISTS edit_by_row ON ${table} (entity, id, xid)`,
    `CREATE INDEX IF NOT EXISTS edit_over ON ${table} (ended_at) WHERE ended_at IS NOT NULL`,
    `CREATE SEQUENCE IF NOT EXISTS ${qualified(sync, newIdName)} INCREMENT -1 START -1 MAXVALUE -1`,
  ].join(';\n');
}

/** The id of a row that is inserted without one. */
export const newIdSql = (schema: string, { idType }: TableLayout): string =>
  idType === 'uuid'
    ? 'gen_random_uuid()'
    : `nextval('${qualified(syncSchemaOf(schema), newIdName)}'::regclass)`;
