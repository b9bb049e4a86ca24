import type { Entity } from '../../core/record.ts';
import type { TableLayout } from '../../warehouse/port/layout.ts';
import type { EditOutcome, LeftRow, TableBatch, WriteBatch, WriteReply } from '../../warehouse/port/port.ts';
import type { Session } from '../connection.ts';
import { deleteOldEdits, writeOutcomes } from './edits.ts';
import type { LockMode } from './lock.ts';
import { writeQuestions } from './questions.ts';
import { writeReferences } from './references.ts';
import { renameRows } from './rename.ts';
import { inRun, type RunEffect, type Stage } from './run.ts';
import { type RowChange, writeTable } from './table-write.ts';

/** Writes a batch as one run: reference data, rows with parents first, then deletes with parents last. */
export const writeBatch = (stage: Stage, run: string, batch: WriteBatch): Promise<WriteReply> =>
  inRun(stage, run, batch.after, (session) => writeAll(stage, session, batch));

async function writeAll(
  { hasHistory, isEditable, names }: Stage,
  session: Session,
  batch: WriteBatch,
): Promise<RunEffect> {
  if (batch.references) await writeReferences(session, names, batch.references);
  const { edits = { known: [], outcomes: [], renames: [] } } = batch;
  const added: Partial<Record<Entity, number>> = {};
  const stageOf = (table: TableLayout) => ({
    session,
    names,
    table,
    hasHistory,
    isEditable,
    known: edits.known,
  });
  const renamed = await renameRows(
    batch.tables.map(({ table }) => stageOf(table)),
    edits.renames,
  );
  const left: LeftRow[] = [...renamed.left];
  const apply = async ({ table }: TableBatch, changes: readonly RowChange[], mode: LockMode) => {
    const { free = [], waiting = [] } = Object.groupBy(changes, ({ id }) =>
      renamed.isLeft(table.entity, id) ? 'waiting' : 'free',
    );
    for (const { id } of waiting)
      left.push({ entity: table.entity, id, why: 'locked', words: 'Its row waits for its id.' });
    const effect = await writeTable(stageOf(table), free, mode);
    left.push(...effect.left);
    added[table.entity] = (added[table.entity] ?? 0) + effect.added;
  };
  for (const own of batch.tables) await apply(own, rowChanges(own), 'NO KEY UPDATE');
  for (const own of batch.tables.toReversed()) await apply(own, goneChanges(own), 'UPDATE');
  const isTold = ({ editId }: EditOutcome) => !renamed.edits.has(editId);
  if (batch.questions) await writeQuestions(session, names, batch.questions);
  await writeOutcomes(session, names, edits.outcomes.filter(isTold));
  const forgotten = batch.oldEdits && (await deleteOldEdits(session, names, batch.oldEdits));
  return { left, added, forgotten };
}

function rowChanges({ rows, past }: TableBatch): readonly RowChange[] {
  const byId = Map.groupBy(past, ({ id }) => id);
  return rows.map((row) => ({ id: row.id, row, past: byId.get(row.id) ?? [] }));
}

/** Records that are gone, and versions of records that have no row here. */
function goneChanges({ rows, past, gone }: TableBatch): readonly RowChange[] {
  const written = new Set(rows.map(({ id }) => id));
  const byId = Map.groupBy(
    past.filter(({ id }) => !written.has(id)),
    ({ id }) => id,
  );
  const deletes = gone.map(({ id, at }): RowChange => ({ id, goneAt: at, past: byId.get(id) ?? [] }));
  for (const { id } of gone) byId.delete(id);
  return [...deletes, ...[...byId].map(([id, versions]): RowChange => ({ id, past: versions }))];
}
