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
import { beginTable, type TableStage } from './table-stage.ts';
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
  { hasHistory, isEditable, names }: Stage,
  session: Session,
  table: TableLayout,
  rows: Iterable<RowVersion>,
): Promise<RunEffect> {
  const stage: TableStage = { session, names, table, hasHistory, isEditable, known: [] };
  await beginTable(stage);
  const isPlain = await isWithoutTriggers(session, names, table);
  const source = rows[Symbol.iterator]();
  const left: LeftRow[] = [];
  let added = 0;
  for (;;) {
    const chunk: Line[] = [];
    const lines = nextLines(table, source, chunk);
    const effect = isPlain ? await copyLines(stage, lines, chunk) : await writeChunk(stage, [...lines]);
    if (chunk.length === 0) return { left, added: { [table.entity]: added } };
    left.push(...effect.left);
    added += effect.added;
  }
}

/** A row with its line for COPY. */
interface Line {
  readonly row: RowVersion;
  readonly text: string;
}

/** The next lines, as many as go in one statement. What was read is in the chunk too. */
function* nextLines(table: TableLayout, source: Iterator<RowVersion>, chunk: Line[]): Generator<Line> {
  for (let chars = 0; chunk.length < chunkRows && chars < chunkChars; ) {
    const { done, value: row } = source.next();
    if (done) return;
    const line = { row, text: rowLine(table, row) };
    chars += line.text.length;
    chunk.push(line);
    yield line;
  }
}

/** Whether rows can be copied straight into the table: no trigger of others may make something else of them. */
async function isWithoutTriggers(session: Session, names: Names, table: TableLayout): Promise<boolean> {
  const [row] = await session.run(
    `SELECT NOT EXISTS (
       SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE t.tgrelid = $1::regclass AND NOT t.tgisinternal AND n.nspname <> $2) AS is_plain`,
    [names.shown(table.entity), names.syncSchema],
  );
  return row?.['is_plain'] === 't';
}

/**
 * Copies the lines while they are made, so that both ends work at once. Where one of them is refused, as a row is that is there already, those
 * that were read are written as others are; the rest is left to the next chunk.
 */
async function copyLines(
  stage: TableStage,
  lines: Iterable<Line>,
  chunk: readonly Line[],
): Promise<TableEffect> {
  const { session, names, table } = stage;
  const { copy } = rowSqlOf(names, table);
  const isCopied = await isolate(session, [chunk], {
    async apply() {
      await session.copyIn(copy, piecesOf(lines));
      return true;
    },
    isRefusal: (error) => isRowRefusal(error, names.syncSchema),
    refuse: () => undefined,
    leave: () => undefined,
  });
  return isCopied.length > 0 ? { left: [], added: chunk.length } : writeChunk(stage, chunk);
}

/** So much is sent at once. */
const pieceChars = 64_000;

function* piecesOf(lines: Iterable<Line>): Generator<string> {
  let piece = '';
  for (const { text } of lines) {
    piece += text;
    if (piece.length < pieceChars) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
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
