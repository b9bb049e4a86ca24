import { backoffMs } from '../core/backoff.ts';
import type { Plan } from '../core/decide/plan.ts';
import { isSyncError, SyncError } from '../core/errors.ts';
import { type Entity, type RecordKey, recordKeyText } from '../core/record.ts';
import { wake } from './apply.ts';
import { recoverOutbox } from './create.ts';
import { type CycleResult, dryRun, runCycle } from './cycle.ts';
import { KeyRefusal } from './key-refusal.ts';
import { currentLayout } from './layout.ts';
import type { Link } from './link.ts';
import { Lock } from './lock.ts';
import { Problems } from './problems.ts';
import { Puller } from './puller.ts';
import { pushRecord } from './push.ts';
import { emptyMemory, type Memory } from './rest.ts';
import { Signal } from './signal.ts';

/** Two cycles never start closer together: reading and writing the sheet stays within Google's quota. */
const cycleGapMs = 1_500;

/** Rows that went on moving while they were mended are left to the next turn after so many cycles in a row. */
const mendingRoundsMax = 5;

const forgetEveryMs = 60 * 60 * 1_000;

/** What the engine did since it started; for status and for telling whether a resync changed anything. */
export interface Tally {
  cycles: number;
  tableSteps: number;
  crmWrites: number;
}

/**
 * Runs one link: pulls the CRM, cycles over the table, pushes what the outbox holds. Every loop works at its own pace, tells
 * `problems` what does not work, and tries again; none of them stops another.
 */
export class Engine {
  readonly link: Link;
  readonly problems: Problems;
  readonly tally: Tally = { cycles: 0, tableSteps: 0, crmWrites: 0 };
  /** The plan of the last cycle, for status. */
  lastPlan: Plan | undefined;
  lastCycleAt: number | undefined;
  /** Since when each question waits, epoch ms, by its scope; a restart begins anew. */
  askedSince: ReadonlyMap<string, number> = new Map();
  /** When a cycle last ended, well or badly; monotonic ms. */
  progressAt: number;

  readonly #stopping = new AbortController();
  readonly #cycleSignal: Signal;
  readonly #cycleLock = new Lock();
  readonly #createLock = new Lock();
  /** Records that a worker is busy with, by the text of their key. */
  readonly #pushing = new Set<string>();
  readonly #keyRefusal: KeyRefusal;
  readonly #puller: Puller;
  #memory: Memory = emptyMemory;
  #needsLayOut = true;
  #forgotAt = Number.NEGATIVE_INFINITY;
  #loops: Promise<void>[] = [];

  constructor(link: Link) {
    this.link = link;
    this.progressAt = link.clock.monotonicMs();
    this.problems = new Problems(link.clock, link.log);
    this.#cycleSignal = new Signal(link.clock, this.#stopping.signal);
    this.#keyRefusal = new KeyRefusal(link.clock, this.problems);
    this.#puller = new Puller({
      link,
      problems: this.problems,
      keyRefusal: this.#keyRefusal,
      onNews: () => this.kick(),
      onCatalogChanged: () => {
        this.#needsLayOut = true;
      },
    });
  }

  /** Recovers what a crash left behind and starts the loops. */
  async start(): Promise<void> {
    recoverOutbox(this.link, () => false);
    await this.link.queue.start((key) => this.#push(key));
    this.#loops = [this.#puller.run(this.#stopping.signal), this.#cycleLoop(), this.#refillLoop()];
  }

  /** Stops taking new work and waits for what runs, at most `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const { clock, queue } = this.link;
    const isDone = new AbortController();
    const finished = Promise.all([...this.#loops, queue.close(graceMs)]);
    await Promise.race([finished, clock.sleep(graceMs, isDone.signal)]);
    isDone.abort();
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Asks for a cycle soon. */
  kick(): void {
    this.#cycleSignal.raise();
  }

  /** What the next cycle would do, by the same decision, without doing it. */
  plan(): Promise<Plan> {
    return this.#cycleLock.run(() => dryRun(this.link, this.#memory));
  }

  /** One cycle now. */
  cycle(): Promise<Plan> {
    return this.#cycleLock.run(async () => {
      for (let rounds = 1; ; rounds += 1) {
        const { astraySteps, hasFreshColumns, plan } = await this.#runCycle();
        if (astraySteps > 0 && rounds < mendingRoundsMax) continue;
        // After the cycle: a new column is known for new by the mark that laying out gives it.
        if (this.#needsLayOut || hasFreshColumns) await this.#layOut();
        return plan;
      }
    });
  }

  async #runCycle(): Promise<CycleResult> {
    const result = await runCycle(this.link, this.#memory);
    this.#memory = result.memory;
    this.lastPlan = result.plan;
    const now = this.link.clock.now();
    this.askedSince = new Map(
      result.plan.questions.map(({ scope }) => [scope, this.askedSince.get(scope) ?? now]),
    );
    this.lastCycleAt = now;
    this.tally.cycles += 1;
    this.tally.tableSteps += result.plan.table.length;
    return result;
  }

  /** Reads the catalog and all records of the CRM now; `onSwept` is told after each entity. */
  pullAll(onSwept: (entity: Entity, records: number) => void): Promise<void> {
    return this.#puller.pullAll(onSwept);
  }

  async #layOut(): Promise<void> {
    // What changes while the tabs are laid out has to be laid out after it.
    this.#needsLayOut = false;
    try {
      await this.link.table.layOut(currentLayout(this.link), 'refresh');
    } catch (error) {
      this.#needsLayOut = true;
      throw error;
    }
  }

  async #cycleLoop(): Promise<void> {
    const { backoff, clock, random, times } = this.link;
    while (!this.isStopping) {
      let [gapMs, waitMs] = [cycleGapMs, times.pollMs];
      try {
        const plan = await this.cycle();
        this.problems.end('sheet');
        this.problems.end('mirror');
        if (plan.restlessRows > 0) waitMs = Math.min(waitMs, times.typingPauseMs);
      } catch (error) {
        const isOfMirror = isSyncError(error) && error.code.startsWith('STATE_');
        const failures = this.problems.begin(isOfMirror ? 'mirror' : 'sheet', error);
        const retryMs = isSyncError(error) ? error.retryAfterMs : undefined;
        waitMs = Math.max(waitMs, retryMs ?? backoffMs(backoff, failures, random()));
        // Nothing that happens meanwhile makes a sheet that fails be asked earlier.
        gapMs = waitMs;
      }
      this.progressAt = clock.monotonicMs();
      await clock.sleep(Math.min(gapMs, waitMs), this.#stopping.signal);
      await this.#cycleSignal.wait(waitMs - gapMs);
    }
  }

  /** Puts what is due into the queue again: jobs may be lost, the outbox is not. */
  async #refillLoop(): Promise<void> {
    const { clock, times } = this.link;
    while (!this.isStopping) {
      try {
        await this.#refill();
        this.problems.end('queue');
      } catch (error) {
        this.problems.begin('queue', error);
      }
      await clock.sleep(times.refillMs, this.#stopping.signal);
    }
  }

  async #refill(): Promise<void> {
    const { clock, mirror, queue } = this.link;
    // A push that could not even note how it failed, on a full disk, has left its item on its way.
    recoverOutbox(this.link, (key) => this.#pushing.has(recordKeyText(key)));
    const now = clock.now();
    this.#forgetHistory(now);
    const due = mirror
      .readOutbox()
      .filter(
        ({ key, state, dueAt }) =>
          (state === 'unknown' || (state === 'waiting' && !this.#isWithheld(key.entity))) && dueAt <= now,
      )
      .map(({ key }) => key);
    if (!(await queue.isReachable())) throw new SyncError('QUEUE_UNREACHABLE', 'The queue does not answer.');
    await wake(this.link, due);
  }

  /** Before the first cycle nobody knows what the table looks like now, so everything is withheld. */
  #isWithheld(entity: Entity): boolean {
    return this.lastPlan?.withheld.includes(entity) ?? true;
  }

  #forgetHistory(now: number): void {
    if (now - this.#forgotAt < forgetEveryMs) return;
    this.link.mirror.forgetJournal(now - this.link.times.historyMs);
    this.#forgotAt = now;
  }

  /** The queue's wake-up, one at a time for a record. Creates go one after another, so that a newcomer has one possible origin. */
  async #push(key: RecordKey): Promise<void> {
    const { mirror } = this.link;
    if (this.isStopping || this.#keyRefusal.isInForce) return;
    this.#pushing.add(recordKeyText(key));
    try {
      const isCreate = mirror.findOutboxItem(key)?.kind === 'create';
      const push = () => pushRecord(this.link, key, (entity) => this.#isWithheld(entity));
      const result = await (isCreate ? this.#createLock.run(push) : push());
      if (result === 'nothing') return;
      if (result === 'written') this.tally.crmWrites += 1;
      this.kick();
    } catch (error) {
      this.#keyRefusal.note(error);
      if (!isSyncError(error)) throw error;
    } finally {
      this.#pushing.delete(recordKeyText(key));
    }
  }
}
