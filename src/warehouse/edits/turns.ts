import type { Mirror } from '../../core/mirror.ts';
import type { Slices } from '../../core/slices.ts';

/** So many records are taken over or decided about in one transaction. */
export const sliceMax = 250;

/** Transactions between which everything else gets its turn; the first is at once. */
export class Turns {
  count = 0;
  readonly #mirror: Mirror;

  constructor(mirror: Mirror) {
    this.#mirror = mirror;
  }

  /** A transaction that fails for lack of room may do its work twice. */
  *take(work: () => void): Slices<void> {
    if (this.count > 0) yield;
    this.count += 1;
    this.#mirror.expectRoom();
    this.#mirror.transaction(work);
  }

  *takeAll<Item>(items: readonly Item[], work: (some: readonly Item[], rest: number) => void): Slices<void> {
    for (let start = 0; start < items.length; start += sliceMax) {
      const some = items.slice(start, start + sliceMax);
      yield* this.take(() => work(some, items.length - start - some.length));
    }
  }
}
