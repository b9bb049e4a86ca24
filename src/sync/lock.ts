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
