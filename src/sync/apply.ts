import {
  addHits,
  closeMended,
  describeDamage,
  isLeft,
  judgeWrite,
  noteSentBack,
  type Outcome,
  unansweredWrite,
} from '../core/decide/open-writes.ts';
import type { Plan } from '../core/decide/plan.ts';
import { isSyncError } from '../core/errors.ts';
import { type Consequences, freeRow, type Mending, type OpenWrite } from '../core/open-write.ts';
import type { RecordKey } from '../core/record.ts';
import { keptSteps, type RowStep } from '../core/table.ts';
import { takeAccount } from './account.ts';
import { saveColumnMap } from './column-map.ts';
import type { Link } from './link.ts';
import { noteWrite, saveRebase } from './rebase.ts';
import { logRows } from './row-log.ts';

/**
 * Applies a plan: what it says about the outbox, agreements and the journal becomes durable in one transaction, together with what is
 * about to be written; then the table is written in one atomic batch, and only what the reply confirms becomes agreed. Answers how many
 * steps reached other rows than their own, or replaced what was typed meanwhile: they stay open until a later plan has mended them.
 */
export async function applyPlan(link: Link, plan: Plan): Promise<number> {
  const open = commitPlan(link, plan);
  const saved = plan.outbox.save.map(({ key }) => key);
  // At once: a queue that does not answer must not come between the read of the table and the write.
  const [missedSteps] = await Promise.all([writeTable(link, plan, open), wake(link, saved)]);
  return missedSteps;
}

/** Writes the table and agrees on what it confirms. Answers how many steps reached other rows than their own. */
async function writeTable(link: Link, plan: Plan, open: OpenWrite): Promise<number> {
  if (plan.table.length === 0) return 0;
  const { log, mirror } = link;
  const steps = plan.table.map(({ write }) => write);
  const reply = await link.table.write(steps, open.keeping);
  const outcome = addHits(judgeWrite(open, reply.rows, unansweredBeside(link, open)), open, steps, reply);
  const slots = new Map<RowStep, number>(keptSteps(steps).map((step, slot) => [step, slot]));
  const isMissed = (step: RowStep) => {
    const slot = slots.get(step);
    return reply.hits.has(step) || (slot !== undefined && !outcome.done.has(slot));
  };
  const missed = plan.table.filter(({ write }) => isMissed(write));
  const done = plan.table.filter(({ write }) => !isMissed(write));
  logRows(log, plan.run, done);
  if (missed.length > 0) log.warn('sheet.rows_moved', { run: plan.run, rows: missed.length });
  if (outcome.overtyped.size > 0) {
    log.info('sheet.typed_meanwhile', { run: plan.run, rows: outcome.overtyped.size });
  }
  mirror.transaction(() => {
    saveOutcome(link, open, outcome);
    for (const step of done)
      confirm(link, plan.at, without(step, outcome.overtyped.get(slots.get(step.write) ?? -1)));
    closeMendings(link, done, missed);
    for (const { key, write } of plan.table)
      if (key && write.kind === 'append' && reply.hits.get(write)?.ownId) forgetValues(link, key);
  });
  return missed.length + outcome.overtyped.size;
}

/**
 * Asks the table what became of the writes whose reply was lost. Answers whether one of them has landed: then what was read before may
 * be older than it.
 */
export async function recallWrites(link: Link): Promise<boolean> {
  const { clock, log, mirror, table } = link;
  let hasLanded = false;
  for (const open of mirror.readOpenWrites().filter(({ outcome }) => outcome === 'unknown')) {
    const sent = [...open.sets, ...open.deletes];
    const rows = await table.recall(open.keeping, new Map(sent.map(({ entity, slot }) => [slot, entity])));
    if (rows.size === 0) continue;
    hasLanded = true;
    const outcome = judgeWrite(open, rows, unansweredBeside(link, open));
    log.info('sheet.recalled', { run: open.id, rows: outcome.done.size });
    const done = sent.filter(({ slot }) => outcome.done.has(slot));
    mirror.transaction(() => {
      saveOutcome(link, open, outcome);
      for (const { confirms, slot } of done)
        if (confirms) confirm(link, clock.now(), without(confirms, outcome.overtyped.get(slot)));
      const isDone = ({ slot }: { readonly slot: number }) => outcome.done.has(slot);
      const [mended, missed] = [sent.filter(isDone), sent.filter((step) => !isDone(step))].map((steps) =>
        steps.flatMap(({ confirms }) => confirms ?? []),
      );
      closeMendings(link, mended ?? [], missed ?? []);
    });
  }
  return hasLanded;
}

const unansweredBeside = ({ mirror }: Link, open: OpenWrite): OpenWrite[] =>
  mirror.readOpenWrites().filter(({ id, outcome }) => outcome === 'unknown' && id !== open.id);

function saveOutcome({ clock, mirror }: Link, open: OpenWrite, { left }: Outcome): void {
  mirror.dropOpenWrite(open.id);
  for (const write of left) {
    mirror.saveOpenWrite(write);
    const damage = describeDamage(write, clock.now());
    if (damage.length > 0) mirror.appendJournal(damage);
  }
}

/** Of a row that was added with its ID and some of its cells alone, nothing is agreed: what it lacks nobody emptied. */
function forgetValues({ mirror }: Link, key: RecordKey): void {
  const agreement = mirror.findAgreement(key);
  if (agreement) mirror.saveAgreement({ ...agreement, fields: {}, offered: {} });
}

/** Damage is made good once every step that was to do so has reached its row. */
function closeMendings(
  { mirror }: Link,
  done: readonly Consequences[],
  missed: readonly Consequences[],
): void {
  const isSame = (one: Mending, other: Mending | undefined) =>
    one.write === other?.write && one.slot === other.slot;
  const mended = done.flatMap(({ mends }) =>
    mends && !missed.some((step) => isSame(mends, step.mends)) ? [mends] : [],
  );
  for (const write of closeMended(mirror.readOpenWrites(), mended)) {
    if (isLeft(write)) mirror.saveOpenWrite(write);
    else mirror.dropOpenWrite(write.id);
  }
}

/** Consequences of which some fields are not agreed, because what somebody typed in the same moment comes back. */
function without<Step extends Consequences>(step: Step, fields: readonly string[] = []): Step {
  if (fields.length === 0) return step;
  const offers = Object.entries(step.offers).filter(([name]) => !fields.includes(name));
  return { ...step, offers: Object.fromEntries(offers) };
}

/** Answers what has to be known of its write to the table until the reply has come. */
function commitPlan(link: Link, plan: Plan): OpenWrite {
  const { mirror } = link;
  return mirror.transaction(() => {
    for (const key of plan.outbox.drop) mirror.dropOutboxItem(key);
    for (const item of plan.outbox.save) mirror.saveOutboxItem(item);
    for (const key of plan.agreements.drop) mirror.dropAgreement(key);
    for (const agreement of plan.agreements.save) mirror.saveAgreement(agreement);
    for (const answer of plan.answers) mirror.saveDecision(answer);
    for (const scope of plan.settledDecisions) mirror.dropDecision(scope);
    for (const id of plan.writesOver) mirror.dropOpenWrite(id);
    for (const entity of plan.rebased) saveRebase(mirror, entity, '');
    for (const entity of plan.remapped) saveColumnMap(mirror, link.policy, entity);
    if (plan.journal.length > 0) mirror.appendJournal(plan.journal);
    for (const write of noteSentBack(mirror.readOpenWrites(), plan)) mirror.saveOpenWrite(write);
    const open = unansweredWrite(plan, freeRow(mirror.readOpenWrites()));
    if (isLeft(open)) mirror.saveOpenWrite(open);
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
  { key, offers, notice, forgets, journal }: Consequences,
): void {
  if (journal) mirror.appendJournal([journal]);
  if (!key) return;
  if (forgets) {
    mirror.dropAgreement(key);
    mirror.dropOutboxItem(key);
    return;
  }
  const agreement = mirror.findAgreement(key);
  if (!agreement || Object.keys(offers).length === 0) return;
  const fields = { ...agreement.fields, ...offers };
  mirror.saveAgreement({ ...agreement, fields, offered: {}, changedAt: at, notice });
}
