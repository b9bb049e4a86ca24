import { syncSchemaOf } from '../../warehouse/port/layout.ts';
import type { ColumnDefinition, TableDefinition } from './definition.ts';
import { qualified } from './quote.ts';

/** By which steps of the layout the tables were made; a later program reads it. */
export const schemaVersion = 1;

const text = (name: string, comment: string, rule?: string): ColumnDefinition =>
  rule === undefined ? { name, type: 'text', comment } : { name, type: 'text', rule, comment };
const instant = (name: string, comment: string): ColumnDefinition => ({ name, type: 'timestamptz', comment });

/** The tables with which the daemon keeps order: who writes, which writes were done, and what was laid out. */
export function machineryTables(schema: string): readonly TableDefinition[] {
  const own = { schema: syncSchemaOf(schema) };
  return [
    {
      ...own,
      name: 'link',
      columns: [
        text('name', 'The link of the daemon.'),
        text('account', 'The account of the CRM.', 'NOT NULL'),
        text('mirror_word', 'Names the mirror that keeps these tables.', 'NOT NULL'),
        {
          name: 'writer_token',
          type: 'bigint',
          rule: 'NOT NULL DEFAULT 0',
          comment: 'A writer with a lower one is late.',
        },
        {
          name: 'run_no',
          type: 'bigint',
          rule: 'NOT NULL DEFAULT 0',
          comment: 'The number of the last write.',
        },
        {
          name: 'schema_version',
          type: 'integer',
          rule: 'NOT NULL',
          comment: 'The version of these tables.',
        },
      ],
      key: ['name'],
      comment: 'One row: who keeps these tables. Every write locks it first.',
    },
    {
      ...own,
      name: 'ledger',
      columns: [
        text('run', 'The name of the write, used once.'),
        { name: 'no', type: 'bigint', rule: 'NOT NULL', comment: 'Its number.' },
        {
          name: 'xid',
          type: 'xid8',
          rule: 'NOT NULL DEFAULT pg_current_xact_id()',
          comment: 'Its transaction.',
        },
        {
          name: 'at',
          type: 'timestamptz',
          rule: 'NOT NULL DEFAULT clock_timestamp()',
          comment: 'When it was, by the clock of the database.',
        },
      ],
      key: ['run'],
      unique: 'no',
      comment: 'One row for each write transaction of the daemon.',
    },
    {
      ...own,
      name: 'laid_out',
      columns: [
        text('object', 'A table, column, view or grant.'),
        text('digest', 'Of the SQL that made it.', 'NOT NULL'),
      ],
      key: ['object'],
      comment:
        'What the daemon or an administrator laid out: what is missing although it is listed here was dropped.',
    },
  ];
}

/** Takes the last run back, as in a database that has lost it: so the daemon learns that rows were lost, and compares all of them. */
export const loseRunSql = (schema: string): string => {
  const own = syncSchemaOf(schema);
  return `WITH last AS (UPDATE ${qualified(own, 'link')} SET run_no = run_no - 1 WHERE run_no > 0 RETURNING run_no)
DELETE FROM ${qualified(own, 'ledger')} WHERE no > (SELECT run_no FROM last)`;
};

const retiredAt = instant('retired_at', 'Since when the CRM no longer has it; empty while it has.');

/** What names things in the CRM, for joins. */
export function referenceTables(schema: string): readonly TableDefinition[] {
  const named = (
    name: string,
    idType: 'integer' | 'smallint',
    of: string,
    {
      first = [],
      last = [],
    }: { readonly first?: readonly ColumnDefinition[]; readonly last?: readonly ColumnDefinition[] } = {},
  ) => ({
    schema,
    name,
    columns: [
      { name: 'id', type: idType, comment: `The CRM's id of the ${of}.` },
      ...first,
      text('name', `The name of the ${of}.`),
      ...last,
      retiredAt,
    ],
    key: ['id'],
    comment: `Each ${of} of the CRM, also those that it no longer has.`,
  });
  return [
    named('pipeline', 'integer', 'pipeline'),
    named('stage', 'integer', 'stage', {
      first: [{ name: 'pipeline_id', type: 'integer', comment: 'The pipeline that the stage belongs to.' }],
      last: [
        { name: 'position', type: 'integer', comment: 'The place of the stage in its pipeline.' },
        text('outcome', 'What an opportunity in this stage is: open, won or lost.'),
      ],
    }),
    {
      schema,
      name: 'lead_status',
      columns: [text('name', 'As leads carry it.'), text('label', 'As people read it.'), retiredAt],
      key: ['name'],
      comment: 'Each status of leads in the CRM, also those that it no longer has.',
    },
    named('task_status', 'smallint', 'task status'),
    named('task_priority', 'smallint', 'task priority'),
    {
      schema,
      name: 'user_name',
      columns: [
        text('id', "The CRM's id of the user."),
        text('name', 'What the user is called.'),
        instant('retired_at', 'Since when the configuration no longer names the user; empty while it does.'),
      ],
      key: ['id'],
      comment: 'Users of the CRM that the configuration names (crm.users), also those that it named before.',
    },
    {
      schema,
      name: 'custom_field',
      columns: [
        text('column_name', 'The column of the leads that holds it; it never changes.'),
        text(
          'key',
          "The CRM's key of the field. A field that came to hold another type has a second column.",
        ),
        text('name', 'What the field is called in the CRM now.'),
        text('kind', 'What its values are.'),
        retiredAt,
      ],
      key: ['column_name'],
      comment: 'Each custom field of the CRM with its column, also those that it no longer has.',
    },
  ];
}

export const freshnessTable = (schema: string): TableDefinition => ({
  schema,
  name: 'freshness',
  columns: [
    text('entity', 'The table.'),
    instant(
      'list_read_at',
      "When the last complete reading of the CRM's list began: all older facts are known.",
    ),
    { name: 'records', type: 'bigint', comment: 'How many records the CRM has, as far as it was read.' },
    { name: 'rows', type: 'bigint', comment: 'How many rows the table has.' },
    instant('oldest_seen_at', 'When the record was last seen that was not for the longest.'),
    instant('written_at', 'When this row was written.'),
    text('state', 'filling, fresh, late or held.'),
    text('note', 'What is the matter; empty for nothing.'),
  ],
  key: ['entity'],
  comment: 'How fresh the rows of each table are.',
});
