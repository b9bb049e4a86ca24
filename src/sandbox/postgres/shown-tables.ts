import { escapeIdentifier, type FieldDef, type Pool, type QueryArrayConfig } from 'pg';

/** In which order the rows of each table and view are shown, and which columns name a row. Nothing else is ever read. */
const listings = {
  lead: { order: 'id', key: ['id'] },
  opportunity: { order: 'id', key: ['id'] },
  task: { order: 'id', key: ['id'] },
  opportunity_overview: { order: 'id', key: ['id'] },
  pipeline_by_stage: { order: 'pipeline_id, position, stage_id', key: ['stage_id'] },
  stage_history: {
    order: 'entered_at DESC, opportunity_id DESC',
    key: ['opportunity_id', 'stage_id', 'entered_at'],
  },
  freshness: { order: 'entity', key: ['entity'] },
  edit: { order: 'seq DESC', key: ['edit_id'] },
} as const;

export type ShownName = keyof typeof listings;

const recordTables = ['lead', 'opportunity', 'task'] as const;

/** A table of records: its rows have a history. */
export type RecordTable = (typeof recordTables)[number];

export const isShown = (name: string): name is ShownName => Object.hasOwn(listings, name);
export const isRecordTable = (name: string): name is RecordTable =>
  recordTables.some((table) => table === name);

export interface ShownColumn {
  readonly name: string;
  /** By what it is aligned and shortened. */
  readonly kind: 'number' | 'instant' | 'text';
}

/** Values as PostgreSQL writes them. */
export type ShownRow = readonly (string | null)[];

export interface Rows {
  readonly columns: readonly ShownColumn[];
  readonly rows: readonly ShownRow[];
}

export interface ShownTable extends Rows {
  readonly key: readonly string[];
  /** How many rows each table of records has, also where not all of them are shown. */
  readonly counts: Readonly<Record<RecordTable, number>>;
}

const rowsMax = 1_000;

/** The types of PostgreSQL that are numbers: https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const numberTypes = new Set([20, 21, 23, 700, 701, 1700]);
const instantType = 1184;

const columnOf = ({ name, dataTypeID }: FieldDef): ShownColumn => ({
  name,
  kind: numberTypes.has(dataTypeID) ? 'number' : dataTypeID === instantType ? 'instant' : 'text',
});

async function readRows(pool: Pool, text: string, values: string[] = []): Promise<Rows> {
  const query = { text, values, rowMode: 'array' } satisfies QueryArrayConfig;
  const { fields, rows } = await pool.query<(string | null)[], string[]>(query);
  return { columns: fields.map(columnOf), rows };
}

const qualified = (schema: string, name: string) => `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;

export async function readTable(pool: Pool, schema: string, name: ShownName): Promise<ShownTable> {
  const { order, key } = listings[name];
  const shown = await readRows(
    pool,
    `SELECT * FROM ${qualified(schema, name)} ORDER BY ${order} LIMIT ${rowsMax}`,
  );
  const counted = recordTables.map((table) => `(SELECT count(*) FROM ${qualified(schema, table)})`);
  const [counts = []] = (await readRows(pool, `SELECT ${counted.join(', ')}`)).rows;
  const [lead, opportunity, task] = counts.map(Number);
  if (lead === undefined || opportunity === undefined || task === undefined)
    throw new Error('The database counted fewer tables than it was asked about.');
  return { ...shown, key, counts: { lead, opportunity, task } };
}

/** All versions of a record, the newest first. */
export const readVersions = (pool: Pool, schema: string, table: RecordTable, id: string): Promise<Rows> =>
  readRows(
    pool,
    `SELECT * FROM ${qualified(schema, `${table}_history`)} WHERE id = $1 ORDER BY valid_from DESC`,
    [id],
  );
