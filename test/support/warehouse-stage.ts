import type { Client } from 'pg';
import { layOut } from '../../src/postgres/lay-out.ts';
import type { WarehouseLayout } from '../../src/warehouse/port/layout.ts';
import type { LayoutFault } from '../../src/warehouse/port/port.ts';
import { openDatabase, type TestDatabase } from './postgres.ts';
import { layoutWith, testKeeper } from './warehouse-layout.ts';

/** A database that a role without more rights than its own schemas laid out, as a daemon does. */
export interface WarehouseStage {
  readonly database: TestDatabase;
  /** The daemon's connection. */
  readonly daemon: Client;
  /** A superuser's. */
  readonly admin: Client;
  layOut(layout?: WarehouseLayout): Promise<readonly LayoutFault[]>;
  /** Runs SQL as the daemon does it in a write. */
  write(sql: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

let roleCount = 0;
const password = 'secret';

/** Creates a login of a name of its own on the database's server, and removes it at the end. */
export async function openRole(admin: Client, rights: string): Promise<{ name: string; password: string }> {
  roleCount += 1;
  const name = `daemon_${process.pid}_${roleCount}`;
  await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}' ${rights}`);
  return { name, password };
}

/** An empty database in which the daemon's role may create schemas and roles. */
export async function openWarehouse(layout: WarehouseLayout = layoutWith()): Promise<WarehouseStage> {
  const database = await openDatabase();
  const admin = await database.connect();
  const role = await openRole(admin, 'CREATEROLE');
  await admin.query(`GRANT CREATE ON DATABASE ${database.name} TO ${role.name}`);
  const daemon = await database.connect(role.name, role.password);
  return {
    database,
    daemon,
    admin,
    layOut: (other = layout) => layOut(daemon, other, testKeeper),
    write: async (sql) => {
      await daemon.query(`BEGIN; SELECT set_config('crm_sync.run', 'run-1', true); ${sql}; COMMIT`);
    },
    [Symbol.asyncDispose]: async () => {
      await admin.query(
        `DROP SCHEMA IF EXISTS ${layout.schema}, ${layout.schema}_sync CASCADE; DROP OWNED BY ${role.name} CASCADE; DROP ROLE ${role.name}; DROP ROLE IF EXISTS ${layout.schema}_reader, ${layout.schema}_editor`,
      );
      await database[Symbol.asyncDispose]();
    },
  };
}
