import type { TableLayout } from '../../warehouse/port/layout.ts';
import type { LeftRow, RowVersion, WriteReply } from '../../warehouse/port/port.ts';
import type { Session } from '../connection.ts';
import { isRowRefusal } from '../errors.ts';
import type { Names } from '../names.ts';
import { findDiffering } from './differing.ts';
import { isStorableId, rowJson, rowLine } from './encode.ts';
import { isolate } from './isolate.ts';
import { rowSqlOf } from './row-sql.ts';
import { inRun, type RunEffect, type Stage } from './run.ts';
import type { TableStage } from './table-stage.ts';
import { type TableEffect, writeTable } from './table-write.ts';

/** So many rows go in one statement, or as many as are not too long for one. */
const chunkRows = 5_000;
const chunkChars = 8_000_000;

/** Fills a table as one run, chunk by chunk, so that any number of rows takes the same memory. */
export function fillTable(
  stage: Stage,
  run: string,
  after: number,
  table: TableLayout,
  rows: Iterable<RowVersion>,
): Promise<WriteReply> {
  // The rows can be read only once, so no constraint may wait for the commit.
  return inRun(stage, run, after, (session) => fillAll(stage, session, table, rows), true);
}

async function fillAll(
  { hasHistory, names }: Stage,
  session: Session,
  table: TableLayout,
  rows: Iterable<RowVersion>,
): Promise<RunEffect> {
  const stage: TableStage = { session, names, table, hasHistory };
  const write = (await isPlain(session, names, table)) ? copyChunk : writeChunk;
  const left: LeftRow[] = [];
  let added = 0;
  for (const chunk of chunksOf(table, rows)) {
    const effect = await write(stage, chunk);
    left.push(...effect.left);
    added += effect.added;
  }
  return { left, added: { [table.entity]: added } };
}

/** A row with its line for COPY. */
interface Line {
  readonly row: RowVersion;
  readonly text: string;
}

function* chunksOf(table: TableLayout, rows: Iterable<RowVersion>): Generator<readonly Line[]> {
  let chunk: Line[] = [];
  let chars = 0;
  for (const row of rows) {
    const text = rowLine(table, row);
    if (chunk.length >= chunkRows || (chunk.length > 0 && chars + text.length > chunkChars)) {
      yield chunk;
      chunk = [];
      chars = 0;
    }
    chunk.push({ row, text });
    chars += text.length;
  }
  if (chunk.length > 0) yield chunk;
}

/** Whether rows can be copied straight into the table: it is empty, and no trigger of others may make something else of them. */
async function isPlain(session: Session, names: Names, table: TableLayout): Promise<boolean> {
  const shown = names.shown(table.entity);
  const [row] = await session.run(
    `SELECT NOT EXISTS (SELECT FROM ${shown}) AND NOT EXISTS (
       SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE t.tgrelid = $1::regclass AND NOT t.tgisinternal AND n.nspname <> $2) AS is_plain`,
    [shown, names.syncSchema],
  );
  return row?.['is_plain'] === 't';
}

async function copyChunk(stage: TableStage, chunk: readonly Line[]): Promise<TableEffect> {
  const { session, names, table } = stage;
  const { copy } = rowSqlOf(names, table);
  const refused: Line[] = [];
  const isCopied = await isolate(session, [chunk], {
    async apply() {
      await session.copyIn(copy, chunk.map(({ text }) => text).join(''));
      return true;
    },
    isRefusal: (error) => isRowRefusal(error, names.syncSchema),
    refuse: (lines) => refused.push(...lines),
    leave: () => undefined,
  });
  return isCopied.length > 0 ? { left: [], added: chunk.length } : writeChunk(stage, refused);
}

/** Writes what is missing or differs: what is equal is not even locked. */
async function writeChunk(stage: TableStage, chunk: readonly Line[]): Promise<TableEffect> {
  const { table } = stage;
  const storable = chunk.filter(({ row }) => isStorableId(table, row.id));
  const differing = await findDiffering(
    stage,
    storable.map(({ row }) => ({ id: row.id, json: rowJson(table, row) })),
  );
  const changes = chunk
    .filter(({ row }) => differing.has(row.id) || !isStorableId(table, row.id))
    .map(({ row }) => ({ id: row.id, row, past: [] }));
  return writeTable(stage, changes, 'NO KEY UPDATE');
}
