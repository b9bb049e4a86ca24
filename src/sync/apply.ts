import { answeredWrite, unansweredWrite } from '../core/decide/open-writes.ts';
import type { Plan, TableStep } from '../core/decide/plan.ts';
import { isSyncError } from '../core/errors.ts';
import type { OpenWrite } from '../core/open-write.ts';
import type { RecordKey } from '../core/record.ts';
import type { RowStep } from '../core/table.ts';
import { takeAccount } from './account.ts';
import { saveColumnMap } from './column-map.ts';
import type { Link } from './link.ts';
import { saveRebase } from './rebase.ts';

/**
 * Applies a plan: what it says about the outbox, agreements and the journal becomes durable in one transaction, together with what is
 * about to be written; then the table is written in one atomic batch, and only what the reply confirms becomes agreed. Answers how many
 * steps reached other rows than their own, or replaced what was typed meanwhile: they stay open until a later plan has mended them.
 */
export async function applyPlan(link: Link, plan: Plan): Promise<number> {
  commitPlan(link, plan);
  const saved = plan.outbox.save.map(({ key }) => key);
  // At once: a queue that does not answer must not come between the read of the table and the write.
  const [missedSteps] = await Promise.all([writeTable(link, plan), wake(link, saved)]);
  return missedSteps;
}

/** Writes the table and agrees on what the reply confirms. Answers how many steps reached other rows than their own. */
async function writeTable(link: Link, plan: Plan): Promise<number> {
  if (plan.table.length === 0) return 0;
  const receipt = await link.table.write(plan.table.map(({ write }) => write));
  const missed = new Set<RowStep>([...receipt.misplaced.map(({ step }) => step), ...receipt.astray]);
  const replaced = new Map(receipt.overtyped.map((write) => [write.step as RowStep, write.replaced]));
  link.log.info('sheet.written', { run: plan.run, rows: plan.table.length - missed.size });
  if (missed.size > 0) link.log.warn('sheet.rows_moved', { run: plan.run, rows: missed.size });
  if (replaced.size > 0) link.log.info('sheet.typed_meanwhile', { run: plan.run, rows: replaced.size });
  link.mirror.transaction(() => {
    confirmSteps(
      link,
      plan,
      plan.table
        .filter(({ write }) => !missed.has(write))
        .map((step) => without(step, replaced.get(step.write))),
    );
    saveOpenWrite(link, answeredWrite(plan, receipt));
  });
  return missed.size + replaced.size;
}

/** A step of which some fields are not agreed, because what somebody typed in the same moment comes back. */
function without(step: TableStep, fields: object | undefined): TableStep {
  const offers = Object.entries(step.offers).filter(([name]) => !fields || !(name in fields));
  return fields ? { ...step, offers: Object.fromEntries(offers) } : step;
}

function commitPlan(link: Link, plan: Plan): void {
  const { mirror } = link;
  mirror.transaction(() => {
    for (const key of plan.outbox.drop) mirror.dropOutboxItem(key);
    for (const item of plan.outbox.save) mirror.saveOutboxItem(item);
    for (const key of plan.agreements.drop) mirror.dropAgreement(key);
    for (const agreement of plan.agreements.save) mirror.saveAgreement(agreement);
    for (const answer of plan.answers) mirror.saveDecision(answer);
    for (const scope of plan.settledDecisions) mirror.dropDecision(scope);
    for (const id of plan.openWrites.drop) mirror.dropOpenWrite(id);
    for (const write of plan.openWrites.save) mirror.saveOpenWrite(write);
    for (const entity of plan.rebased) saveRebase(mirror, entity, '');
    for (const entity of plan.remapped) saveColumnMap(mirror, link.policy, entity);
    if (plan.journal.length > 0) mirror.appendJournal(plan.journal);
    if (plan.table.length > 0) saveOpenWrite(link, unansweredWrite(plan));
    // Last, because it forgets all of the above.
    if (plan.takesAccount) takeAccount(link);
  });
}

/** A write in which nothing can go astray, or nothing did, is over. */
function saveOpenWrite({ mirror }: Link, write: OpenWrite): void {
  if (write.sets.length + write.deletes.length > 0) mirror.saveOpenWrite(write);
  else mirror.dropOpenWrite(write.id);
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
function confirmSteps(link: Link, plan: Plan, steps: readonly TableStep[]): void {
  const { mirror } = link;
  for (const { key, offers, notice, forgets, journal } of steps) {
    if (journal) mirror.appendJournal([journal]);
    if (!key) continue;
    const agreement = mirror.findAgreement(key);
    if (forgets) {
      mirror.dropAgreement(key);
      mirror.dropOutboxItem(key);
    } else if (agreement && Object.keys(offers).length > 0) {
      const fields = { ...agreement.fields, ...offers };
      mirror.saveAgreement({ ...agreement, fields, offered: {}, changedAt: plan.at, notice });
    }
  }
}
