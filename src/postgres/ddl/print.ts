import type { WarehouseLayout } from '../../warehouse/port/layout.ts';
import { nothingFound } from './found.ts';
import { loseRunSql } from './machinery.ts';
import { grantDaemonSql } from './roles.ts';
import { marksSql, type Step, stepsOf } from './steps.ts';
import { tablesOf } from './tables.ts';

/** With these the names in definitions are those of the database itself, whatever the session is set to. */
export const layOutSettings = [
  'SET LOCAL search_path TO pg_catalog, pg_temp',
  "SET LOCAL lock_timeout TO '2s'",
  // A client that is lost must not keep its locks.
  "SET LOCAL idle_in_transaction_session_timeout TO '30s'",
  // What is there already is no news.
  "SET LOCAL client_min_messages TO 'warning'",
].join(';\n');

/**
 * The SQL that lays out, as a script for an administrator, who may run it again. Afterwards the role can do all of the daemon's work, and
 * needs no right to create anything.
 */
export function printDdl(layout: WarehouseLayout, roleName: string): string {
  const { schema } = layout;
  const steps = stepsOf(layout, nothingFound(roleName), true);
  const marks: readonly Step[] = [{ sql: marksSql(schema, steps) }];
  const statements = [
    'BEGIN',
    layOutSettings,
    ...[...steps, ...marks].map(({ sql }) => sql),
    ...grantDaemonSql(schema, tablesOf(layout), roleName),
    // What it made again is empty.
    loseRunSql(schema),
    'COMMIT',
  ];
  return `-- Tables, views and rights of crm-sheet-sync for the role ${roleName.replaceAll(/\s/g, ' ')}.\n${statements.map((sql) => `${sql};\n`).join('\n')}`;
}
