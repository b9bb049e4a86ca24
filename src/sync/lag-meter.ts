import type { Sample } from '../core/reading/samples.ts';

/**
 * Keeps how long changes took at most from one side to the other, the longest until somebody takes it. When a change was made nobody knows:
 * it counts from the last look that did not have it.
 */
export class LagMeter {
  #longest: { crm?: number; table?: number } = {};
  /** Told of every measurement: the side that was written, and how long the change took at most to get there. */
  onLag: (side: 'crm' | 'table', durationMs: number) => void = () => {};

  note(side: 'crm' | 'table', durationMs: number): void {
    this.onLag(side, durationMs);
    this.#longest[side] = Math.max(durationMs, this.#longest[side] ?? 0);
  }

  /** The longest since this was asked last; what did not happen is absent. */
  takeLongest(): Pick<Sample, 'toCrmMs' | 'toTableMs'> {
    const { crm: toCrmMs, table: toTableMs } = this.#longest;
    this.#longest = {};
    return { toCrmMs, toTableMs };
  }
}
