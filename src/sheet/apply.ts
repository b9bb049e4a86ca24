import type { SyncError } from '../core/errors.ts';
import type { OpenWrite } from '../core/open-write.ts';
import { wake } from '../sync/pushing/pusher.ts';
import { forgetStep, replaceStep } from '../sync/pushing/unanswered.ts';
import { takeAccount } from '../sync/reading/account.ts';
import { saveColumnMap } from './column-map.ts';
import type { SheetLink } from './link.ts';
import type { Plan, TableStep } from './plans/plan.ts';
import type { Mark } from './port/instance.ts';
import { beginRebase, saveRebase } from './rebase.ts';
import { beginWrite, sendWrite, type UndoTally } from './table-write.ts';

/**
 * Applies a plan: what it says about the outbox, agreements and the journal becomes durable in one transaction, together with what is
 * about to be written; then the table is written in one atomic batch, and only what the reply confirms becomes agreed. What is written carries
 * the mark.
 */
export async function applyPlan(
  link: SheetLink,
  plan: Plan,
  tally: UndoTally,
  mark?: Mark,
): Promise<Landing> {
  const open = commitPlan(link, plan);
  const saved = plan.outbox.save.map(({ key }) => key);
  // At once: a queue that does not answer must not come between the read of the table and the write.
  const [landing] = await Promise.all([writeTable(link, plan, open, tally, mark), wake(link, saved)]);
  return landing;
}

/** What became of the steps of a plan at the table. */
export interface Landing {
  readonly landed: readonly TableStep[];
  /** How many steps have to be planned again: they met other rows than their own, or values that a user typed at that moment. */
  readonly undoneSteps: number;
  /** Why the table did not take the others. */
  readonly refusal?: SyncError;
}

export const nothingLanded: Landing = { landed: [], undoneSteps: 0 };

async function writeTable(
  link: SheetLink,
  { table }: Plan,
  open: OpenWrite | undefined,
  tally: UndoTally,
  mark?: Mark,
): Promise<Landing> {
  if (!open) return nothingLanded;
  const { done, ...end } = await sendWrite(link, open, tally, mark);
  return { landed: table.filter((_, number) => done.has(number)), ...end };
}

/** Returns the write to the table that begins with the plan; `undefined` where it has none. */
function commitPlan(link: SheetLink, plan: Plan): OpenWrite | undefined {
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
    if (plan.journal.length > 0) mirror.appendJournal(plan.journal);
    const open = plan.table.length > 0 ? beginWrite(link, plan.run, plan.table) : undefined;
    // Last, because it forgets all of the above.
    if (plan.takesAccount) {
      beginRebase(mirror, otherAccountReason, { now: link.clock.now(), newWord: link.newWord() });
      takeAccount(link);
    }
    return open;
  });
}

const otherAccountReason = 'The key opens another account of the CRM.';
