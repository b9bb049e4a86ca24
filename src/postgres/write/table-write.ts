import type { LeftRow, PastVersion, RowId, RowVersion } from '../../warehouse/port/port.ts';
import { isRowRefusal, refusalWords } from '../errors.ts';
import { type Ending, endingOf, type Next } from './archive.ts';
import { findDiffering } from './differing.ts';
import { findEdited } from './edits.ts';
import { isoOf, isStorableId, pastJson, rowJson, valuesJson } from './encode.ts';
import { isolate } from './isolate.ts';
import { type FoundRow, type LockMode, lockRows } from './lock.ts';
import { type RowSql, rowSqlOf } from './row-sql.ts';
import { beginTable, type TableStage } from './table-stage.ts';

/** What became of the rows of one table. */
export interface TableEffect {
  readonly left: readonly LeftRow[];
  /** How many rows there are more now. */
  readonly added: number;
}

/** One record's part of a write: its row, or that it is gone, and its versions that are over. */
export interface RowChange {
  readonly id: RowId;
  /** Absent for a record that is gone. */
  readonly row?: RowVersion;
  /** When it was found out that the record is gone, epoch ms. */
  readonly goneAt?: number;
  readonly past: readonly PastVersion[];
}

/** A change whose row is locked, or not there. */
interface ReadyChange extends RowChange {
  readonly live: FoundRow | undefined;
  /** The row as JSON; empty for a record that is gone. */
  readonly json: string;
  /** Its versions that are over, as JSON. */
  readonly pastJson: readonly string[];
}

/** Statements carry about so much: each is held several times, here and by the server. */
const statementChars = 8_000_000;

/** Writes the changes of one table: rows with their past, or deletes with theirs. What is not written is returned as left. */
export async function writeTable(
  stage: TableStage,
  changes: readonly RowChange[],
  mode: LockMode,
): Promise<TableEffect> {
  const { session, names, table } = stage;
  if (changes.length === 0) return { left: [], added: 0 };
  await beginTable(stage);
  const sql = rowSqlOf(names, table);
  const left: LeftRow[] = [];
  const leave = (id: RowId, why: LeftRow['why'], words: string) =>
    left.push({ entity: table.entity, id, why, words });

  const storable = changes.filter(({ id }) => isStorableId(table, id));
  for (const { id, row } of changes)
    if (row && !isStorableId(table, id)) leave(id, 'refused', `The id is no ${table.idType}.`);
  const ids = storable.map(({ id }) => id);
  const found = await lockRows(session, sql.shown, table.idType, ids, mode);
  const edited = await findEdited(stage, ids);
  const free: RowChange[] = [];
  for (const change of storable) {
    const heldBy = found.get(change.id)?.heldBy;
    if (heldBy !== undefined) leave(change.id, 'locked', heldBy);
    else if (edited.has(change.id)) leave(change.id, 'edited', 'A user edited the row meanwhile.');
    else free.push(change);
  }
  const ready = (await withoutOlder(stage, free, found)).map((change) =>
    readyChange(stage, change, found.get(change.id)),
  );

  let added = 0;
  for (const part of partsOf(ready)) {
    const effects = await isolate(session, part, {
      apply: (items) => applyChanges(stage, sql, items),
      isRefusal: (error) => isRowRefusal(error, names.syncSchema),
      refuse: ({ id }, error) => leave(id, 'refused', refusalWords(error)),
      leave: (items) => {
        for (const { id } of items)
          leave(id, 'untried', 'Too many other rows were refused in the same write.');
      },
    });
    for (const effect of effects) {
      left.push(...effect.left);
      added += effect.added;
    }
  }
  return { left, added };
}

/**
 * A mirror that was restored has versions that are over by what the database knows: written as they are, they would be in the history twice. A
 * row that has such values is as it should be, and one that has others gets them as a version that follows the one it shows.
 */
async function withoutOlder(
  stage: TableStage,
  changes: readonly RowChange[],
  found: ReadonlyMap<RowId, FoundRow>,
): Promise<readonly RowChange[]> {
  const shownFrom = ({ id, row }: RowChange) => {
    const validFrom = found.get(id)?.validFrom;
    return row && validFrom !== undefined && row.validFrom < validFrom ? validFrom : undefined;
  };
  const older = changes.filter((change) => shownFrom(change) !== undefined);
  if (older.length === 0) return changes;
  const differing = await findDiffering(
    stage,
    older.flatMap(({ id, row }) => (row ? [{ id, json: valuesJson(stage.table, row) }] : [])),
  );
  return changes.flatMap((change) => {
    const { id, row } = change;
    const validFrom = shownFrom(change);
    if (!row || validFrom === undefined) return [change];
    if (differing.has(id)) return [{ ...change, row: { ...row, validFrom: validFrom + 1 } }];
    return change.past.length === 0 ? [] : [{ ...change, row: { ...row, validFrom } }];
  });
}

const readyChange = (
  { table, hasHistory }: TableStage,
  change: RowChange,
  live: FoundRow | undefined,
): ReadyChange => ({
  ...change,
  live,
  json: change.row ? rowJson(table, change.row) : '',
  pastJson: hasHistory ? change.past.map((version) => pastJson(table, version)) : [],
});

const charsOf = ({ json, pastJson: past }: ReadyChange): number =>
  past.reduce((sum, { length }) => sum + length, json.length);

/** Parts that a statement can carry. */
function* partsOf(changes: readonly ReadyChange[]): Generator<readonly ReadyChange[]> {
  let part: ReadyChange[] = [];
  let chars = 0;
  for (const change of changes) {
    if (part.length > 0 && chars + charsOf(change) > statementChars) {
      yield part;
      part = [];
      chars = 0;
    }
    part.push(change);
    chars += charsOf(change);
  }
  yield part;
}

const arrayOf = (elements: readonly string[]): string => `[${elements.join(',')}]`;

async function applyChanges(
  stage: TableStage,
  sql: RowSql,
  changes: readonly ReadyChange[],
): Promise<TableEffect> {
  const { session, table } = stage;
  if (stage.hasHistory) await keepPast(stage, sql, changes);
  const rows = changes.filter(({ row }) => row);
  const [known, fresh] = [rows.filter(({ live }) => live), rows.filter(({ live }) => !live)];
  const gone = changes.filter(({ row, live }) => !row && live);
  const send = async (text: string, items: readonly ReadyChange[]) =>
    items.length === 0 ? [] : session.run(text, [arrayOf(items.map(({ json }) => json))]);

  const strange = [...(await send(sql.update, known)), ...(await send(sql.insert, fresh))];
  const left = strange.map(({ id, is_written, columns }): LeftRow => {
    const words =
      is_written === 't'
        ? `A trigger made something else of ${columns}.`
        : 'A trigger kept the row from being written.';
    return { entity: table.entity, id: id ?? '', why: 'rewritten', words };
  });
  const isFresh = new Set(fresh.map(({ id }) => id));
  const missing = strange.filter(({ id, is_written }) => is_written !== 't' && isFresh.has(id ?? ''));
  const deleted = await deleteRows(stage, sql, gone);
  return {
    left: [...left, ...deleted.left],
    added: fresh.length - missing.length + deleted.added,
  };
}

async function deleteRows(
  { session, table }: TableStage,
  sql: RowSql,
  gone: readonly ReadyChange[],
): Promise<TableEffect> {
  if (gone.length === 0) return { left: [], added: 0 };
  const rows = await session.run(sql.delete, [arrayOf(gone.map(({ id }) => JSON.stringify({ id })))]);
  const deleted = new Set(rows.map(({ id }) => id));
  const left = gone
    .filter(({ id }) => !deleted.has(id))
    .map(
      ({ id }): LeftRow => ({
        entity: table.entity,
        id,
        why: 'rewritten',
        words: 'A trigger kept the row from being deleted.',
      }),
    );
  return { left, added: -deleted.size };
}

/** Keeps the versions that are over, the one that a row shows among them where nothing else carries it. */
async function keepPast(
  { session }: TableStage,
  sql: RowSql,
  changes: readonly ReadyChange[],
): Promise<void> {
  const endings = changes.flatMap(({ live, past, row, goneAt }) => {
    const next: Next | undefined = row
      ? { at: row.validFrom, ended: 'changed' }
      : goneAt === undefined
        ? undefined
        : { at: goneAt, ended: 'left_out' };
    return (live && endingOf(live, past, next)) ?? [];
  });
  const past = changes.flatMap((change) => change.pastJson);
  if (past.length > 0) await session.run(sql.insertPast, [arrayOf(past)]);
  if (endings.length > 0) await session.run(sql.archive, [arrayOf(endings.map(endingJson))]);
}

const endingJson = ({ id, validUntil, ended }: Ending): string =>
  JSON.stringify({ id, valid_until: isoOf(validUntil), ended });
