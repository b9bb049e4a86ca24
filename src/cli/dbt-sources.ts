import type { ColumnLayout, TableLayout, WarehouseLayout } from '../warehouse/port/layout.ts';

/** Columns that every table has beside those of the fields. */
const tail: readonly (readonly [name: string, comment: string])[] = [
  ['valid_from', 'When this version of the record was first seen.'],
  ['valid_after', 'When the version before it was last seen; null where that is not known.'],
  ['made_by', 'Who brought this version about: the CRM’s own users, or a side.'],
];

/**
 * The tables as a `sources.yml`: https://docs.getdbt.com/reference/source-properties. The schema is quoted: it may be called `on`, which is no
 * text to YAML, or `order`, which is no name to SQL.
 */
export const describeSources = ({ schema, tables }: WarehouseLayout, database: string): string =>
  [
    'version: 2',
    'sources:',
    `  - name: ${quote(schema)}`,
    `    database: ${quote(database)}`,
    `    schema: ${quote(schema)}`,
    '    tables:',
    ...tables.flatMap((table) => describeTable(table, schema)),
  ].join('\n');

const describeTable = ({ columns, comment, entity }: TableLayout, schema: string): string[] => [
  `      - name: ${entity}`,
  `        description: ${quote(comment)}`,
  // A newest row does not move while nothing changes.
  `        loaded_at_query: ${quote(`select list_read_at from "${schema}".freshness where entity = '${entity}'`)}`,
  '        columns:',
  '          - name: id',
  `            description: ${quote('The id that the CRM gives.')}`,
  '            data_tests: [unique, not_null]',
  ...columns.flatMap(describeColumn),
  ...tail.flatMap(([name, comment]) => describeColumn({ name, comment })),
];

const describeColumn = ({ comment, name }: Pick<ColumnLayout, 'comment' | 'name'>): string[] => [
  `          - name: ${name}`,
  `            description: ${quote(comment)}`,
];

/** A text as YAML; JSON is YAML as well. */
const quote = (text: string): string => JSON.stringify(text);
