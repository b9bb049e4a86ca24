import { isSyncError, type SyncError } from '../core/errors.ts';
import type { Mirror } from '../core/mirror.ts';
import { nextNotice } from '../core/notice.ts';
import { type Consequences, lateLandingMs, type OpenWrite, type Receipt } from '../core/open-write.ts';
import type { Log } from '../core/ports.ts';
import { isClaimToken, type RecordId, recordKeyText } from '../core/record.ts';
import type { JournalEntry } from '../core/state.ts';
import { wake } from '../sync/pushing/pusher.ts';
import { forgetStep, replaceStep } from '../sync/pushing/unanswered.ts';
import { takeAccount } from '../sync/reading/account.ts';
import { landShown } from './cells/shown.ts';
import { saveColumnMap } from './column-map.ts';
import { addVoidClaims, noteDamage } from './damages.ts';
import type { SheetLink } from './link.ts';
import { moveLeave } from './only/leave.ts';
import { forgetRules, saveRule } from './only-rules.ts';
import type { Plan, TableStep } from './plans/plan.ts';
import { describeCell } from './port/cell.ts';
import type { Mark } from './port/instance.ts';
import type { KeepReceipt } from './port/port.ts';
import type { RowStep, StepEnd, WriteResult } from './port/table.ts';
import { beginRebase, noteWrite, saveRebase } from './rebase.ts';

/**
 * Applies a plan: what it says about the outbox, agreements and the journal becomes durable in one transaction, together with what is
 * about to be written; then the table is written in one atomic batch, and only what the reply confirms becomes agreed. What is written carries
 * the mark. `receipt` is that of its write, where this was prepared before.
 */
export async function applyPlan(
  link: SheetLink,
  plan: Plan,
  tally: UndoTally,
  { mark, receipt }: { readonly mark?: Mark | undefined; readonly receipt?: Receipt | undefined } = {},
): Promise<WriteEnd> {
  const open = commitPlan(link, plan, receipt);
  const saved = plan.outbox.save.map(({ key }) => key);
  // What has begun is durable, and the sheet is read back behind the write: a turn of others changes neither.
  if (isLong(plan.table)) await link.clock.sleep(0);
  // Together: a queue that does not answer must not come between the read of the table and the write.
  const written = open ? sendWrite(link, open, tally, mark) : nothingDone;
  const [end] = await Promise.all([written, wake(link, saved)]);
  return end;
}

/** Whether steps are so many, some ten milliseconds' worth, that others get their turn between what is done with all of them. */
export const isLong = ({ length }: readonly unknown[]): boolean => length > 250;

export const nothingDone: WriteEnd = { done: new Set(), undoneSteps: 0 };

/** Returns the write to the table that begins with the plan; `undefined` where it has none. */
function commitPlan(link: SheetLink, plan: Plan, receipt?: Receipt): OpenWrite | undefined {
  const { mirror } = link;
  return mirror.transaction(() => {
    for (const key of plan.outbox.drop) forgetStep(mirror, key, plan.at);
    for (const item of plan.outbox.save) replaceStep(mirror, item, plan.at);
    for (const key of plan.agreements.drop) mirror.dropAgreement(key);
    for (const agreement of plan.agreements.save) mirror.saveAgreement(agreement);
    for (const answer of plan.answers) mirror.saveDecision(answer);
    for (const scope of plan.settledDecisions) mirror.dropDecision(scope);
    for (const suspect of plan.suspects.save) mirror.saveSuspect(suspect);
    for (const id of plan.suspects.drop) mirror.dropSuspect(id);
    for (const entity of plan.rebased) saveRebase(mirror, entity, '');
    for (const entity of plan.remapped) saveColumnMap(mirror, link.policy, entity);
    for (const entity of plan.ruled) saveRule(mirror, link.policy, entity);
    if (plan.journal.length > 0) mirror.appendJournal(plan.journal);
    const open = plan.table.length > 0 ? beginWrite(link, plan, plan.table, receipt) : undefined;
    // Last, because it forgets all of the above.
    if (plan.takesAccount) {
      beginRebase(mirror, otherAccountReason, { now: link.clock.now(), newWord: link.newWord() });
      takeAccount(link);
      forgetRules(mirror);
    }
    return open;
  });
}

const otherAccountReason = 'The key opens another account of the CRM.';

/** Plans a write to the table from its last read. */
export function prepareWrite(
  { mirror, table }: SheetLink,
  { run }: Pick<Plan, 'run'>,
  steps: readonly TableStep[],
): Receipt {
  const open = mirror.readOpenWrites().map(({ receipt }) => receipt);
  return table.prepare(
    steps.map(({ write }) => write),
    run,
    open,
  );
}

/**
 * Makes a write to the table durable, so that what it does is found out whatever comes between. It was decided `at` that time, epoch ms. To be
 * called in a transaction.
 */
export function beginWrite(
  link: SheetLink,
  { at, run }: Pick<Plan, 'at' | 'run'>,
  steps: readonly TableStep[],
  receipt = prepareWrite(link, { run }, steps),
): OpenWrite {
  const { clock, mirror } = link;
  const open: OpenWrite = {
    id: run,
    at,
    settlesAt: clock.now() + lateLandingMs,
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
    // It may have left the daemon only now. What was limited was refused: nothing of it may still land.
    const landingMs = isSyncError(error, 'SHEET_LIMITED') ? 0 : lateLandingMs;
    mirror.saveOpenWrite({ ...course.latest(), settlesAt: clock.now() + landingMs });
    throw error;
  });
  const { done, refusal } = result;
  await settle(link, course.latest(), result, tally);
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
  for (const each of mirror.readOpenWrites()) {
    const open = settleInTime(link, each);
    const course = follow(link, open);
    const mayLand = clock.now() < open.settlesAt;
    const result = await table.recover(open.receipt, course.keep, mayLand);
    if (result === undefined) {
      if (!mayLand) mirror.transaction(() => endWrite(link, open, new Set()));
      continue;
    }
    const left = await settle(link, course.latest(), result, tally);
    if (!hasNews(open, left, result)) continue;
    log.info('sheet.recovered', { run: open.id, rows: open.confirms.length - left.confirms.length });
    news.push(`${open.id} ${left.confirms.length} ${left.damage.length}`);
  }
  return news;
}

/** The write, which may land no longer than one that is sent just now, also where the clock was set back since. */
function settleInTime({ clock, mirror }: SheetLink, open: OpenWrite): OpenWrite {
  const settlesMax = clock.now() + lateLandingMs;
  if (open.settlesAt <= settlesMax) return open;
  const settled = { ...open, settlesAt: settlesMax };
  mirror.saveOpenWrite(settled);
  return settled;
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
function follow({ clock, mirror }: SheetLink, open: OpenWrite) {
  let latest = open;
  const keep: KeepReceipt = (receipt, damage) => {
    // Nothing more is sent: the time in which the write may land does not begin anew.
    if (receipt === latest.receipt) return;
    latest = { ...latest, receipt, damage, settlesAt: clock.now() + lateLandingMs };
    mirror.saveOpenWrite(latest);
  };
  return { keep, latest: () => latest };
}

/**
 * What follows from so many steps becomes durable in one go, which takes some ten milliseconds; others get their turn before the next. Each part
 * keeps the whole receipt once more, so that there are few of them.
 */
const settledMin = 500;
const partsMax = 4;

/** Makes true what a write came to. Returns what is left of it. */
async function settle(
  link: SheetLink,
  open: OpenWrite,
  result: WriteResult,
  tally: UndoTally,
): Promise<OpenWrite> {
  const { clock, log, mirror } = link;
  const { done, escalated, isOver, pending, refusal, rest = open.receipt, undone } = result;
  const landed = open.confirms.filter(([number]) => done.has(number));
  const parts = Math.max(1, Math.min(partsMax, Math.ceil(landed.length / settledMin)));
  const height = Math.ceil(landed.length / parts);
  let left = open;
  for (let part = 1; part <= parts; part += 1) {
    const own = landed.slice((part - 1) * height, part * height);
    const isLast = part === parts;
    left = { ...without(left, own), ...(isLast && { receipt: rest, damage: pending }) };
    mirror.transaction(() => {
      settleSteps(link, open.at, own, done);
      if (isLast) {
        const at = clock.now();
        noteDamage(mirror, open.id, undone, { at, state: 'undone' });
        noteDamage(mirror, open.id, escalated, { at, state: 'escalated' });
      }
      if (isLast && isOver) endWrite(link, left, refusal?.steps ?? new Set());
      else mirror.saveOpenWrite(left);
    });
    if (!isLast) await clock.sleep(0);
  }
  tally.undoneWrites += undone.length;
  tally.escalatedWrites += escalated.length;
  const written = landed.map(([, step]) => step);
  if (written.length > 0) logRows(log, open.id, written);
  if (escalated.length > 0) log.warn('sheet.escalated', { run: open.id, rows: escalated.length });
  return left;
}

type NumberedSteps = OpenWrite['confirms'];

/** The write without the steps that have landed. */
function without(open: OpenWrite, landed: NumberedSteps): OpenWrite {
  const numbers = new Set(landed.map(([number]) => number));
  const tokensDone = new Set(landed.map(([, { key }]) => key?.id));
  return {
    ...open,
    confirms: open.confirms.filter(([number]) => !numbers.has(number)),
    tokens: open.tokens.filter((token) => !tokensDone.has(token)),
  };
}

/** Makes true what follows from steps that have landed, and were decided at that time, epoch ms. To be called in a transaction. */
function settleSteps(
  { clock, mirror }: SheetLink,
  decidedAt: number,
  landed: NumberedSteps,
  done: WriteResult['done'],
): void {
  const at = clock.now();
  const endOf = (number: number): StepEnd => done.get(number) ?? { edited: [] };
  const journal = landed.flatMap(([number, step]) =>
    step.journal ? [withOwnCells(step.journal, endOf(number))] : [],
  );
  if (journal.length > 0) mirror.appendJournal(journal);
  for (const [number, step] of landed) confirm(mirror, { decidedAt, at }, step, endOf(number));
}

/** More rows of one write are a fill or a tidying up: their lines would bury all others, and the history has each of them. */
const linesMax = 50;

/** Logs each row that was written and how many there were, with the names of fields and never their values. */
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
  const unconfirmed = left.tokens.filter((token) => !nowhere.has(token));
  mirror.dropOpenWrite(left.id);
  addVoidClaims(mirror, unconfirmed, clock.now());
}

/**
 * Makes true what follows from a step that is done. The agreement is read again, because a push may have moved other fields of it while the
 * table was being written. If none has, the agreement bears the time of the decision, as the Sync cell does: by a later one, perhaps of the next
 * minute, the row would be written once more. To be called in a transaction.
 */
function confirm(
  mirror: Mirror,
  { at, decidedAt }: { readonly at: number; readonly decidedAt: number },
  step: Consequences,
  end: StepEnd,
): void {
  const { closes, forgets, key, leaves, notice, noticed } = step;
  if (closes !== undefined) mirror.dropSuspect(closes);
  if (!key) return;
  if (forgets) {
    mirror.dropAgreement(key);
    forgetStep(mirror, key, at);
    return;
  }
  const offers = unedited(step, end);
  const agreement = mirror.findAgreement(key);
  if (agreement && leaves)
    mirror.saveAgreement({ ...agreement, leave: moveLeave(agreement.leave, 'landed', at) });
  if (!agreement || Object.keys(offers).length === 0) return;
  const fields = { ...agreement.fields, ...offers };
  const told = nextNotice(agreement, { fields: Object.keys(offers), noticed, notice, at });
  const shown = agreement.shown ? { shown: landShown(agreement.shown, offers) } : {};
  // The clock may have been set back meanwhile.
  const changedAt = agreement.changedAt > decidedAt ? at : Math.min(decidedAt, at);
  mirror.saveAgreement({ ...agreement, ...shown, fields, offered: {}, changedAt, ...told });
}

/** Fields that a user edited at that moment are not agreed: their cells have the user's values. */
const unedited = ({ offers }: Consequences, { edited }: StepEnd): Consequences['offers'] =>
  edited.length === 0
    ? offers
    : Object.fromEntries(Object.entries(offers).filter(([name]) => !edited.includes(name)));

/** The line of a row that is gone names also what was in it under users' own columns. */
function withOwnCells(journal: JournalEntry, { own = {} }: StepEnd): JournalEntry {
  if (journal.kind !== 'delete') return journal;
  const cells = Object.entries(own).map(([header, cell]) => [header, describeCell(cell)]);
  return { ...journal, lost: { ...Object.fromEntries(cells), ...journal.lost } };
}
