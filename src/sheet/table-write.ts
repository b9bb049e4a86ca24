import type { SyncError } from '../core/errors.ts';
import type { Mirror } from '../core/mirror.ts';
import { type Consequences, lateLandingMs, type OpenWrite } from '../core/open-write.ts';
import type { Log } from '../core/ports.ts';
import { isClaimToken, type RecordId, recordKeyText } from '../core/record.ts';
import { confirm } from './confirm.ts';
import { noteDamage } from './damages.ts';
import type { SheetLink } from './link.ts';
import { describeCell } from './port/cell.ts';
import type { Mark } from './port/instance.ts';
import type { KeepReceipt } from './port/port.ts';
import type { RowStep, WriteResult } from './port/table.ts';
import { noteWrite } from './rebase.ts';
import { addVoidClaims } from './void-claims.ts';

/** A step to the table, perhaps with what becomes true once it is done. */
export interface WrittenStep extends Partial<Consequences> {
  readonly write: RowStep;
}

/**
 * Plans a write to the table from its last read and makes it durable, so that what it does is found out whatever comes between. To be called
 * in a transaction.
 */
export function beginWrite(
  { clock, mirror, table }: SheetLink,
  run: string,
  steps: readonly WrittenStep[],
): OpenWrite {
  const now = clock.now();
  const receipts = mirror.readOpenWrites().map(({ receipt }) => receipt);
  const receipt = table.prepare(
    steps.map(({ write }) => write),
    run,
    receipts,
  );
  const open: OpenWrite = {
    id: run,
    at: now,
    settlesAt: now + lateLandingMs,
    receipt,
    confirms: steps.map(({ write: _, ...step }, number) => [number, { offers: {}, notice: '', ...step }]),
    tokens: steps.flatMap(({ write }) => newTokenIn(mirror, write) ?? []),
    damage: [],
  };
  mirror.saveOpenWrite(open);
  noteWrite(mirror, run);
  return open;
}

/** The token that claims a row; that of a create which is under way is known already. */
function newTokenIn(mirror: Mirror, write: RowStep): RecordId | undefined {
  if (write.kind === 'delete' || write.entity === 'question' || !write.id) return undefined;
  const key = { entity: write.entity, id: describeCell(write.id) };
  return isClaimToken(key.id) && !mirror.findOutboxItem(key) ? key.id : undefined;
}

/** What became of a write that was sent. */
export interface WriteEnd {
  /** Numbers of the steps that are done. */
  readonly done: ReadonlySet<number>;
  /** How many steps have to be planned again: they met other rows, or values that a user typed at that moment. */
  readonly undoneSteps: number;
  /** Why the table did not take the others. */
  readonly refusal?: SyncError;
}

/** Sends a write that has begun, and makes true what it comes to. Where this fails, the write stays open and is recovered. */
export async function sendWrite(
  link: SheetLink,
  open: OpenWrite,
  tally: UndoTally,
  mark?: Mark,
): Promise<WriteEnd> {
  const { clock, mirror, table } = link;
  const course = follow(link, open);
  const result = await table.write(open.receipt, course.keep, mark).catch((error: unknown) => {
    // It may have left the daemon only now.
    mirror.saveOpenWrite({ ...course.latest(), settlesAt: clock.now() + lateLandingMs });
    throw error;
  });
  const { done, refusal } = result;
  settle(link, course.latest(), result, tally);
  const isEdited = [...done.values()].filter(({ edited }) => edited.length > 0);
  const notDone = open.confirms.filter(([number]) => !done.has(number) && !refusal?.steps.has(number));
  return {
    done: new Set(done.keys()),
    undoneSteps: notDone.length + isEdited.length,
    ...(refusal ? { refusal: refusal.error } : {}),
  };
}

/**
 * Finds out what writes without a reply did, and undoes what they did to other rows than their own. Names those of which something has become
 * known, as they are now: what was read before may be older than they are.
 */
export async function recoverWrites(link: SheetLink, tally: UndoTally): Promise<readonly string[]> {
  const { clock, log, mirror, table } = link;
  const news: string[] = [];
  for (const open of mirror.readOpenWrites()) {
    const course = follow(link, open);
    const mayLand = clock.now() < open.settlesAt;
    const result = await table.recover(open.receipt, course.keep, mayLand);
    if (result === undefined) {
      if (!mayLand) mirror.transaction(() => endWrite(link, open, new Set()));
      continue;
    }
    const left = settle(link, course.latest(), result, tally);
    if (!hasNews(open, left, result)) continue;
    log.info('sheet.recovered', { run: open.id, rows: open.confirms.length - left.confirms.length });
    news.push(`${open.id} ${left.confirms.length} ${left.damage.length}`);
  }
  return news;
}

const hasNews = (before: OpenWrite, left: OpenWrite, { escalated, isOver, undone }: WriteResult): boolean =>
  isOver ||
  undone.length + escalated.length > 0 ||
  before.confirms.length !== left.confirms.length ||
  before.damage.length !== left.damage.length;

/** Counts how misdirected steps end. */
export interface UndoTally {
  undoneWrites: number;
  escalatedWrites: number;
}

/** Follows a write while its adapter works on it. */
function follow(
  { clock, mirror }: SheetLink,
  open: OpenWrite,
): { keep: KeepReceipt; latest: () => OpenWrite } {
  let latest = open;
  return {
    keep(receipt, damage) {
      // Nothing more is sent: the time in which the write may land does not begin anew.
      if (receipt === latest.receipt) return;
      latest = { ...latest, receipt, damage, settlesAt: clock.now() + lateLandingMs };
      mirror.saveOpenWrite(latest);
    },
    latest: () => latest,
  };
}

/** Makes true what a write came to. Returns what is left of it. */
function settle(link: SheetLink, open: OpenWrite, result: WriteResult, tally: UndoTally): OpenWrite {
  const { clock, log, mirror } = link;
  const { done, escalated, isOver, pending, refusal, rest = open.receipt, undone } = result;
  const at = clock.now();
  const landed = open.confirms.filter(([number]) => done.has(number));
  const tokensDone = new Set(landed.map(([, { key }]) => key?.id));
  const left: OpenWrite = {
    ...open,
    receipt: rest,
    confirms: open.confirms.filter(([number]) => !done.has(number)),
    tokens: open.tokens.filter((token) => !tokensDone.has(token)),
    damage: pending,
  };
  mirror.transaction(() => {
    for (const [number, step] of landed) confirm(link, at, step, done.get(number) ?? { edited: [] });
    noteDamage(mirror, open.id, undone, { at, state: 'undone' });
    noteDamage(mirror, open.id, escalated, { at, state: 'escalated' });
    if (isOver) endWrite(link, left, refusal?.steps ?? new Set());
    else mirror.saveOpenWrite(left);
  });
  tally.undoneWrites += undone.length;
  tally.escalatedWrites += escalated.length;
  const written = landed.map(([, step]) => step);
  if (written.length > 0) logRows(log, open.id, written);
  if (escalated.length > 0) log.warn('sheet.escalated', { run: open.id, rows: escalated.length });
  return left;
}

/** More rows of one write are a fill or a tidying up: their lines would bury all others, and the history has each of them. */
const linesMax = 50;

/** Tells in the log of each row that was written and of how many there were, with the names of fields and never their values. */
function logRows(log: Log, run: string, written: readonly Consequences[]): void {
  log.info('sheet.written', { run, rows: written.length });
  const entries = written.flatMap(({ journal }) => journal ?? []);
  if (entries.length > linesMax) return;
  for (const { after, before, key, kind } of entries)
    log.info('row.written', {
      run,
      record: recordKeyText(key),
      kind,
      fields: Object.keys({ ...before, ...after }),
    });
}

/** Forgets a write of which nothing more will become known. Steps that were `refused` have put their tokens nowhere. */
function endWrite({ clock, mirror }: SheetLink, left: OpenWrite, refused: ReadonlySet<number>): void {
  const nowhere = new Set(
    left.confirms.flatMap(([number, { key }]) => (refused.has(number) ? [key?.id] : [])),
  );
  mirror.dropOpenWrite(left.id);
  addVoidClaims(
    mirror,
    left.tokens.filter((token) => !nowhere.has(token)),
    clock.now(),
  );
}
