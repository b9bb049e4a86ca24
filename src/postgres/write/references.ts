import { escapeIdentifier } from 'pg';
import type { References } from '../../warehouse/port/port.ts';
import type { Session } from '../connection.ts';
import type { Names } from '../names.ts';
import { isoOf } from './encode.ts';

/** A table of reference data: its key first, then the other columns, each with its type. */
interface ReferenceTable {
  readonly name: string;
  readonly columns: readonly (readonly [name: string, type: string])[];
}

const tables = {
  pipelines: {
    name: 'pipeline',
    columns: [
      ['id', 'integer'],
      ['name', 'text'],
    ],
  },
  stages: {
    name: 'stage',
    columns: [
      ['id', 'integer'],
      ['pipeline_id', 'integer'],
      ['name', 'text'],
      ['position', 'integer'],
      ['outcome', 'text'],
    ],
  },
  leadStatuses: {
    name: 'lead_status',
    columns: [
      ['name', 'text'],
      ['label', 'text'],
    ],
  },
  taskStatuses: {
    name: 'task_status',
    columns: [
      ['id', 'smallint'],
      ['name', 'text'],
    ],
  },
  taskPriorities: {
    name: 'task_priority',
    columns: [
      ['id', 'smallint'],
      ['name', 'text'],
    ],
  },
  userNames: {
    name: 'user_name',
    columns: [
      ['id', 'text'],
      ['name', 'text'],
    ],
  },
  customFields: {
    name: 'custom_field',
    columns: [
      ['column_name', 'text'],
      ['key', 'text'],
      ['name', 'text'],
      ['kind', 'text'],
    ],
  },
} as const satisfies Record<string, ReferenceTable>;

/** Writes what differs: a row that stays as it is is not locked, so its readers and their locks are no trouble. */
export async function writeReferences(session: Session, names: Names, references: References): Promise<void> {
  const stages = references.stages.map(({ pipelineId, ...stage }) => ({ ...stage, pipeline_id: pipelineId }));
  const customFields = references.customFields.map(({ columnName, retiredAt, ...field }) => ({
    ...field,
    column_name: columnName,
    retired_at: retiredAt ?? null,
  }));
  const lists = { ...references, stages, customFields };
  const retiredAt = isoOf(references.at);
  for (const key of Object.keys(tables) as (keyof typeof tables)[])
    await session.run(upsertSql(names, tables[key]), [JSON.stringify(lists[key]), retiredAt]);
}

/** What is not listed gets `retired_at` once; what is listed again loses it. */
function upsertSql(names: Names, { name, columns }: ReferenceTable): string {
  const table = names.shown(name);
  const all = [...columns.map(([column]) => column), 'retired_at'].map((column) => escapeIdentifier(column));
  const [key, ...rest] = all;
  const types = [...columns, ['retired_at', 'timestamptz'] as const]
    .map(([column, type]) => `${escapeIdentifier(column)} ${type}`)
    .join(', ');
  const rowOf = (alias: string) => `ROW(${rest.map((column) => `${alias}.${column}`).join(', ')})`;
  return `
    WITH sent AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::jsonb) AS r (${types})),
    changed AS (
      UPDATE ${table} t SET ${rest.map((column) => `${column} = s.${column}`).join(', ')}
        FROM sent s WHERE t.${key} = s.${key} AND ${rowOf('t')} IS DISTINCT FROM ${rowOf('s')}),
    retired AS (
      UPDATE ${table} t SET retired_at = $2::timestamptz
       WHERE t.retired_at IS NULL AND NOT EXISTS (SELECT FROM sent s WHERE s.${key} = t.${key}))
    INSERT INTO ${table} (${all.join(', ')})
    SELECT ${all.map((column) => `s.${column}`).join(', ')} FROM sent s
     WHERE NOT EXISTS (SELECT FROM ${table} t WHERE t.${key} = s.${key})`;
}
