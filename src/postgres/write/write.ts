import type { Entity } from '../../core/record.ts';
import { newWarehouseError } from '../../warehouse/port/errors.ts';
import type { LeftRow, TableBatch, WriteBatch, WriteReply } from '../../warehouse/port/port.ts';
import type { Session } from '../connection.ts';
import { writeFreshness } from './freshness.ts';
import { writeReferences } from './references.ts';
import { hasTable, inRun, type RunEffect, type Stage } from './run.ts';
import { type RowChange, type TableStage, writeTable } from './table-write.ts';

/** Writes a batch as one run: reference data, rows with parents first, then deletes with parents last. */
export const writeBatch = (stage: Stage, run: string, batch: WriteBatch): Promise<WriteReply> =>
  inRun(stage, run, batch.after, (session) => writeAll(stage, session, batch));

async function writeAll({ names }: Stage, session: Session, batch: WriteBatch): Promise<RunEffect> {
  if (batch.references) await writeReferences(session, names, batch.references);
  const left: LeftRow[] = [];
  const added: Partial<Record<Entity, number>> = {};
  const tables: { readonly stage: TableStage; readonly batch: TableBatch }[] = [];
  for (const each of batch.tables) {
    const hasPast = await hasTable(session, names.past(each.table.entity));
    if (!hasPast && each.past.length > 0)
      throw newWarehouseError(
        'WAREHOUSE_CHANGED',
        `The table ${names.past(each.table.entity)} is not there.`,
      );
    tables.push({ stage: { session, names, table: each.table, hasPast }, batch: each });
  }
  const apply = async (
    stage: TableStage,
    changes: readonly RowChange[],
    mode: 'NO KEY UPDATE' | 'UPDATE',
  ) => {
    const effect = await writeTable(stage, changes, mode);
    left.push(...effect.left);
    added[stage.table.entity] = (added[stage.table.entity] ?? 0) + effect.added;
  };
  for (const { stage, batch: own } of tables) await apply(stage, rowChanges(own), 'NO KEY UPDATE');
  for (const { stage, batch: own } of tables.toReversed()) await apply(stage, goneChanges(own), 'UPDATE');
  if (batch.freshness?.length) await writeFreshness(session, names, batch.freshness);
  return { left, added };
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
