import type { Clock } from '../core/ports.ts';

/** Something that can be waited for with a limit; a signal raised while nobody waits is kept for the next one who does. */
export class Signal {
  readonly #clock: Clock;
  readonly #stopping: AbortSignal;
  #isRaised = false;
  #waiting: AbortController | undefined;

  constructor(clock: Clock, stopping: AbortSignal) {
    this.#clock = clock;
    this.#stopping = stopping;
    // Not a signal made of both: Node keeps such a one, and whoever waits for it, as long as it is listened to.
    stopping.addEventListener('abort', () => this.#waiting?.abort('stopping'), { once: true });
  }

  raise(): void {
    this.#isRaised = true;
    // Without a reason it makes an exception that nobody reads.
    this.#waiting?.abort('raised');
  }

  /** Resolves when raised, when stopping, or after the time. */
  async wait(limitMs: number): Promise<void> {
    if (!this.#isRaised && !this.#stopping.aborted && limitMs > 0) {
      this.#waiting = new AbortController();
      await this.#clock.sleep(limitMs, this.#waiting.signal);
      this.#waiting = undefined;
    }
    this.#isRaised = false;
  }
}

/** Lets one piece of asynchronous work run at a time, in the order in which it was asked for. */
export class Lock {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the work once everything before it is over; its failure is its caller's and nobody else's. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
