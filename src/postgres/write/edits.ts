import { escapeLiteral } from 'pg';
import type { EditOutcome, OldEdits, RowId } from '../../warehouse/port/port.ts';
import type { Session } from '../connection.ts';
import { editTableName } from '../ddl/capture/edit-table.ts';
import type { Names } from '../names.ts';
import type { TableStage } from './table-stage.ts';

/** The channel on which it is told that edits have come to something, by their names. */
export const outcomeChannelOf = (schema: string): string => `${schema}_outcome`;

/**
 * Which of these rows have open edits that are not known. To be called once the rows are locked: an edit that was committed before is seen
 * here, and one that was not holds its row, or waits for ours.
 */
export async function findEdited(
  { isEditable, known, names, session, table }: TableStage,
  ids: readonly RowId[],
): Promise<ReadonlySet<RowId>> {
  if (!isEditable || ids.length === 0) return new Set();
  const rows = await session.run(
    `SELECT DISTINCT id FROM ${names.own(editTableName)}
      WHERE ended_at IS NULL AND entity = $1 AND id = ANY ($2::text[]) AND edit_id <> ALL ($3::uuid[])`,
    [table.entity, ids, known],
  );
  return new Set(rows.map(({ id }) => id ?? ''));
}

const openStates: readonly EditOutcome['state'][] = ['taken', 'conflict', 'held', 'refused'];

/** Notes what came of edits, and tells it to who listens. */
export async function writeOutcomes(
  session: Session,
  names: Names,
  outcomes: readonly EditOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const sent = outcomes.map(({ editId, newId, note, state }) => ({
    edit_id: editId,
    state,
    note: note?.toWellFormed().replaceAll('\0', '\ufffd'),
    new_id: newId,
    is_open: openStates.includes(state),
  }));
  await session.run(
    `WITH told AS (
       UPDATE ${names.own(editTableName)} e
          SET state = s.state, note = s.note, new_id = coalesce(s.new_id, e.new_id),
              ended_at = CASE WHEN s.is_open THEN NULL ELSE coalesce(e.ended_at, clock_timestamp()) END
         FROM jsonb_to_recordset($1::jsonb) AS s (edit_id uuid, state text, note text, new_id text, is_open boolean)
        WHERE e.edit_id = s.edit_id RETURNING e.edit_id::text AS edit_id, s.state)
     SELECT pg_notify(${escapeLiteral(outcomeChannelOf(names.schema))}, edit_id) FROM told WHERE state <> 'taken'`,
    [JSON.stringify(sent)],
  );
}

/** Deletes edits that have been over for long. Returns how many. */
export async function deleteOldEdits(
  session: Session,
  names: Names,
  { days, insertDays, limit }: OldEdits,
): Promise<number> {
  const edit = names.own(editTableName);
  const [row] = await session.run(
    `WITH old AS MATERIALIZED (
       SELECT seq FROM ${edit}
        WHERE ended_at < now() - make_interval(days => $1::int)
          AND (op <> 'I' OR ended_at < now() - make_interval(days => $2::int))
        ORDER BY ended_at LIMIT $3::int FOR UPDATE SKIP LOCKED),
     deleted AS (DELETE FROM ${edit} e USING old WHERE e.seq = old.seq RETURNING e.seq)
     SELECT count(*) AS deleted FROM deleted`,
    [String(days), String(insertDays), String(limit)],
  );
  return Number(row?.['deleted'] ?? 0);
}
