import { isSyncError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports.ts';
import type { Problems } from '../problems.ts';

/** After a refused key nothing is sent for so long; then one call finds out whether it is accepted again. */
const pauseMs = 60_000;

/** Knows when the CRM refused the key, so that everything that would send with it waits. */
export class KeyRefusal {
  /** Until when nothing is to be sent; monotonic ms. */
  until = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;
  readonly #problems: Problems;

  constructor(clock: Clock, problems: Problems) {
    this.#clock = clock;
    this.#problems = problems;
  }

  get isInForce(): boolean {
    return this.#clock.monotonicMs() < this.until;
  }

  /** Takes note of an error, which may be a refusal of the key. */
  note(error: unknown): void {
    if (!isSyncError(error, 'CRM_UNAUTHORIZED')) return;
    this.#problems.begin('crm', error);
    this.until = this.#clock.monotonicMs() + pauseMs;
  }

  /** The CRM answered: the key is accepted. */
  end(): void {
    this.#problems.end('crm');
  }
}
