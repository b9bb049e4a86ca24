import { backoffMs } from '../core/backoff.ts';
import type { Plan } from '../core/decide/plan.ts';
import { comparePlans, type PlanDifference } from '../core/decide/plan-difference.ts';
import { isSyncError, SyncError } from '../core/errors.ts';
import { type RecordKey, recordKeyText } from '../core/record.ts';
import type { OutboxItem } from '../core/state.ts';
import { noteContests } from './contests.ts';
import { recoverOutbox } from './create.ts';
import { beginTrail, type CycleResult, dryRun, type Round, runCycle, type Trail } from './cycle.ts';
import { forgetEveryMs, forgetOld } from './forget.ts';
import { KeyRefusal } from './key-refusal.ts';
import { LagMeter } from './lag-meter.ts';
import { tableLayout } from './layout.ts';
import type { Link } from './link.ts';
import { isWithheld, PlanGate } from './plan-gate.ts';
import { noteAsked, Problems } from './problems.ts';
import { type OnRead, Puller } from './puller.ts';
import { pushRecord } from './push.ts';
import { SoleWriter } from './sole-writer.ts';
import { emptyTally } from './tally.ts';
import { Lock, Signal } from './waits.ts';

/** Two cycles never start closer together: reading and writing the sheet stays within Google's quota. */
const cycleGapMs = 1_500;

/** Rows that go on moving while they are written are left to the next turn after so many cycles in a row. */
const roundsMax = 5;

/** A cycle that is late by so many pauses will not come by itself any more. */
const latePausesMax = 3;

/** A queue that wakes nobody for so many refills in a row has lost its worker, whatever else it answers. */
const refillsInVainMax = 15;

/** After so many pushes without the queue it is looked at again. */
const pushesWithoutQueueMax = 20;

/**
 * Runs one link: pulls the CRM, cycles over the table, pushes what the outbox holds. Every loop works at its own pace, tells
 * `problems` what does not work, and tries again; none of them stops another.
 */
export class Engine {
  readonly link: Link;
  readonly problems: Problems;
  /** What goes wrong with single records; it keeps nothing else from working. */
  readonly recordProblems: Problems;
  readonly tally = emptyTally();
  readonly writer: SoleWriter;
  readonly lags = new LagMeter();
  /** The plan of the last cycle, for status. */
  lastPlan: Plan | undefined;
  lastCycleAt: number | undefined;
  /** Since when each question waits, epoch ms, by its scope; a restart begins anew. */
  askedSince: ReadonlyMap<string, number> = new Map();
  /** When the loop of the cycles began its work, or will after a pause that it planned; monotonic ms. */
  expectedBy: number;
  /** When the engine was made, epoch ms. */
  readonly startedAt: number;

  readonly #stopping = new AbortController();
  readonly #cycleSignal: Signal;
  readonly #cycleLock = new Lock();
  readonly #createLock = new Lock();
  /** Records that a worker is busy with, by the text of their key. */
  readonly #pushing = new Set<string>();
  readonly #keyRefusal: KeyRefusal;
  readonly #puller: Puller;
  readonly #gate: PlanGate;
  /** Refills in a row that found something to wake the worker for, and nobody woken since the one before. */
  #refillsInVain = 0;
  /** When the loop of cycles means to begin the next one, monotonic ms; `undefined` while one runs. */
  #cycleDueAt: number | undefined;
  /** The plan that was made last; what it stops is stopped at once, also where the table can not be written. */
  #decided: Plan | undefined;
  #trail: Trail;
  #needsLayOut = true;
  #forgotAt = Number.NEGATIVE_INFINITY;
  #loops: Promise<void>[] = [];

  constructor(link: Link) {
    this.link = link;
    this.expectedBy = link.clock.monotonicMs();
    this.startedAt = link.clock.now();
    this.#trail = beginTrail(this.startedAt);
    this.#gate = new PlanGate(link);
    this.writer = new SoleWriter(link);
    this.problems = new Problems(link.clock, link.log);
    this.recordProblems = new Problems(link.clock, link.log);
    this.#cycleSignal = new Signal(link.clock, this.#stopping.signal);
    this.#keyRefusal = new KeyRefusal(link.clock, this.problems);
    this.#puller = new Puller({
      link,
      problems: this.problems,
      keyRefusal: this.#keyRefusal,
      onNews: (since) => {
        this.lags.noteNews(since);
        this.kick();
      },
      onCatalogChanged: () => {
        this.#needsLayOut = true;
      },
    });
  }

  /** Recovers what a crash left behind and starts the loops, after a wait if that is asked for. */
  async start(waitMs = 0): Promise<void> {
    recoverOutbox(this.link, () => false);
    if (waitMs > 0) this.#loops = [this.#startLater(waitMs)];
    else await this.#run();
  }

  async #startLater(waitMs: number): Promise<void> {
    const wait = `Runs before this one ended badly soon after they began, so it waits for ${waitMs / 1_000} s.`;
    this.problems.begin('start', new SyncError('DAEMON_CRASHED', wait));
    await this.link.clock.sleep(waitMs, this.#stopping.signal);
    if (this.isStopping) return;
    this.problems.end('start');
    await this.#run();
    await Promise.all(this.#loops);
  }

  async #run(): Promise<void> {
    await this.link.queue.start((key) => {
      this.#refillsInVain = 0;
      return this.#push(key);
    });
    this.#loops = [this.#puller.run(this.#stopping.signal), this.#cycleLoop(), this.#refillLoop()];
  }

  /** Stops taking new work and waits for what runs, at most `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const { clock, queue } = this.link;
    const isDone = new AbortController();
    // A cycle that a command began is in none of the loops.
    const ends = [...this.#loops, queue.close(graceMs), this.#cycleLock.run(async () => {})];
    const end = Promise.all(ends).then(() => this.writer.leave());
    await Promise.race([end, clock.sleep(graceMs, isDone.signal)]);
    isDone.abort();
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Asks for a cycle soon. */
  kick(): void {
    this.#cycleSignal.raise();
  }

  /** What the next cycle would do, by the same decision, without doing it. It is kept for {@link apply} under its run. */
  plan(): Promise<Plan> {
    return this.#cycleLock.run(async () => {
      const plan = await dryRun(this.link, this.#trail, this);
      this.#gate.keep(plan);
      return plan;
    });
  }

  /**
   * Does exactly what a kept plan says, under its run, if that is what would be done now. Answers what is different: then nothing was
   * done. `undefined` when no such plan is kept.
   */
  apply(id: string): Promise<PlanDifference[] | undefined> {
    return this.#cycleLock.run(async () => {
      const kept = this.#gate.find(id);
      if (!kept) return undefined;
      let differences: PlanDifference[] = [];
      const choose = (plan: Plan) => {
        differences = comparePlans(kept, plan);
        return differences.length === 0 ? this.#gate.open(plan) : undefined;
      };
      // What was undone is done again, and nothing that was not in the plan.
      const chooseRest = (plan: Plan) =>
        comparePlans(kept, plan).some(({ now }) => now !== undefined)
          ? this.#gate.pass(plan)
          : this.#gate.open(plan);
      await this.#runRounds({ run: id, choose }, chooseRest).catch((error) => this.#gate.fail(id, error));
      return differences;
    });
  }

  /** One cycle now. Answers what was applied. */
  cycle(): Promise<Plan> {
    const choose = (plan: Plan) => this.#gate.pass(plan);
    return this.#cycleLock.run(async () => {
      const { applied, plan } = await this.#runRounds({ choose }, choose);
      return applied ?? plan;
    });
  }

  /**
   * A cycle, and further ones as long as steps are undone because rows moved meanwhile. Fails at the end where the sheet did not take all of
   * it.
   */
  async #runRounds(order: Round, chooseRest: Round['choose']): Promise<CycleResult> {
    let result = await this.#runCycle(order);
    const mayLayOut = order.run === undefined ? !this.#gate.isManual : result.applied !== undefined;
    for (let rounds = 1; result.undoneSteps > 0 && rounds < roundsMax; rounds += 1)
      result = await this.#runCycle({ choose: chooseRest });
    // After the cycle: a new column is known for new by the mark that laying out gives it.
    if (mayLayOut && (this.#needsLayOut || result.hasFreshColumns)) await this.#layOut();
    // Not before: the tabs that the sheet does take must not stand still with the one that it refuses.
    if (result.refusal) throw result.refusal;
    return result;
  }

  async #runCycle(order: Round): Promise<CycleResult> {
    const { link, tally, writer } = this;
    const { clock } = link;
    const begunAt = clock.monotonicMs();
    const newsAt = this.lags.takeNews();
    const noteFailed = () => {
      this.tally.failedCycles += 1;
      this.lags.noteNews(newsAt);
    };
    const choose = (plan: Plan) => {
      this.#decided = plan;
      return order.choose(plan);
    };
    const result = await runCycle(link, { ...order, choose, tally, trail: this.#trail, writer })
      .catch((error: unknown) => {
        noteFailed();
        throw error;
      })
      .finally(() => {
        this.tally.cycleMs += clock.monotonicMs() - begunAt;
      });
    if (result.refusal) noteFailed();
    else this.lags.noteShown(newsAt, result, clock.now());
    this.#trail = result.trail;
    this.lastPlan = result.plan;
    noteContests(this.recordProblems, result.plan);
    const now = clock.now();
    this.askedSince = noteAsked(link.log, this.askedSince, result.plan.questions, now);
    this.lastCycleAt = now;
    this.tally.cycles += 1;
    this.tally.tableSteps += result.applied?.table.length ?? 0;
    return result;
  }

  /** Reads the catalog and all records of the CRM now; `onRead` is told after each page how many records of the entity are read. */
  pullAll(onRead: OnRead): Promise<void> {
    return this.#puller.pullAll(onRead);
  }

  async #layOut(): Promise<void> {
    // What changes while the tabs are laid out has to be laid out after it.
    this.#needsLayOut = false;
    try {
      await this.link.table.layOut(tableLayout(this.link), 'refresh');
    } catch (error) {
      this.#needsLayOut = true;
      throw error;
    }
  }

  async #cycleLoop(): Promise<void> {
    const { clock } = this.link;
    while (!this.isStopping) {
      const { gapMs, waitMs } = await this.#takeTurn();
      this.problems.end('watchdog');
      await clock.sleep(Math.min(gapMs, waitMs), this.#stopping.signal);
      await this.#cycleSignal.wait(waitMs - gapMs);
    }
  }

  /** One cycle, well or badly. Answers how long to wait for the next one, and in which part of that time nothing may hasten it. */
  async #takeTurn(): Promise<{ gapMs: number; waitMs: number }> {
    const { backoff, clock, random, times } = this.link;
    // A mark that does not move for longer is taken for one of an instance that is gone.
    let [gapMs, waitMs] = [cycleGapMs, Math.min(times.pollMs, times.markMs)];
    this.#cycleDueAt = undefined;
    try {
      const plan = await this.cycle();
      this.problems.end('sheet');
      this.problems.end('mirror');
      if (plan.restlessRows > 0) waitMs = Math.min(waitMs, times.typingPauseMs);
    } catch (error) {
      const failures = this.problems.begin(isOfMirror(error) ? 'mirror' : 'sheet', error);
      const retryMs = isSyncError(error) ? error.retryAfterMs : undefined;
      waitMs = Math.max(waitMs, retryMs ?? backoffMs(backoff, failures, random()));
      // Nothing that happens meanwhile makes a sheet that fails be asked earlier.
      gapMs = waitMs;
    }
    this.expectedBy = clock.monotonicMs() + waitMs;
    this.#cycleDueAt = this.expectedBy;
    return { gapMs, waitMs };
  }

  /** Puts what is due into the queue again: jobs may be lost, the outbox is not. */
  async #refillLoop(): Promise<void> {
    const { clock, times } = this.link;
    while (!this.isStopping) {
      try {
        await this.#refill();
      } catch (error) {
        this.problems.begin(isOfMirror(error) ? 'mirror' : 'queue', error);
      }
      await this.#makeUpForLateCycle();
      await clock.sleep(times.refillMs, this.#stopping.signal);
    }
  }

  /** The loop of cycles hangs on one timer. Should it never come, the loop of refills, which has its own, does its work. */
  async #makeUpForLateCycle(): Promise<void> {
    const { clock, times } = this.link;
    const lateMs = clock.monotonicMs() - (this.#cycleDueAt ?? Number.POSITIVE_INFINITY);
    if (lateMs <= latePausesMax * times.pollMs || this.isStopping) return;
    const late = `The next cycle was due ${Math.round(lateMs / 1_000)} s ago and did not begin.`;
    this.problems.begin('watchdog', new SyncError('ENGINE_STALLED', late));
    await this.#takeTurn();
  }

  async #refill(): Promise<void> {
    const { clock, mirror } = this.link;
    // A push that could not even note how it failed, on a full disk, has left its item on its way.
    recoverOutbox(this.link, (key) => this.#pushing.has(recordKeyText(key)));
    const now = clock.now();
    this.#forgetHistory(now);
    const isSendable = (item: OutboxItem) => item.state === 'waiting' && !this.#isWithheld(item);
    const due = mirror
      .readOutbox()
      .filter((item) => item.dueAt <= now && (item.state === 'unknown' || isSendable(item)))
      .map(({ key }) => key);
    this.#refillsInVain = due.length === 0 || this.#pushing.size > 0 ? 0 : this.#refillsInVain + 1;
    try {
      await this.#wake(due);
      this.problems.end('queue');
    } catch (error) {
      this.problems.begin('queue', error);
      if (isSyncError(error, 'QUEUE_UNREACHABLE')) await this.#pushWithoutQueue(due);
    }
  }

  /** Fails with QUEUE_UNREACHABLE when the queue does not do what it is there for. */
  async #wake(due: readonly RecordKey[]): Promise<void> {
    const { queue } = this.link;
    if (!(await queue.isReachable())) throw new SyncError('QUEUE_UNREACHABLE', 'The queue does not answer.');
    await queue.add(due);
    if (this.#refillsInVain <= refillsInVainMax) return;
    throw new SyncError('QUEUE_UNREACHABLE', `The queue wakes nobody, although ${due.length} steps wait.`);
  }

  /** People's edits do not wait for a queue that does not work. Whoever is woken meanwhile finds their record taken. */
  async #pushWithoutQueue(due: readonly RecordKey[]): Promise<void> {
    for (const key of due.slice(0, pushesWithoutQueueMax)) {
      if (this.isStopping) return;
      await this.#push(key);
    }
  }

  #isWithheld(item: OutboxItem): boolean {
    if (!this.writer.mayWrite) return true;
    const plans = [this.lastPlan, this.#decided];
    return this.#puller.isTooEarlyFor(item) || isWithheld(item, plans, this.#trail.memory);
  }

  #forgetHistory(now: number): void {
    if (now - this.#forgotAt < forgetEveryMs) return;
    forgetOld(this.link);
    this.#forgotAt = now;
  }

  /** The queue's wake-up, one at a time for a record. Creates go one after another, so that a newcomer has one possible origin. */
  async #push(key: RecordKey): Promise<void> {
    const { mirror } = this.link;
    const text = recordKeyText(key);
    if (this.isStopping || this.#keyRefusal.isInForce || this.#pushing.has(text)) return;
    this.#pushing.add(text);
    try {
      const isCreate = mirror.findOutboxItem(key)?.kind === 'create';
      // Before it is sent: the next cycle forgets what has arrived.
      const seen = this.#trail.firstLooks.get(text);
      const isStopped = (step: OutboxItem) => this.#isWithheld(step);
      const push = () => pushRecord(this.link, key, isStopped, this.#puller.notePushFailure);
      const result = await (isCreate ? this.#createLock.run(push) : push());
      if (result === 'nothing') return;
      if (result === 'written') {
        this.tally.crmWrites += 1;
        if (seen) this.lags.noteToCrm(this.link.clock.monotonicMs() - seen.before);
      }
      this.kick();
    } catch (error) {
      this.#keyRefusal.note(error);
      if (!isSyncError(error)) throw error;
    } finally {
      this.#pushing.delete(text);
    }
  }
}

const isOfMirror = (error: unknown): boolean => isSyncError(error) && error.code.startsWith('STATE_');
