import { escapeIdentifier, escapeLiteral } from 'pg';
import { syncSchemaOf } from '../../warehouse/port/layout.ts';
import { questionTableName, revertName } from './capture/question-table.ts';
import type { TableDefinition } from './definition.ts';
import { qualified, quotedBody } from './quote.ts';

/** The role that people are granted, so that they can read. */
export const readerOf = (schema: string): string => `${schema}_reader`;

/** The role that people are granted, so that they can write as well. */
export const editorOf = (schema: string): string => `${schema}_editor`;

export const createReaderSql = (schema: string): string => createRoleSql(readerOf(schema));

function createRoleSql(role: string): string {
  return `DO ${quotedBody(`
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${escapeLiteral(role)}) THEN
    CREATE ROLE ${escapeIdentifier(role)} NOLOGIN;
  END IF;
END `)}`;
}

export const grantSchemaSql = (schema: string): string =>
  `GRANT USAGE ON SCHEMA ${escapeIdentifier(schema)} TO ${escapeIdentifier(readerOf(schema))}`;

export const grantReadSql = (schema: string, relation: string): string =>
  `GRANT SELECT ON ${qualified(schema, relation)} TO ${escapeIdentifier(readerOf(schema))}`;

export const createEditorSql = (schema: string): string => createRoleSql(editorOf(schema));

/** Editors reach the machinery only to get the ids of new rows: what notes their edits has the rights of its owner. */
export const grantEditingSql = (schema: string, sequence: string): string => {
  const role = escapeIdentifier(editorOf(schema));
  const sync = syncSchemaOf(schema);
  return [
    `GRANT USAGE ON SCHEMA ${escapeIdentifier(schema)}, ${escapeIdentifier(sync)} TO ${role}`,
    `GRANT USAGE ON SEQUENCE ${qualified(sync, sequence)} TO ${role}`,
    `GRANT UPDATE (answer) ON ${qualified(schema, questionTableName)} TO ${role}`,
    `GRANT EXECUTE ON FUNCTION ${qualified(schema, revertName)}(text, text) TO ${role}`,
  ].join(';\n');
};

/**
 * An editor reads all of a relation, and writes whole rows of a table, as many programs do. What people may not change is refused by the trigger,
 * which names the column and says why: a missing right would name the table alone.
 */
export function grantEditSql(schema: string, relation: string, isTable: boolean): string {
  const rights = isTable ? 'SELECT, INSERT, UPDATE, DELETE' : 'SELECT';
  return `GRANT ${rights} ON ${qualified(schema, relation)} TO ${escapeIdentifier(editorOf(schema))}`;
}

/** What a daemon needs that owns none of it. */
export const grantDaemonSql = (
  schema: string,
  tables: readonly TableDefinition[],
  roleName: string,
): readonly string[] => {
  const role = escapeIdentifier(roleName);
  const schemas = [schema, syncSchemaOf(schema)].map(escapeIdentifier).join(', ');
  const relations = tables.map((table) => qualified(table.schema, table.name)).join(',\n  ');
  return [
    `GRANT USAGE ON SCHEMA ${schemas} TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON\n  ${relations}\n  TO ${role}`,
  ];
};
