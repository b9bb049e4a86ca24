import { escapeIdentifier } from 'pg';
import { syncSchemaOf, type TableLayout, type WarehouseLayout } from '../../warehouse/port/layout.ts';
import { editTable } from './capture/edit-table.ts';
import { questionTable } from './capture/question-table.ts';
import type { ColumnDefinition, TableDefinition } from './definition.ts';
import { freshnessTable, machineryTables, referenceTables } from './machinery.ts';
import { nameList, qualified } from './quote.ts';

const versionColumns: Readonly<Record<'validFrom' | 'validAfter' | 'madeBy', ColumnDefinition>> = {
  validFrom: {
    name: 'valid_from',
    type: 'timestamptz',
    comment: 'When this version was first seen in the CRM.',
  },
  validAfter: {
    name: 'valid_after',
    type: 'timestamptz',
    comment: 'When the version before it was last seen: the change was after this, and not after valid_from.',
  },
  madeBy: { name: 'made_by', type: 'text', comment: 'Who made this version: crm, sheet, sql or undo.' },
};

const dataColumns = (table: TableLayout): readonly ColumnDefinition[] =>
  table.columns.map(({ name, type, comment }) => ({ name, type, comment }));

const idColumn = (table: TableLayout): ColumnDefinition => ({
  name: 'id',
  type: table.idType,
  comment: `The CRM's id of the ${table.entity}.`,
});

const entityTable = (schema: string, table: TableLayout): TableDefinition => ({
  schema,
  name: table.entity,
  entity: table.entity,
  isGuarded: true,
  columns: [
    idColumn(table),
    ...dataColumns(table),
    {
      name: 'client_ref',
      type: 'text',
      comment: 'A key that a program of yours gives a row that it inserts. The CRM never gets it.',
    },
    versionColumns.validFrom,
    versionColumns.validAfter,
    versionColumns.madeBy,
  ],
  key: ['id'],
  unique: 'client_ref',
  comment: table.comment,
});

/** The name of the table of versions that are over. */
export const pastNameOf = (entity: TableLayout['entity']): string => `${entity}_past`;

const pastTable = (schema: string, table: TableLayout): TableDefinition => ({
  schema: syncSchemaOf(schema),
  name: pastNameOf(table.entity),
  entity: table.entity,
  columns: [
    idColumn(table),
    ...dataColumns(table),
    versionColumns.validAfter,
    versionColumns.validFrom,
    {
      name: 'valid_until',
      type: 'timestamptz',
      comment: 'When it was first seen that this version was over.',
    },
    {
      name: 'ended',
      type: 'text',
      comment: 'How it ended: changed, trashed, or left_out where the CRM does not say.',
    },
    versionColumns.madeBy,
  ],
  key: ['id', 'valid_from'],
  comment: `Versions of ${table.entity} rows that are over.`,
});

/** All tables of a layout, in the order in which they are made. */
export const tablesOf = (layout: WarehouseLayout): readonly TableDefinition[] => [
  ...machineryTables(layout.schema),
  ...(layout.editing ? [editTable(layout.schema)] : []),
  ...referenceTables(layout.schema),
  ...layout.tables.map((table) => entityTable(layout.schema, table)),
  ...(layout.hasHistory ? layout.tables.map((table) => pastTable(layout.schema, table)) : []),
  freshnessTable(layout.schema),
  ...(layout.editing ? [questionTable(layout.schema)] : []),
];

const columnSql = ({ name, type, rule = '' }: ColumnDefinition): string =>
  `${escapeIdentifier(name)} ${type} ${rule}`.trimEnd();

export function createTableSql(table: TableDefinition): string {
  const lines = [
    ...table.columns.map(columnSql),
    `PRIMARY KEY (${nameList(table.key)})`,
    ...(table.unique === undefined ? [] : [`UNIQUE (${escapeIdentifier(table.unique)})`]),
  ];
  return `CREATE TABLE IF NOT EXISTS ${qualified(table.schema, table.name)} (\n  ${lines.join(',\n  ')}\n)`;
}

export const addColumnsSql = (
  table: Pick<TableDefinition, 'schema' | 'name'>,
  columns: readonly ColumnDefinition[],
): string =>
  `ALTER TABLE ${qualified(table.schema, table.name)}\n  ${columns
    .map((column) => `ADD COLUMN IF NOT EXISTS ${columnSql(column)}`)
    .join(',\n  ')}`;
