import { isSyncError } from '../../core/errors.ts';
import { isClaimToken, recordKeyText } from '../../core/record.ts';
import { isOnItsWay, type OutboxItem } from '../../core/state.ts';
import type { Link } from '../../sync/link.ts';
import { lacksRow, type Memory } from '../rest.ts';
import { followUp, writtenKeys } from './follow-up.ts';
import type { Plan } from './plan.ts';

/** Plans that are kept for being applied, the newest. */
const keptMax = 5;

/**
 * Says what of a plan is applied: all of it, or, where a person wants to see everything first, only what ends what they let through. It keeps
 * the plans they saw, under their run; a restart forgets them.
 */
export class PlanGate {
  readonly isManual: boolean;
  #kept: readonly Plan[] = [];
  readonly #begun: Set<string>;
  readonly #mirror: Link['mirror'];
  /** The applied plans that claimed rows, by the names of the claims: what they create becomes a step in a cycle after that. */
  readonly #claimedBy = new Map<string, string>();

  constructor({ isManual = false, mirror }: Pick<Link, 'isManual' | 'mirror'>) {
    this.isManual = isManual;
    this.#mirror = mirror;
    // What is on its way since before a restart was let through then: its row waits for its ID, and for the word what came of it.
    const begun = mirror.readOutbox().filter((item) => isOnItsWay(item) || item.state === 'done');
    this.#begun = new Set(begun.map(({ key }) => recordKeyText(key)));
  }

  keep(plan: Plan): void {
    this.#kept = [plan, ...this.#kept].slice(0, keptMax);
  }

  find(id: string): Plan | undefined {
    return this.#kept.find(({ run }) => run === id);
  }

  /** What of the plan of a cycle is applied. */
  pass(plan: Plan): Plan {
    return this.#nameCreates(this.isManual ? this.#note(followUp(plan, this.#begun)) : plan);
  }

  /** Lets the whole plan through. It is kept no longer: a run happens once. */
  open(plan: Plan): Plan {
    this.#kept = this.#kept.filter(({ run }) => run !== plan.run);
    for (const { creates, key } of plan.table)
      if (creates && key) this.#claimedBy.set(recordKeyText(key), plan.run);
    return this.#note(plan);
  }

  /** Throws why a plan failed. Once it was let through, what it sends to the CRM goes there, whatever became of the table. */
  fail(id: string, error: unknown): never {
    if (this.find(id) || !isSyncError(error) || error.code.startsWith('STATE_')) throw error;
    const begun = `Plan ${id} was begun, but the sheet did not take all of it. What goes to the CRM is on its way: undo --run ${id} takes it back, and a new plan shows what is left.`;
    throw error.reworded(`${begun} ${error.message}`, { cause: error });
  }

  /** Creates get the run of the plan that a person applied, under which they are looked for to be taken back. */
  #nameCreates(plan: Plan): Plan {
    if (this.#claimedBy.size === 0) return plan;
    const { outbox } = plan;
    const save = outbox.save.map((item) => {
      const run = this.#claimedBy.get(recordKeyText(item.key));
      // One that waits may be about to be sent: who sends it knows by its run that it was decided anew.
      return run === undefined || this.#mirror.findOutboxItem(item.key) ? item : { ...item, run };
    });
    return { ...plan, outbox: { ...outbox, save } };
  }

  #note(plan: Plan): Plan {
    for (const name of writtenKeys(plan)) this.#begun.add(name);
    return plan;
  }
}

/**
 * Whether what is known of the table keeps a step from being sent. Before the first plan nobody knows what stands there now, so everything
 * is withheld. So is a create that was tried and whose row is gone: while nobody knew what had become of it no plan could drop it, and the
 * next one does.
 */
export function isWithheld(
  { attempts, key }: Pick<OutboxItem, 'attempts' | 'key'>,
  plans: readonly (Plan | undefined)[],
  memory: Memory,
): boolean {
  const isStopped = plans.some((plan) => plan?.withheld.includes(key.entity) ?? true);
  return isStopped || (attempts > 0 && isClaimToken(key.id) && lacksRow(memory, key));
}
