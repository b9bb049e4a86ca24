import { escapeLiteral } from 'pg';
import type { Freshness } from '../../warehouse/port/port.ts';
import type { Names } from '../names.ts';
import { settingsSql } from '../transaction.ts';
import { isoOf } from './encode.ts';
import { keepingFault, linkColumns } from './link-row.ts';
import { runSettings, type Stage } from './run.ts';

const isoOrNull = (epochMs: number | undefined) => (epochMs === undefined ? null : isoOf(epochMs));

const toJson = (freshness: readonly Freshness[]): string =>
  JSON.stringify(
    freshness.map(({ listReadAt, oldestSeenAt, at, note, ...rest }) => ({
      ...rest,
      note: note.toWellFormed(),
      list_read_at: isoOrNull(listReadAt),
      oldest_seen_at: isoOrNull(oldestSeenAt),
      written_at: isoOf(at),
    })),
  );

const columns = ['list_read_at', 'records', 'rows', 'oldest_seen_at', 'written_at', 'state', 'note'];

const upsertSql = (names: Names, json: string, condition: string): string => `
  INSERT INTO ${names.shown('freshness')} (entity, ${columns.join(', ')})
  SELECT entity, ${columns.join(', ')} FROM jsonb_to_recordset(${json}::jsonb) AS r (
         entity text, list_read_at timestamptz, records bigint, rows bigint, oldest_seen_at timestamptz,
         written_at timestamptz, state text, note text)
   WHERE ${condition}
  ON CONFLICT (entity) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`;

/**
 * Writes freshness alone, in one message: statements of one message are one transaction, so the settings hold for them and for nothing
 * else, also behind a pooler. Returns the number of the last run.
 */
export function touchFreshness(stage: Stage, freshness: readonly Freshness[]): Promise<number> {
  const { connection, names, keeper } = stage;
  const link = `${names.own('link')} WHERE name = ${escapeLiteral(keeper.link)}`;
  const isKept = [
    `account = ${escapeLiteral(keeper.account)}`,
    `mirror_word = ${escapeLiteral(keeper.word)}`,
    `writer_token <= ${BigInt(keeper.token)}`,
  ].join(' AND ');
  const condition = `EXISTS (SELECT FROM ${link} AND ${isKept})`;
  const text = [
    settingsSql(runSettings('touch')),
    upsertSql(names, escapeLiteral(toJson(freshness)), condition),
    `SELECT ${linkColumns} FROM ${link}`,
  ].join(';\n');
  return connection.use('write to', async (session) => {
    const [row] = await session.runTogether(text);
    const fault = keepingFault(row, keeper);
    if (fault) throw fault;
    return Number(row?.['run_no']);
  });
}
