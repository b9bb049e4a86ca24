import { escapeIdentifier } from 'pg';
import type { Entity } from '../../core/record.ts';
import type { LeftRow, Rename, RowId } from '../../warehouse/port/port.ts';
import { editTableName } from '../ddl/capture/edit-table.ts';
import { isRowRefusal, refusalWords } from '../errors.ts';
import { findEdited } from './edits.ts';
import { isolate } from './isolate.ts';
import { lockRows } from './lock.ts';
import { beginTable, type TableStage } from './table-stage.ts';

/** Which rows did not get the ids of their records. */
export interface RenameEffect {
  readonly left: readonly LeftRow[];
  /** The edits of which it is not told yet what came of them. */
  readonly edits: ReadonlySet<string>;
  isLeft(entity: Entity, id: RowId): boolean;
}

/**
 * Gives rows that were inserted the ids of their records, and with each the rows that point to it. A row that is locked, or was edited by
 * what is not known, is left; so is one that a constraint of a user keeps.
 */
export async function renameRows(
  stages: readonly TableStage[],
  renames: readonly Rename[],
): Promise<RenameEffect> {
  const left: { readonly rename: Rename; readonly row: LeftRow }[] = [];
  for (const stage of stages) {
    const own = renames.filter(({ entity }) => entity === stage.table.entity);
    if (own.length > 0) left.push(...(await renameIn(stages, stage, own)));
  }
  return {
    left: left.map(({ row }) => row),
    edits: new Set(left.map(({ rename }) => rename.editId)),
    isLeft: (entity, id) => left.some(({ rename }) => rename.entity === entity && rename.to === id),
  };
}

async function renameIn(stages: readonly TableStage[], stage: TableStage, renames: readonly Rename[]) {
  const { names, session, table } = stage;
  const left: { readonly rename: Rename; readonly row: LeftRow }[] = [];
  const leave = (rename: Rename, why: LeftRow['why'], words: string) =>
    left.push({ rename, row: { entity: rename.entity, id: rename.from, why, words } });
  const ids = renames.map(({ from }) => from);
  const found = await lockRows(session, names.shown(table.entity), table.idType, ids, 'UPDATE');
  const edited = await findEdited(stage, ids);
  const free: Rename[] = [];
  for (const rename of renames) {
    const heldBy = found.get(rename.from)?.heldBy;
    if (heldBy !== undefined) leave(rename, 'locked', heldBy);
    else if (edited.has(rename.from)) leave(rename, 'edited', 'A user edited the row meanwhile.');
    else free.push(rename);
  }
  const held = free.length > 0 && (await arePointersHeld(stages, stage, free));
  if (held)
    for (const rename of free)
      leave(rename, 'locked', 'A transaction of others holds a row that points to it.');
  else if (free.length > 0)
    await isolate(session, free, {
      apply: (items) => renameAll(stages, stage, items),
      isRefusal: (error) => isRowRefusal(error, names.syncSchema),
      refuse: (item, error) => leave(item, 'refused', refusalWords(error)),
      leave: (items) => {
        for (const item of items)
          leave(item, 'untried', 'Too many other rows were refused in the same write.');
      },
    });
  return left;
}

/** Locks the rows that point to these, without waiting. Returns whether a transaction of others holds one. */
async function arePointersHeld(
  stages: readonly TableStage[],
  { names, session, table }: TableStage,
  renames: readonly Rename[],
): Promise<boolean> {
  const ids = renames.map(({ from }) => from);
  for (const other of stages)
    for (const column of other.table.columns.filter(({ refersTo }) => refersTo === table.entity)) {
      const points = `FROM ${names.shown(other.table.entity)} WHERE ${escapeIdentifier(column.name)} = ANY ($1::${table.idType}[])`;
      const [row] = await session.run(
        `WITH own AS MATERIALIZED (SELECT id ${points} FOR NO KEY UPDATE SKIP LOCKED)
         SELECT (SELECT count(*) FROM own) < (SELECT count(*) ${points}) AS is_held`,
        [ids],
      );
      if (row?.['is_held'] === 't') return true;
    }
  return false;
}

/** All of these rows with one statement for each column that points to them. */
async function renameAll(
  stages: readonly TableStage[],
  stage: TableStage,
  renames: readonly Rename[],
): Promise<void> {
  const { names, session, table } = stage;
  const [shown, type] = [names.shown(table.entity), table.idType];
  const pairs = [renames.map(({ from }) => from), renames.map(({ to }) => to)];
  const from = (as: string) => `FROM unnest($1::${as}[], $2::${as}[]) AS r (old_id, new_id)`;
  for (const other of stages)
    for (const column of other.table.columns.filter(({ refersTo }) => refersTo === table.entity)) {
      const name = escapeIdentifier(column.name);
      await beginTable(other);
      await session.run(
        `UPDATE ${names.shown(other.table.entity)} t SET ${name} = r.new_id ${from(type)} WHERE t.${name} = r.old_id`,
        pairs,
      );
    }
  await beginTable(stage);
  await session.run(
    `UPDATE ${shown} t SET id = r.new_id ${from(type)} WHERE t.id = r.old_id AND NOT EXISTS (SELECT FROM ${shown} x WHERE x.id = r.new_id)`,
    pairs,
  );
  await session.run(`DELETE FROM ${shown} WHERE id = ANY ($1::${type}[])`, pairs.slice(0, 1));
  await session.run(
    `UPDATE ${names.own(editTableName)} t SET id = r.new_id ${from('text')} WHERE t.ended_at IS NULL AND t.op <> 'I' AND t.entity = $3 AND t.id = r.old_id`,
    [...pairs, table.entity],
  );
}
