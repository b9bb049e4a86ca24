import { SyncError } from '../core/errors.ts';
import type { Mirror } from '../core/mirror.ts';
import type { ListedEntity } from '../core/record.ts';
import type { OutboxItem } from '../core/state.ts';
import { LagMeter } from './lag-meter.ts';
import type { Link } from './link.ts';
import { type Problem, Problems } from './problems.ts';
import { Pusher } from './pushing/pusher.ts';
import { KeyRefusal } from './reading/key-refusal.ts';
import { type OnRead, Puller } from './reading/puller.ts';
import type { PlanDifference, Side, SideComparison, SidePlan, SideReport } from './side.ts';
import { SideRunner } from './side-runner.ts';

/**
 * Runs one link: a reader of the CRM, a pusher to it, and a runner for each side. Each works at its own pace, tells `problems` what does not
 * work, and tries again; none of them stops another.
 */
export class Engine {
  readonly link: Link;
  readonly problems: Problems;
  readonly lags = new LagMeter();
  readonly runners: readonly SideRunner[];
  /** When the engine was made, epoch ms. */
  readonly startedAt: number;

  readonly #stopping = new AbortController();
  readonly #reader: Puller;
  readonly #pusher: Pusher;
  /** Resolves once a start that has to wait is over. */
  #started: Promise<void> = Promise.resolve();

  constructor(link: Link, sides: readonly Side[]) {
    const { clock } = link;
    this.link = link;
    this.startedAt = clock.now();
    this.problems = new Problems(link);
    const keyRefusal = new KeyRefusal(clock, this.problems);
    const common = { link, problems: this.problems };
    this.runners = sides.map((side) => new SideRunner(side, { ...common, lags: this.lags }));
    this.#reader = new Puller({
      ...common,
      keyRefusal,
      onNews: (since) => {
        for (const runner of this.runners) runner.noteNews(since);
      },
      onSwept: () => {
        for (const runner of this.runners) runner.noteSwept();
      },
    });
    this.#pusher = new Pusher({
      ...common,
      keyRefusal,
      mirrors: [...new Set([link.mirror, ...sides.map(({ mirror }) => mirror)])],
      isWithheld: (item, mirror) => this.#isWithheld(item, mirror),
      onFailure: this.#reader.notePushFailure,
      onSending: (key, mirror) => {
        // Before it is sent: the next cycle forgets what has arrived.
        const looks = this.#sidesOf(mirror).flatMap((side) => side.lookedBefore(key) ?? []);
        return () => {
          for (const before of looks) this.lags.note('crm', clock.monotonicMs() - before);
        };
      },
      onNews: () => this.kick(),
      onRefilled: () => {
        for (const runner of this.runners) runner.makeUpForLateCycle();
      },
    });
  }

  get sides(): readonly Side[] {
    return this.runners.map(({ side }) => side);
  }

  /** What each side came to, of those that were compared since the start. */
  get reports(): readonly SideReport[] {
    return this.sides.flatMap(({ report }) => report ?? []);
  }

  /** What was found at all sides together. */
  get found(): Pick<
    SideReport,
    'brakes' | 'holds' | 'conflicts' | 'refusals' | 'questions' | 'restlessRows'
  > {
    const { reports } = this;
    return {
      brakes: reports.flatMap(({ brakes }) => brakes),
      holds: reports.flatMap(({ holds }) => holds),
      conflicts: reports.flatMap(({ conflicts }) => conflicts),
      refusals: reports.flatMap(({ refusals }) => refusals),
      questions: reports.flatMap(({ questions }) => questions),
      restlessRows: reports.reduce((sum, { restlessRows }) => sum + restlessRows, 0),
    };
  }

  /** Whether every side was compared since the start. */
  get isCompared(): boolean {
    return this.reports.length === this.runners.length;
  }

  /** When the side was compared that was not for the longest, epoch ms; absent where one was not yet. */
  get lastCycleAt(): number | undefined {
    const times = this.runners.flatMap(({ lastCycleAt }) => lastCycleAt ?? []);
    return times.length === 0 || times.length < this.runners.length ? undefined : Math.min(...times);
  }

  /** What does not work now, of the link's parts and of single records. */
  listProblems(): Problem[] {
    const all = [this.problems, ...this.runners.map(({ recordProblems }) => recordProblems)];
    return all.flatMap((problems) => problems.list());
  }

  /** What was done since the start, at all sides together; for status and for telling whether a resync changed anything. */
  get tally() {
    const ofSides = this.runners.map(({ counts, side }) => ({ ...counts, ...side.tally }));
    const sum = (name: keyof (typeof ofSides)[number]) =>
      ofSides.reduce((total, each) => total + each[name], 0);
    return {
      cycles: sum('cycles'),
      failedCycles: sum('failedCycles'),
      cycleMs: sum('cycleMs'),
      tableSteps: sum('tableSteps'),
      undoneWrites: sum('undoneWrites'),
      escalatedWrites: sum('escalatedWrites'),
      crmWrites: this.#pusher.writes,
    };
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Recovers what a crash left behind and starts, after a wait if that is asked for. */
  async start(waitMs = 0): Promise<void> {
    this.#pusher.recover();
    if (waitMs > 0) this.#started = this.#startLater(waitMs);
    else await this.#run();
  }

  async #startLater(waitMs: number): Promise<void> {
    const wait = `Runs before this one ended badly soon after they began, so it waits for ${waitMs / 1_000} s.`;
    this.problems.begin('start', new SyncError('DAEMON_CRASHED', wait));
    await this.link.clock.sleep(waitMs, this.#stopping.signal);
    if (this.isStopping) return;
    this.problems.end('start');
    await this.#run();
  }

  async #run(): Promise<void> {
    await this.#pusher.open();
    for (const part of [this.#reader, ...this.runners, this.#pusher]) void part.start();
  }

  /** Stops taking new work and waits for what runs, at most `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const isDone = new AbortController();
    const end = this.#end(graceMs);
    await Promise.race([end, this.link.clock.sleep(graceMs, isDone.signal)]);
    isDone.abort();
  }

  async #end(graceMs: number): Promise<void> {
    const parts = [this.#reader, this.#pusher, ...this.runners];
    const ends = parts.map((part) => part.stop());
    await Promise.all([this.#started, this.link.queue.close(graceMs), ...ends]);
    if (parts.some(({ mode }) => mode !== 'stopped'))
      throw new Error(`A part of the engine runs on after its end: ${parts.map(({ mode }) => mode).join()}.`);
    await Promise.all(this.sides.map((side) => side.leave()));
  }

  /** Asks for a cycle of every side soon. */
  kick(): void {
    for (const runner of this.runners) runner.kick();
  }

  /** What the next cycle of each side would do, by the same decisions, without doing it. Each is kept for {@link apply} under its run. */
  plans(): Promise<readonly SidePlan[]> {
    return Promise.all(this.runners.map((runner) => runner.plan()));
  }

  /**
   * Does exactly what a kept plan says, under its run, if that is what would be done now. Returns what is different: then nothing was done.
   * `undefined` when no side keeps such a plan.
   */
  async apply(run: string): Promise<readonly PlanDifference[] | undefined> {
    for (const runner of this.runners) {
      const differences = await runner.apply(run);
      if (differences) return differences;
    }
    return undefined;
  }

  /** Lets each side compare all rows that does not do so in every cycle, and write what differs. */
  async compare(): Promise<readonly ({ readonly side: string } & SideComparison)[]> {
    const all = this.runners.map(async (runner) => {
      const comparison = await runner.compare();
      return comparison ? [{ side: runner.side.name, ...comparison }] : [];
    });
    return (await Promise.all(all)).flat();
  }

  /** One cycle of every side now. */
  cycle(): Promise<unknown> {
    return Promise.all(this.runners.map((runner) => runner.cycle()));
  }

  /** Reads the catalog and all records of the CRM now; `onRead` is told after each page how many records of the entity are read. */
  pullAll(onRead: OnRead): Promise<void> {
    return this.#reader.pullAll(onRead);
  }

  /** How many records a list of the CRM has that is being read, where the CRM says so. */
  countListed(entity: ListedEntity): number | undefined {
    return this.#reader.totalOf(entity);
  }

  /** The sides whose steps these stores hold: all of them where those are an operator's own. */
  #sidesOf(mirror: Mirror): readonly Side[] {
    const own = this.sides.filter((side) => side.mirror === mirror);
    return own.length > 0 ? own : this.sides;
  }

  #isWithheld(item: OutboxItem, mirror: Mirror): boolean {
    return this.#reader.isTooEarlyFor(item) || this.#sidesOf(mirror).some((side) => side.isWithheld(item));
  }
}
