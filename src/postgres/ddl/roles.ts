import { escapeIdentifier, escapeLiteral } from 'pg';
import { syncSchemaOf } from '../../warehouse/port/layout.ts';
import type { TableDefinition } from './definition.ts';
import { qualified, quotedBody } from './quote.ts';

/** The role that people are granted, so that they can read. */
export const readerOf = (schema: string): string => `${schema}_reader`;

export const createReaderSql = (schema: string): string => {
  const role = readerOf(schema);
  return `DO ${quotedBody(`
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${escapeLiteral(role)}) THEN
    CREATE ROLE ${escapeIdentifier(role)} NOLOGIN;
  END IF;
END `)}`;
};

export const grantSchemaSql = (schema: string): string =>
  `GRANT USAGE ON SCHEMA ${escapeIdentifier(schema)} TO ${escapeIdentifier(readerOf(schema))}`;

export const grantReadSql = (schema: string, relation: string): string =>
  `GRANT SELECT ON ${qualified(schema, relation)} TO ${escapeIdentifier(readerOf(schema))}`;

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
