import type { Clock } from '../core/ports.ts';

/** Lets one piece of asynchronous work run at a time, in the order in which it was asked for. */
export class Lock {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the work once everything before it is over; its failure is its caller's alone. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** What a loop may be in the middle of, each with what may follow it. */
export const loopModes = {
  idle: ['running', 'stopped'],
  running: ['waiting', 'backing off', 'stopping'],
  waiting: ['running', 'stopped'],
  'backing off': ['running', 'stopped'],
  stopping: ['stopped'],
  stopped: [],
} as const satisfies Record<string, readonly string[]>;

export type LoopMode = keyof typeof loopModes;

/** How long a loop waits after a turn. */
export interface Pause {
  readonly waitMs: number;
  /** In this part of it a kick is only kept for later; none where absent. */
  readonly gapMs?: number;
  /** The turn failed. */
  readonly isBackingOff?: boolean;
}

/** Does one piece of work and returns the pause after it. `isCalled`: the pause before it did not end by its own timer. */
export type Turn = (isCalled: boolean) => Promise<Pause>;

/** Takes turn after turn until it is stopped. A turn that throws ends the loop, and its end fails with that. */
export class Loop {
  /** For turns, and what a command does beside them: one piece of work at a time. */
  protected readonly lock = new Lock();
  readonly #clock: Clock;
  readonly #turn: Turn;
  #mode: LoopMode = 'idle';
  #pause = new AbortController();
  #end: Promise<void> | undefined;
  /** When the pause is over, monotonic ms. */
  #dueAt = Number.POSITIVE_INFINITY;
  #isKicked = false;
  #isInGap = false;
  #isHastened = false;
  #isStopping = false;

  constructor(clock: Clock, turn: Turn) {
    this.#clock = clock;
    this.#turn = turn;
  }

  get mode(): LoopMode {
    return this.#mode;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** By how much the next turn is late, in ms; 0 while one runs. */
  get lateMs(): number {
    return Math.max(0, this.#clock.monotonicMs() - this.#dueAt);
  }

  /** Begins with the first turn. Resolves when the loop has stopped. */
  start(): Promise<void> {
    if (this.#isStopping) return Promise.resolve();
    this.#enter('running');
    this.#end = this.#run();
    return this.#end;
  }

  /** Ends the pause, or the one after the turn that runs; one of its first part is not shortened. */
  kick(): void {
    this.#isKicked = true;
    if (!this.#isInGap) this.#pause.abort('kicked');
  }

  /** Ends the pause at once. */
  hasten(): void {
    this.#isHastened = true;
    this.#pause.abort('hastened');
  }

  /** Takes no further turn. Resolves once the one that runs is over, and what a command began. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#mode === 'idle') this.#enter('stopped');
    if (this.#mode === 'running') this.#enter('stopping');
    this.#pause.abort('stopping');
    await Promise.all([this.#end, this.lock.run(async () => {})]);
  }

  async #run(): Promise<void> {
    let isCalled = false;
    for (;;) {
      const pause = await this.#turn(isCalled);
      if (this.#isStopping) break;
      this.#enter(pause.isBackingOff ? 'backing off' : 'waiting');
      isCalled = await this.#rest(pause);
      if (this.#isStopping) break;
      this.#enter('running');
    }
    this.#enter('stopped');
  }

  /** Returns whether the next turn was called for. */
  async #rest({ gapMs = 0, waitMs }: Pause): Promise<boolean> {
    this.#dueAt = this.#clock.monotonicMs() + waitMs;
    const gap = Math.min(gapMs, waitMs);
    if (gap > 0) {
      this.#isInGap = true;
      await this.#sleep(gap);
      this.#isInGap = false;
    }
    const isAwake = () => this.#isKicked || this.#isHastened || this.#isStopping;
    if (waitMs > gap && !isAwake()) await this.#sleep(waitMs - gap);
    const isCalled = isAwake();
    this.#isKicked = false;
    this.#isHastened = false;
    this.#dueAt = Number.POSITIVE_INFINITY;
    return isCalled;
  }

  async #sleep(durationMs: number): Promise<void> {
    this.#pause = new AbortController();
    await this.#clock.sleep(durationMs, this.#pause.signal);
  }

  #enter(mode: LoopMode): void {
    const followers: readonly LoopMode[] = loopModes[this.#mode];
    if (!followers.includes(mode)) throw new Error(`A loop that is ${this.#mode} cannot be ${mode}.`);
    this.#mode = mode;
  }
}
