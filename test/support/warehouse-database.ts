import process from 'node:process';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import type { PostgresServer } from '../../src/sandbox/postgres/server.ts';
import type {
  ColumnLayout,
  ColumnType,
  TableLayout,
  WarehouseLayout,
} from '../../src/warehouse/port/layout.ts';
import type {
  Keeper,
  RowValues,
  RowVersion,
  TableBatch,
  WriteBatch,
} from '../../src/warehouse/port/port.ts';
import { startPgbouncer } from './pgbouncer.ts';
import { openDatabase, sharedPostgres, type TestDatabase } from './postgres.ts';
import { createRecordingLog } from './recording-log.ts';

const column = (name: string, type: ColumnType): ColumnLayout => ({ field: name, name, type, comment: name });

export const leads: TableLayout = {
  entity: 'lead',
  idType: 'bigint',
  comment: 'Leads',
  columns: [
    column('title', 'text'),
    column('status_name', 'text'),
    column('created_at', 'timestamptz'),
    column('cf_tags', 'text[]'),
    column('cf_amount', 'numeric'),
    column('cf_visits', 'integer'),
    column('cf_open', 'boolean'),
    column('cf_day', 'date'),
  ],
};

export const opportunities: TableLayout = {
  entity: 'opportunity',
  idType: 'bigint',
  comment: 'Opportunities',
  columns: [column('lead_id', 'bigint'), column('note', 'text'), column('value', 'numeric')],
};

export const contacts: TableLayout = {
  entity: 'contact',
  idType: 'uuid',
  comment: 'Contacts',
  columns: [column('lead_id', 'bigint'), column('full_name', 'text')],
};

const layout: WarehouseLayout = { schema: 'crm', tables: [leads, opportunities, contacts], hasHistory: true };

export const keeper: Keeper = { link: 'main', account: 'acme', word: 'mirror-1', token: 1 };

/** Noon of a day in 2026, epoch ms. */
export const noon = (day: number): number => Date.UTC(2026, 0, day, 12);

export const version = (id: number | string, values: RowValues, validFrom = noon(1)): RowVersion => ({
  id: String(id),
  values,
  validFrom,
  madeBy: 'crm',
});

export const batchOf = (after: number, ...tables: readonly Partial<TableBatch>[]): WriteBatch => ({
  after,
  tables: tables.map((table) => ({ table: leads, rows: [], past: [], gone: [], ...table })),
});

/** A database with the tables of a link, and the daemon's own role. */
export class WarehouseDatabase {
  readonly database: TestDatabase;
  readonly role: string;
  /** The address of the daemon. */
  readonly url: string;
  readonly #warehouses: ReturnType<typeof createPostgresWarehouse>[] = [];

  constructor(database: TestDatabase, role: string, url: string) {
    this.database = database;
    this.role = role;
    this.url = url;
  }

  /** A daemon's way in: through another address, or of another keeper, where that is given. */
  open(options: Partial<Parameters<typeof createPostgresWarehouse>[0]> = {}) {
    const log = createRecordingLog();
    const warehouse = createPostgresWarehouse({ url: this.url, schema: 'crm', keeper, log, ...options });
    this.#warehouses.push(warehouse);
    return warehouse;
  }

  /** Rows of a statement of the superuser. */
  query(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    return this.database.query(sql, values);
  }

  /** One column of a statement of the superuser. */
  async list(sql: string): Promise<unknown[]> {
    return (await this.query(sql)).map((row) => Object.values(row)[0]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#warehouses.map((warehouse) => warehouse.close()));
    await this.database[Symbol.asyncDispose]();
  }
}

const password = 'of-the-daemon';

export interface WarehouseDatabaseOptions {
  readonly server?: PostgresServer;
  /** Defaults of the daemon's role, as an administrator sets them. */
  readonly defaults?: Readonly<Record<string, string>>;
}

/** The same tables behind a pooler, where the tests are run so. */
const isPooled = process.env['TEST_WAREHOUSE_POOLER'] === '1';
let pooler: ReturnType<typeof startPgbouncer> | undefined;

export async function openWarehouseDatabase({
  server,
  defaults = {},
}: WarehouseDatabaseOptions = {}): Promise<WarehouseDatabase> {
  const home = server ?? (await sharedPostgres());
  const database = await openDatabase(home);
  const role = `daemon_${database.name}`;
  await database.query(`DROP ROLE IF EXISTS ${role}`);
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  await database.query(`GRANT CREATE ON DATABASE ${database.name} TO ${role}`);
  for (const [name, value] of Object.entries(defaults))
    await database.query(`ALTER ROLE ${role} SET ${name} = ${value}`);
  const url = home.urlOf(database.name, role, password);
  const client = await database.connect(role, password);
  await client.query(ddlOf(layout));
  await client.end();
  if (!isPooled || server) return new WarehouseDatabase(database, role, url);
  pooler ??= startPgbouncer(home);
  return new WarehouseDatabase(database, role, (await pooler).through(url));
}

const tail = 'client_ref text UNIQUE, valid_from timestamptz, valid_after timestamptz, made_by text';

function ddlOf({ tables }: WarehouseLayout): string {
  const columnsOf = (table: TableLayout) =>
    table.columns.map(({ name, type }) => `${name} ${type}, `).join('');
  return [
    'CREATE SCHEMA crm; CREATE SCHEMA crm_sync',
    `CREATE TABLE crm_sync.link (name text PRIMARY KEY, account text NOT NULL, mirror_word text NOT NULL,
       writer_token bigint NOT NULL DEFAULT 0, run_no bigint NOT NULL DEFAULT 0, schema_version int NOT NULL)`,
    `INSERT INTO crm_sync.link VALUES ('${keeper.link}', '${keeper.account}', '${keeper.word}', 0, 0, 1)`,
    `CREATE TABLE crm_sync.ledger (run text PRIMARY KEY, no bigint NOT NULL UNIQUE,
       xid xid8 NOT NULL DEFAULT pg_current_xact_id(), at timestamptz NOT NULL DEFAULT clock_timestamp())`,
    ...tables.flatMap((table) => [
      `CREATE TABLE crm.${table.entity} (id ${table.idType} PRIMARY KEY, ${columnsOf(table)} ${tail})`,
      `CREATE TABLE crm_sync.${table.entity}_past (id ${table.idType}, ${columnsOf(table)} valid_after timestamptz,
         valid_from timestamptz, valid_until timestamptz, ended text, made_by text, PRIMARY KEY (id, valid_from))`,
    ]),
    'CREATE TABLE crm.pipeline (id int PRIMARY KEY, name text, retired_at timestamptz)',
    `CREATE TABLE crm.stage (id int PRIMARY KEY, pipeline_id int, name text, position int, outcome text,
       retired_at timestamptz)`,
    'CREATE TABLE crm.lead_status (name text PRIMARY KEY, label text, retired_at timestamptz)',
    'CREATE TABLE crm.task_status (id smallint PRIMARY KEY, name text, retired_at timestamptz)',
    'CREATE TABLE crm.task_priority (id smallint PRIMARY KEY, name text, retired_at timestamptz)',
    `CREATE TABLE crm.custom_field (key text PRIMARY KEY, column_name text UNIQUE, name text, kind text,
       retired_at timestamptz)`,
    `CREATE TABLE crm.freshness (entity text PRIMARY KEY, list_read_at timestamptz, records bigint, rows bigint,
       oldest_seen_at timestamptz, written_at timestamptz, state text, note text)`,
  ].join(';\n');
}
