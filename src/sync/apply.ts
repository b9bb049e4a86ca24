import { describeDamage, withOwnCells } from '../core/decide/lost-cells.ts';
import {
  addHits,
  closeMended,
  judgeWrite,
  noteSentBack,
  type Outcome,
  unansweredWrite,
} from '../core/decide/open-writes.ts';
import type { Plan, TableStep } from '../core/decide/plan.ts';
import { isSyncError, type SyncError } from '../core/errors.ts';
import type { Mark } from '../core/instance.ts';
import { nextNotice } from '../core/notice.ts';
import {
  type Consequences,
  freeRow,
  hasOpenSteps,
  keepSteps,
  type Mending,
  type OpenWrite,
  stepsOf,
} from '../core/open-write.ts';
import type { RecordKey } from '../core/record.ts';
import { landShown } from '../core/shown.ts';
import { type KeptRow, numberSteps, type RowStep, type WriteReply } from '../core/table.ts';
import type { FieldName } from '../core/value.ts';
import { takeAccount } from './account.ts';
import { saveColumnMap } from './column-map.ts';
import type { Link } from './link.ts';
import { noteWrite, saveRebase } from './rebase.ts';
import { logRows } from './row-log.ts';
import { forgetStep, replaceStep } from './unanswered.ts';

/**
 * Applies a plan: what it says about the outbox, agreements and the journal becomes durable in one transaction, together with what is
 * about to be written; then the table is written in one atomic batch, and only what the reply confirms becomes agreed. What is written carries
 * the mark.
 */
export async function applyPlan(link: Link, plan: Plan, mark?: Mark): Promise<Landing> {
  const open = commitPlan(link, plan);
  const saved = plan.outbox.save.map(({ key }) => key);
  // At once: a queue that does not answer must not come between the read of the table and the write.
  const [landing] = await Promise.all([writeTable(link, plan, open, mark), wake(link, saved)]);
  return landing;
}

/** What became of the steps of a plan at the table. */
export interface Landing {
  readonly landed: readonly TableStep[];
  /** How many steps reached other rows than their own, or replaced what was typed meanwhile: they stay open until a later plan has mended them. */
  readonly astraySteps: number;
  /** Why the table did not take the others. */
  readonly refusal?: SyncError;
}

/** Writes the table and agrees on what it confirms. */
async function writeTable(link: Link, plan: Plan, open: OpenWrite, mark?: Mark): Promise<Landing> {
  if (plan.table.length === 0) return { landed: [], astraySteps: 0 };
  const { log, mirror } = link;
  const steps = plan.table.map(({ write }) => write);
  const reply = await link.table.write(steps, open.keeping, mark);
  const { refusal } = reply;
  const numbers = new Map([...numberSteps(steps)].map(([number, step]) => [step, number]));
  const numberOf = (step: RowStep) => numbers.get(step) ?? Number.NaN;
  const isRefused = ({ write }: TableStep) => refusal?.steps.has(write) ?? false;
  const refused = plan.table.filter(isRefused);
  const landed = plan.table.filter((step) => !isRefused(step));
  // Of what the table has refused nothing has landed.
  const refusedNumbers = new Set(refused.map(({ write }) => numberOf(write)));
  const sent = keepSteps(open, ({ slot }) => !refusedNumbers.has(slot));
  const outcome = judgeReply(link, sent, reply);
  const isMissed = (step: RowStep) =>
    reply.hits.has(numberOf(step)) || (step.kind !== 'append' && !outcome.done.has(numberOf(step)));
  const missed = landed.filter(({ write }) => isMissed(write));
  const done = landed.filter(({ write }) => !isMissed(write));
  logRows(log, plan.run, done);
  const untold = outcome.left.flatMap(({ deletes, outcome: state }) => (state === 'landed' ? deletes : []));
  const moved = missed.length - untold.length;
  if (moved > 0) log.warn('sheet.rows_moved', { run: plan.run, rows: moved });
  if (outcome.overtyped.size > 0) {
    log.info('sheet.typed_meanwhile', { run: plan.run, rows: outcome.overtyped.size });
  }
  mirror.transaction(() => {
    saveOutcome(link, sent, outcome, reply);
    for (const step of done) {
      const number = numberOf(step.write);
      confirm(link, plan.at, asReached(step, reply.rows.get(number), outcome.overtyped.get(number)));
    }
    closeMendings(
      link,
      done.map((step) => ({ ...step, typed: outcome.overtyped.get(numberOf(step.write)) ?? [] })),
      [...missed, ...refused],
    );
    forgetStrewn(link, sent, reply);
  });
  const astraySteps = missed.length + outcome.overtyped.size;
  return { landed, astraySteps, ...(refusal ? { refusal: refusal.error } : {}) };
}

/**
 * Asks the table what became of the writes whose reply was lost. Names those that have landed, each with how many of its steps nothing is
 * known of so far: what was read before may be older than they are.
 */
export async function recallWrites(link: Link): Promise<readonly string[]> {
  const { clock, log, mirror, table } = link;
  const landed: string[] = [];
  for (const open of mirror.readOpenWrites().filter(({ outcome }) => outcome === 'unknown')) {
    const { keeping, places } = open;
    const reply = await table.recall({ keeping, places, steps: stepsOf(open) });
    if (!reply) continue;
    const sent = [...open.sets, ...open.deletes];
    const outcome = judgeReply(link, open, reply);
    const unreached = outcome.left.find(({ id }) => id === open.id);
    landed.push(`${open.id} ${unreached ? stepsOf(unreached).size : 0}`);
    log.info('sheet.recalled', { run: open.id, rows: outcome.done.size });
    const isDone = ({ slot }: { readonly slot: number }) => outcome.done.has(slot);
    const [done, missed] = [sent.filter(isDone), sent.filter((step) => !isDone(step))];
    mirror.transaction(() => {
      saveOutcome(link, open, outcome, reply);
      for (const { confirms, slot } of done)
        if (confirms)
          confirm(link, clock.now(), asReached(confirms, reply.rows.get(slot), outcome.overtyped.get(slot)));
      closeMendings(
        link,
        done.flatMap(({ confirms, slot }) =>
          confirms ? [{ ...confirms, typed: outcome.overtyped.get(slot) ?? [] }] : [],
        ),
        missed.flatMap(confirmsOf),
      );
      forgetStrewn(link, open, reply);
    });
  }
  return landed;
}

const confirmsOf = ({ confirms }: { readonly confirms?: Consequences }) => confirms ?? [];

const judgeReply = (link: Link, open: OpenWrite, reply: WriteReply): Outcome =>
  addHits(judgeWrite(open, reply.rows, unansweredBeside(link, open)), open, reply);

const unansweredBeside = ({ mirror }: Link, open: OpenWrite): OpenWrite[] =>
  mirror.readOpenWrites().filter(({ id, outcome }) => outcome === 'unknown' && id !== open.id);

function saveOutcome({ clock, mirror }: Link, open: OpenWrite, { left }: Outcome, reply: WriteReply): void {
  mirror.dropOpenWrite(open.id);
  for (const write of left) {
    mirror.saveOpenWrite(write);
    const damage = describeDamage(write, reply, clock.now());
    if (damage.length > 0) mirror.appendJournal(damage);
  }
}

/** Of rows that were added with their ID and some of their cells alone, nothing is agreed: what they lack nobody emptied. */
function forgetStrewn({ mirror }: Link, { appends }: OpenWrite, { hits }: WriteReply): void {
  for (const { confirms, slot } of appends) {
    const agreement = confirms?.key && hits.get(slot)?.ownId ? mirror.findAgreement(confirms.key) : undefined;
    if (agreement) mirror.saveAgreement({ ...agreement, fields: {}, offered: {}, shown: {} });
  }
}

/** Damage is made good once every step that was to do so has reached its row. */
function closeMendings(
  { mirror }: Link,
  done: readonly (Consequences & { readonly typed: readonly FieldName[] })[],
  missed: readonly Consequences[],
): void {
  const isSame = (one: Mending, other: Mending | undefined) =>
    one.write === other?.write && one.slot === other.slot;
  const mended = done.flatMap(({ mends, typed }) =>
    mends && !missed.some((step) => isSame(mends, step.mends)) ? [{ ...mends, typed }] : [],
  );
  for (const write of closeMended(mirror.readOpenWrites(), mended)) mirror.saveOpenWrite(write);
}

/** Consequences as its row shows them: fields that somebody `typed` in the same moment are not agreed, because what they typed comes back. */
function asReached<Step extends Consequences>(
  step: Step,
  row: KeptRow | undefined,
  typed: readonly string[] = [],
): Step {
  const told = row ? withOwnCells(step, row) : step;
  if (typed.length === 0) return told;
  const offers = Object.entries(step.offers).filter(([name]) => !typed.includes(name));
  return { ...told, offers: Object.fromEntries(offers) };
}

/** Answers what has to be known of its write to the table until the reply has come. */
function commitPlan(link: Link, plan: Plan): OpenWrite {
  const { mirror } = link;
  return mirror.transaction(() => {
    for (const key of plan.outbox.drop) forgetStep(mirror, key, plan.at);
    for (const item of plan.outbox.save) replaceStep(mirror, item, plan.at);
    for (const key of plan.agreements.drop) mirror.dropAgreement(key);
    for (const agreement of plan.agreements.save) mirror.saveAgreement(agreement);
    for (const answer of plan.answers) mirror.saveDecision(answer);
    for (const scope of plan.settledDecisions) mirror.dropDecision(scope);
    for (const id of plan.writesOver) mirror.dropOpenWrite(id);
    for (const write of plan.writesWatched) mirror.saveOpenWrite(write);
    for (const entity of plan.rebased) saveRebase(mirror, entity, '');
    for (const entity of plan.remapped) saveColumnMap(mirror, link.policy, entity);
    if (plan.journal.length > 0) mirror.appendJournal(plan.journal);
    for (const write of noteSentBack(mirror.readOpenWrites(), plan)) mirror.saveOpenWrite(write);
    const open = unansweredWrite(plan, freeRow(mirror.readOpenWrites()), link.table.places());
    if (hasOpenSteps(open)) mirror.saveOpenWrite(open);
    if (plan.table.length > 0) noteWrite(mirror, open.keeping.run);
    // Last, because it forgets all of the above.
    if (plan.takesAccount) takeAccount(link);
    return open;
  });
}

/** Wakes the worker. A queue that does not answer is no loss: the refill adds what is due as soon as it does. */
export async function wake(link: Link, keys: readonly RecordKey[]): Promise<void> {
  if (keys.length === 0) return;
  try {
    await link.queue.add(keys);
  } catch (error) {
    if (!isSyncError(error, 'QUEUE_UNREACHABLE')) throw error;
    link.log.debug('queue.unreachable', { message: error.message, waiting: keys.length });
  }
}

/**
 * What was offered and written is agreed now. The agreement is read again, because a push may have moved other fields of it while the
 * table was being written.
 */
function confirm(
  { mirror }: Link,
  at: number,
  { key, offers, notice, noticed, forgets, journal }: Consequences,
): void {
  if (journal) mirror.appendJournal([journal]);
  if (!key) return;
  if (forgets) {
    mirror.dropAgreement(key);
    forgetStep(mirror, key, at);
    return;
  }
  const agreement = mirror.findAgreement(key);
  if (!agreement || Object.keys(offers).length === 0) return;
  const fields = { ...agreement.fields, ...offers };
  const landed = landShown(agreement.shown, offers);
  const told = nextNotice(agreement, { fields: Object.keys(offers), noticed, notice, at });
  mirror.saveAgreement({ ...agreement, ...landed, fields, offered: {}, changedAt: at, ...told });
}
