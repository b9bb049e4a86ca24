/** So many timers in a row have to be late: one long gap, as of a machine that slept, is nothing to tell. */
const looksMin = 15;

/** How late timers of a process come. All of them are late while it computes for long, or gets too little of its machine. */
export class TimerLag {
  #latestMs: readonly number[] = [];

  /** A timer came so much later than it was due. */
  note(lateMs: number): void {
    this.#latestMs = [...this.#latestMs, lateMs].slice(-looksMin);
  }

  /** By how much all of the last timers were late at least; 0 before there were enough of them. */
  get steadyMs(): number {
    return this.#latestMs.length < looksMin ? 0 : Math.min(...this.#latestMs);
  }
}
