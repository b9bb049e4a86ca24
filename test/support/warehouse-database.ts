import { systemClock } from '../../src/app/clock.ts';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import type { PostgresServer } from '../../src/sandbox/postgres/server.ts';
import type {
  ColumnLayout,
  ColumnType,
  TableLayout,
  WarehouseLayout,
} from '../../src/warehouse/port/layout.ts';
import type { Keeper, RowValues, RowVersion, TableBatch, WriteBatch } from '../../src/warehouse/port/port.ts';
import { throughPooler } from './pooled.ts';
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

const guards = (what: string): string =>
  layout.tables.map(({ entity }) => `ALTER TABLE crm.${entity} ${what} crm_guard`).join('; ');

/** A database with the tables of a link, and the daemon's own role. */
export class WarehouseDatabase {
  readonly database: TestDatabase;
  readonly role: string;
  /** The address of the daemon, through the pooler where there is one. */
  readonly url: string;
  readonly directUrl: string;
  #admin: ReturnType<TestDatabase['connect']> | undefined;
  readonly #warehouses: ReturnType<typeof createPostgresWarehouse>[] = [];

  constructor(database: TestDatabase, role: string, directUrl: string, url: string) {
    this.database = database;
    this.role = role;
    this.url = url;
    this.directUrl = directUrl;
  }

  /** A daemon's way in: through another address, or of another keeper, where that is given. */
  open(options: Partial<Parameters<typeof createPostgresWarehouse>[0]> = {}) {
    const log = createRecordingLog();
    const warehouse = createPostgresWarehouse({
      url: this.url,
      schema: 'crm',
      keeper,
      hasHistory: true,
      clock: systemClock,
      log,
      ...options,
    });
    this.#warehouses.push(warehouse);
    return warehouse;
  }

  /** Rows of a statement of the superuser. */
  async query(sql: string): Promise<Record<string, unknown>[]> {
    this.#admin ??= this.database.connect();
    return (await (await this.#admin).query(sql)).rows;
  }

  /** As {@link query}, in the tables of records, where the guards are in the way. */
  async tamper(sql: string): Promise<void> {
    await this.query(`${guards('DISABLE TRIGGER')}; ${sql}; ${guards('ENABLE ALWAYS TRIGGER')}`);
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
  const warehouse = new WarehouseDatabase(database, role, url, await throughPooler(home, url));
  const daemon = warehouse.open();
  await daemon.layOut(layout);
  await daemon.close();
  return warehouse;
}
