import { isSyncError } from '../core/errors.ts';
import type { Due } from '../core/feed.ts';
import { type Entity, type RecordKey, recordKeyText } from '../core/record.ts';
import type { TakenEdit } from '../core/taken-edit.ts';
import { noteDeleted } from './brakes.ts';
import { type Editing, editingOf, noteTold } from './edits/landing.ts';
import { noteForgotten, oldEditsDue } from './edits/old-edits.ts';
import { warehouseFacts } from './facts.ts';
import type { WarehouseLink } from './link.ts';
import type { TableLayout, WarehouseLayout } from './port/layout.ts';
import type { LeftRow, PastVersion, RowVersion, TableBatch, WriteBatch, WriteReply } from './port/port.ts';
import { emptyValues, pastOf, rowIdOf, rowOf } from './rows.ts';

/** So many records go into one transaction, so that no user waits long for its locks. */
const batchMax = 1_000;

const versionsMax = 5_000;

/** So many rows are copied at once into a table that is filled for the first time. */
const fillMax = 20_000;

/** A row that is locked or refused is tried again after this time, twice as long each time it was tried. */
const retryMs = { first: 1_000, max: 60_000 } as const;

/** A database that goes back by more than this has all of its rows compared. */
const runsKeptMs = 7 * 24 * 60 * 60 * 1_000;

/** What a user's trigger made of a row, it will make of it again. */
const rewrittenMs = 60 * 60 * 1_000;

/** What one write carried. */
export interface Carried {
  readonly records: number;
  /** Whether a row was left because of an edit that is not known. */
  readonly hasEdited: boolean;
  /** The creates of which the database knows from now on that they were taken. */
  readonly toPush: readonly RecordKey[];
}

/** Writes some of what is due in one transaction, with what came of edits, and the reference data. `undefined` where there is nothing to write. */
export async function writeDue(
  link: WarehouseLink,
  { tables }: WarehouseLayout,
  entities: readonly Entity[],
  { questions, references }: Pick<WriteBatch, 'questions' | 'references'> = {},
): Promise<Carried | undefined> {
  const { clock, database, mirror } = link;
  const editing = editingOf(mirror, entities, batchMax);
  const wanted = mirror.feed
    .takeDue(clock.now(), batchMax, entities)
    .filter(({ key }) => editing.mayShow(key));
  const due = partOf(mirror, wanted);
  if (due.length === 0 && !references && !questions && editing.untold.length === 0) return undefined;
  const batches = tables.map((table) => tableBatch(link, table, due, editing));
  const gone = batches.flatMap((batch) => batch.gone.map(({ id }) => ({ entity: batch.table.entity, id })));
  const oldEdits = oldEditsDue(link);
  const edits = editing.decidedFor(due.map(({ key }) => key));
  const batch = { tables: batches, references, questions, edits, oldEdits };
  const carried = await carry(
    link,
    due,
    gone,
    (run, after) => database.write(run, { after, ...batch }),
    editing,
  );
  return carried;
}

/** So many of them as have not too many versions: after weeks without the database a record may have hundreds. */
function partOf({ feed }: WarehouseLink['mirror'], due: readonly Due[]): readonly Due[] {
  let versions = 0;
  const end = due.findIndex(({ key }, place) => {
    versions += feed.readVersions(key).length;
    return place > 0 && versions > versionsMax;
  });
  return end < 0 ? due : due.slice(0, end);
}

/** Fills a table with records of which nothing but the fields of now is to be written. `undefined` where these are too few for that. */
export async function fillDue(link: WarehouseLink, table: TableLayout): Promise<Carried | undefined> {
  const { database, mirror } = link;
  // What was edited is written row by row.
  if (mirror.edits.countOpen() > 0) return undefined;
  const due = mirror.feed.takeFresh(table.entity, fillMax);
  if (due.length <= batchMax) return undefined;
  return carry(link, due, [], (run, after) => database.fill(run, after, table, freshRows(link, table, due)));
}

function* freshRows(link: WarehouseLink, table: TableLayout, due: readonly Due[]): Generator<RowVersion> {
  for (const { key } of due) {
    const version = link.mirror.findVersion(key);
    if (version) yield rowOf(version, table, link.times);
  }
}

function tableBatch(
  link: WarehouseLink,
  table: TableLayout,
  due: readonly Due[],
  editing: Editing,
): TableBatch {
  const { clock, hasHistory, mirror, times } = link;
  const now = clock.now();
  const rows: RowVersion[] = [];
  const past: PastVersion[] = [];
  const gone: TableBatch['gone'][number][] = [];
  for (const { key } of due) {
    if (key.entity !== table.entity) continue;
    const ended = mirror.feed.readVersions(key);
    if (hasHistory) past.push(...ended.map((version) => pastOf(version, table, times)));
    const version = mirror.findVersion(key);
    // Its row was deleted, and nobody has decided what that comes to.
    if (version && editing.isDeleted(key)) continue;
    if (!version) {
      gone.push({ id: rowIdOf(key), at: ended.at(-1)?.validUntil ?? now });
      continue;
    }
    const row = rowOf(version, table, times);
    // The row may show a record of another account, which had the id before: nothing of it is kept.
    const isOther = ended.some((each) => each.ended === 'left_out');
    const whole = isOther ? { ...emptyValues(table), ...row.values } : row.values;
    rows.push({ ...row, values: editing.withoutOpen(key, whole, table) });
  }
  return { table, rows, past, gone };
}

/** A row of a table. */
type RowName = Pick<LeftRow, 'entity' | 'id'>;

/**
 * Notes durably what a write carries, writes, and notes what came of it: after a kill in between the database knows. Of the rows, `gone` are
 * those to delete. Returns how many records it carried.
 */
async function carry(
  link: WarehouseLink,
  due: readonly Due[],
  gone: readonly RowName[],
  write: (run: string, after: number) => Promise<WriteReply>,
  editing?: Editing,
): Promise<Carried> {
  const { clock, mirror, newWord } = link;
  const { feed } = mirror;
  const run = newWord();
  mirror.expectRoom();
  mirror.transaction(() => feed.beginRun({ run, keys: due.map(({ key }) => key), at: clock.now() }));
  const reply = await write(run, feed.lastRun()).catch((error) => {
    if (!isSyncError(error, 'WAREHOUSE_UNKNOWN_OUTCOME')) mirror.transaction(() => feed.dropRun());
    throw error;
  });
  let told: readonly TakenEdit[] = [];
  mirror.transaction(() => {
    noteWritten(link, due, reply);
    noteAllDeleted(link, gone, reply);
    if (editing) told = noteTold(mirror, editing, reply.left, clock.now());
    noteForgotten(link, reply);
  });
  return {
    records: due.length + told.length,
    hasEdited: reply.left.some(({ why }) => why === 'edited'),
    toPush: told.filter(({ kind, state }) => kind === 'insert' && state === 'taken').map(({ key }) => key),
  };
}

function noteWritten(
  { clock, log, mirror }: WarehouseLink,
  due: readonly Due[],
  { added, left, run }: WriteReply,
): void {
  const { feed } = mirror;
  const found = findLeft(due, left);
  feed.endRun(
    run,
    found.filter(({ row }) => row.why !== 'rewritten').map(({ item }) => item.key),
  );
  feed.forgetRuns(clock.now() - runsKeptMs);
  for (const { item, row } of found) {
    if (row.why === 'untried') continue;
    // What changed while it was written is due at once.
    if (row.why === 'rewritten' && feed.isDue(item.key)) continue;
    feed.putOff([item.key], clock.now() + waitMs(row, item), row.why === 'edited' ? '' : row.words);
    if (row.why !== 'edited')
      log.warn('warehouse.row-left', { record: recordKeyText(item.key), why: row.why });
  }
  for (const [entity, count] of Object.entries(added) as [Entity, number][]) {
    const rows = warehouseFacts.rows(entity);
    mirror.saveFact(rows, (mirror.readFact(rows) ?? 0) + count);
  }
}

function findLeft(due: readonly Due[], left: readonly LeftRow[]) {
  if (left.length === 0) return [];
  const byRow = new Map(
    due.map((item) => [rowText({ entity: item.key.entity, id: rowIdOf(item.key) }), item]),
  );
  return left.flatMap((row) => {
    const item = byRow.get(rowText(row));
    return item ? [{ row, item }] : [];
  });
}

function noteAllDeleted(
  { clock, mirror }: WarehouseLink,
  gone: readonly RowName[],
  { left }: WriteReply,
): void {
  const kept = new Set(left.map(rowText));
  const deleted = gone.filter((row) => !kept.has(rowText(row)));
  for (const [entity, rows] of Map.groupBy(deleted, (row) => row.entity))
    noteDeleted(mirror, entity, rows.length, clock.now());
}

const rowText = ({ entity, id }: RowName) => `${entity} ${id}`;

const waitMs = ({ why }: LeftRow, { attempts }: Due): number =>
  why === 'rewritten' ? rewrittenMs : Math.min(retryMs.max, retryMs.first * 2 ** Math.min(attempts, 10));
