import { escapeIdentifier, escapeLiteral } from 'pg';
import { syncSchemaOf } from '../../warehouse/port/layout.ts';
import { qualified, quotedBody } from './quote.ts';

export const guardName = 'crm_guard';

/** BEFORE, per statement, for INSERT, DELETE, UPDATE and TRUNCATE: the bits of `pg_trigger.tgtype`. */
export const guardType = 2 | 4 | 8 | 16 | 32;

/** With it a function finds no object of the user who calls it. */
export const guardSearchPath = 'search_path=pg_catalog, pg_temp';

/**
 * Refuses a statement, unless it is the daemon's own: only its login can be the session's user, and only its write transaction sets the run.
 * The code is that of a missing right, so that a daemon with another login than the tables were made for learns that, and blames no row.
 */
export const guardBody = (roleName: string): string => `
BEGIN
  IF coalesce(current_setting('crm_sync.run', true), '') <> '' AND session_user = ${escapeLiteral(roleName)} THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION '%.% shows what the CRM has: edit it there. Editing by SQL is not switched on.', tg_table_schema, tg_table_name
    USING ERRCODE = '42501', SCHEMA = tg_table_schema, TABLE = tg_table_name;
END `;

export const guardFunctionSql = (schema: string, roleName: string): string =>
  `CREATE OR REPLACE FUNCTION ${qualified(syncSchemaOf(schema), guardName)}() RETURNS trigger\n` +
  `LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS ${quotedBody(guardBody(roleName))}`;

/** ALWAYS: else a session in the role of a replica passes by unseen. A replaced trigger is what version 13 lacks. */
export function guardTriggerSql(schema: string, table: string): string {
  const relation = qualified(schema, table);
  const trigger = escapeIdentifier(guardName);
  return [
    `DROP TRIGGER IF EXISTS ${trigger} ON ${relation}`,
    `CREATE TRIGGER ${trigger} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${relation}\n  FOR EACH STATEMENT EXECUTE FUNCTION ${qualified(syncSchemaOf(schema), guardName)}()`,
    `ALTER TABLE ${relation} ENABLE ALWAYS TRIGGER ${trigger}`,
  ].join(';\n');
}
