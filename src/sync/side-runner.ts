import { backoffMs } from '../core/backoff.ts';
import { isSyncError, SyncError } from '../core/errors.ts';
import { noteContests } from './contests.ts';
import type { LagMeter } from './lag-meter.ts';
import type { Link } from './link.ts';
import { Loop, type Pause } from './loop.ts';
import { pauseAfter } from './pace.ts';
import { isOfMirror, noteAsked, Problems } from './problems.ts';
import type { PlanDifference, Side, SideComparison, SidePlan } from './side.ts';

/** A cycle that is late by so many pauses will no longer come by itself. */
const latePausesMax = 3;

export interface SideRunnerOptions {
  readonly link: Link;
  readonly problems: Problems;
  readonly lags: LagMeter;
}

/** Cycles over one side at its own pace, one call at a time, and keeps what it came to. A side that fails waits and is tried again. */
export class SideRunner extends Loop {
  readonly side: Side;
  /** What goes wrong with single records; it keeps nothing else from working. */
  readonly recordProblems: Problems;
  /** Since when each question waits, epoch ms, by its scope; a restart begins anew. */
  askedSince: ReadonlyMap<string, number> = new Map();
  /** Epoch ms; absent before the first cycle that came to a decision. */
  lastCycleAt: number | undefined;
  /** When the loop began its work, or will after a pause that it planned; monotonic ms. */
  expectedBy: number;
  /** How often the side was cycled over, and how long that took, whether it succeeded or not. */
  counts = { cycles: 0, failedCycles: 0, cycleMs: 0 };
  readonly #options: SideRunnerOptions;
  /** When something was last written or seen to change, monotonic ms. */
  #busyAt: number;
  /** Its timer did not come, and has not come by itself since. */
  #isStalled = false;
  /** Since when the oldest change in the CRM may have been there that no cycle has taken up yet, epoch ms. */
  #newsAt: number | undefined;
  /** When the last of it was noted. */
  #newsNotedAt = Number.NEGATIVE_INFINITY;

  constructor(side: Side, options: SideRunnerOptions) {
    const { clock } = options.link;
    super(clock, (isCalled) => this.#takeTurn(isCalled));
    this.side = side;
    this.#options = options;
    this.recordProblems = new Problems(options.link);
    this.expectedBy = clock.monotonicMs();
    this.#busyAt = this.expectedBy;
    side.listen?.(() => this.kick());
  }

  /** The CRM has something that the look before did not show; that one was at `since`, epoch ms, where it is known. */
  noteNews(since?: number): void {
    if (since !== undefined) {
      this.#newsAt = Math.min(since, this.#newsAt ?? since);
      this.#newsNotedAt = this.#options.link.clock.now();
    }
    this.kick();
  }

  /** A side that says how fresh it is says so at once, but none is asked for that which is left alone while nothing happens. */
  noteSwept(): void {
    if (this.side.pace.quietPollMs === undefined) this.kick();
  }

  /** One cycle now. Returns what the side says of it. */
  cycle(): Promise<unknown> {
    return this.#alone(() => this.#measure(() => this.side.cycle()));
  }

  plan(): Promise<SidePlan> {
    return this.#alone(() => this.side.plan());
  }

  /** Compares all rows now; `undefined` where every cycle does. */
  compare(): Promise<SideComparison | undefined> {
    return this.#alone(() => this.#measure(async () => this.side.compare?.()));
  }

  apply(run: string): Promise<readonly PlanDifference[] | undefined> {
    return this.#alone(() => this.#measure(() => this.side.apply(run)));
  }

  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.lock.run(async () => {
      if (this.mode === 'stopped') throw new Error(`Nothing is done at ${this.side.title} after the stop.`);
      return work();
    });
  }

  /** The loop hangs on one timer. Should that never come, the pusher calls for the cycle. */
  makeUpForLateCycle(): void {
    const { problems } = this.#options;
    const { lateMs } = this;
    if (lateMs <= latePausesMax * this.side.pace.pollMs) return;
    const late = `The next cycle was due ${Math.round(lateMs / 1_000)} s ago and did not begin.`;
    this.#isStalled = true;
    problems.begin('watchdog', new SyncError('ENGINE_STALLED', late));
    this.hasten();
  }

  /** One cycle, well or badly. */
  async #takeTurn(isCalled: boolean): Promise<Pause> {
    const { link, problems } = this.#options;
    const { name, pace } = this.side;
    if (!isCalled && this.#isStalled) {
      this.#isStalled = false;
      problems.end('watchdog');
    }
    let pause: Pause;
    const begunAt = link.clock.monotonicMs();
    try {
      await this.cycle();
      problems.end(name);
      problems.end('mirror');
      pause = { gapMs: pace.gapMs, waitMs: this.#restMs(isCalled, begunAt) };
    } catch (error) {
      const failures = problems.begin(isOfMirror(error) ? 'mirror' : name, error);
      const retryMs = isSyncError(error) ? error.retryAfterMs : undefined;
      const waitMs = Math.max(pace.pollMs, retryMs ?? backoffMs(link.backoff, failures, link.random()));
      // Nothing that happens meanwhile brings the next try at a failing side forward.
      pause = { gapMs: waitMs, waitMs, isBackingOff: true };
    }
    this.expectedBy = link.clock.monotonicMs() + pause.waitMs;
    return pause;
  }

  /** For how long nothing is done after a cycle that began then, monotonic ms. */
  #restMs(isCalled: boolean, begunAt: number): number {
    const { pace, report } = this.side;
    const now = this.#options.link.clock.monotonicMs();
    const isRestless = (report?.restlessRows ?? 0) > 0;
    if (isCalled || isRestless || report?.hasActed) this.#busyAt = now;
    if (isRestless) return Math.min(pace.pollMs, pace.restlessMs);
    // When it is filled, people wait for the rest.
    if (report?.hasMore) return pace.gapMs;
    if (report?.hasActed) return pace.pollMs;
    return pauseAfter(pace, { quietMs: now - this.#busyAt, tookMs: now - begunAt });
  }

  /** Works at the side, and takes note of what it came to, also where that failed in the end. */
  async #measure<Result>(work: () => Promise<Result>): Promise<Result> {
    const { clock } = this.#options.link;
    const begunAt = clock.monotonicMs();
    const before = this.side.report;
    const newsAt = this.#newsAt;
    this.#newsAt = undefined;
    let hasFailed = true;
    try {
      const result = await work();
      hasFailed = false;
      return result;
    } finally {
      const hasDecided = this.side.report !== before;
      const { cycleMs, cycles, failedCycles } = this.counts;
      this.counts = {
        cycles: cycles + Number(hasDecided),
        failedCycles: failedCycles + Number(hasFailed),
        cycleMs: cycleMs + clock.monotonicMs() - begunAt,
      };
      if (hasDecided) this.#noteReport();
      this.#noteShown(hasDecided ? this.#withNewsOf(newsAt) : newsAt, hasDecided && !hasFailed);
    }
  }

  /** What came while the side was looked at was there when it was decided, and is shown with the rest. */
  #withNewsOf(newsAt: number | undefined): number | undefined {
    const [since, decidedAt] = [this.#newsAt, this.side.report?.at ?? Number.NEGATIVE_INFINITY];
    if (since === undefined || this.#newsNotedAt >= decidedAt) return newsAt;
    this.#newsAt = undefined;
    return Math.min(since, newsAt ?? since);
  }

  #noteReport(): void {
    const { clock, log } = this.#options.link;
    const { report } = this.side;
    if (!report) return;
    noteContests(this.recordProblems, report);
    this.lastCycleAt = clock.now();
    this.askedSince = noteAsked(log, this.askedSince, report.questions, this.lastCycleAt);
  }

  /** What was read in the CRM is shown at the side now, or waits for the next cycle. */
  #noteShown(newsAt: number | undefined, hasCycled: boolean): void {
    if (newsAt === undefined) return;
    const toSide = hasCycled ? this.side.report?.toSide : 'waiting';
    if (toSide === 'written')
      this.#options.lags.note(this.side.name, this.#options.link.clock.now() - newsAt);
    if (toSide === 'waiting') this.#newsAt = Math.min(newsAt, this.#newsAt ?? newsAt);
  }
}
