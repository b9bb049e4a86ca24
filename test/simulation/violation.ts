/** One of the promises of the design was broken. */
export class Violation extends Error {
  readonly promise: string;

  constructor(promise: string, what: string) {
    super(`${promise}: ${what}`);
    this.promise = promise;
  }
}
