import { isSyncError } from '../../core/errors.ts';
import { isClaimToken, type RecordKey, recordKeyText } from '../../core/record.ts';
import { isOnItsWay, type JournalEntry, type OutboxItem } from '../../core/state.ts';
import { refusedScope } from '../../core/waiting/scopes.ts';
import type { Link } from '../../sync/link.ts';
import { remapScope } from '../decide/brakes/met-anew.ts';
import { describeCell } from '../port/cell.ts';
import { lacksRow, type Memory } from '../rest.ts';
import type { Plan, TableStep } from './plan.ts';

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
    return this.#nameCreates(this.isManual ? followUp(plan, this.#begun) : plan);
  }

  /** What was passed begins now. */
  begin(plan: Plan): void {
    if (this.isManual) this.#note(plan);
  }

  /** The whole plan begins now. It is kept no longer: a run happens once. */
  open(plan: Plan): void {
    this.#kept = this.#kept.filter(({ run }) => run !== plan.run);
    for (const { creates, key } of plan.table)
      if (creates && key) this.#claimedBy.set(recordKeyText(key), plan.run);
    this.#note(plan);
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

  #note(plan: Plan): void {
    for (const name of writtenKeys(plan)) this.#begun.add(name);
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

type Step = OutboxItem | TableStep;

const stepsOf = ({ outbox, table }: Plan): readonly Step[] => [...outbox.save, ...table];

const namesOf = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ key }) => (key ? [recordKeyText(key)] : []));

/** Names of the records and claims that a plan writes. */
export const writtenKeys = (plan: Plan): string[] => namesOf(stepsOf(plan));

/** Of how many records and claims something is left of a plan after what was `applied` of it. */
export function countLeft(plan: Plan, applied: Plan): number {
  const [sent, written] = [new Set(namesOf(applied.outbox.save)), new Set(applied.table)];
  const unsent = plan.outbox.save.filter(({ key }) => !sent.has(recordKeyText(key)));
  return new Set(namesOf([...unsent, ...plan.table.filter((step) => !written.has(step))])).size;
}

/**
 * What of a plan only ends what was begun: rows that were claimed become records and get their ID, and Sync cells say what came of it.
 * `begun` names the records and claims of the plans that were applied. What is left out is decided again in the next cycle, as if nobody had
 * seen it, and so are the answers that it was made of. What waits to be sent may always be taken back: its line in the journal goes with it.
 */
export function followUp(plan: Plan, begun: ReadonlySet<string>): Plan {
  const isBegun = (key: RecordKey) => begun.has(recordKeyText(key));
  const table = plan.table.filter((step) => endsSomething(step, isBegun));
  const save = plan.outbox.save.filter(({ key, kind }) => kind === 'create' && isBegun(key));
  const kept = new Set<Step>([...table, ...save]);
  const left = new Set(namesOf(stepsOf(plan).filter((step) => !kept.has(step))));
  // Where columns are met anew, agreements are forgotten for what is left out.
  const isWhole = ({ key }: { readonly key: RecordKey }) =>
    !left.has(recordKeyText(key)) && !plan.remapped.includes(key.entity);
  const dropped = new Set(plan.outbox.drop.map(recordKeyText));
  const tellsDrop = ({ key, lost }: JournalEntry) =>
    dropped.has(recordKeyText(key)) && Object.keys(lost).length > 0;
  const unsent = plan.outbox.save.filter((item) => !kept.has(item));
  const needed = new Set([...unsent.map(({ key }) => refusedScope(key)), ...plan.remapped.map(remapScope)]);
  return {
    ...plan,
    table,
    outbox: { ...plan.outbox, save },
    // An agreement says what is on its way to the table: nothing is, of what is left out.
    agreements: { ...plan.agreements, save: plan.agreements.save.filter(isWhole) },
    journal: plan.journal.filter((entry) => isWhole(entry) || tellsDrop(entry)),
    settledDecisions: plan.settledDecisions.filter((scope) => !needed.has(scope)),
    rebased: [],
    remapped: [],
    takesAccount: false,
  };
}

function endsSomething(
  { journal, key, offers, write }: TableStep,
  isBegun: (key: RecordKey) => boolean,
): boolean {
  if (write.kind !== 'set' || write.entity === 'question' || !key) return false;
  if (write.id) {
    const { entity, id, idSeen } = write;
    const [seen, given] = [describeCell(idSeen), describeCell(id)];
    // A claim is a record to be: it gets an ID, or the token of the create that is on its way for it, and nobody else does.
    const isFollowed = !isClaimToken(given) || isBegun({ entity, id: given });
    return isClaimToken(seen) && isBegun({ entity, id: seen }) && isFollowed;
  }
  return isBegun(key) && !journal && Object.keys(offers ?? {}).length === 0;
}
