import type { Sample } from '../core/reading/samples.ts';

/**
 * Keeps how long changes took at most from one side to the other, the longest until somebody takes it. When a change was made nobody knows:
 * it counts from the last look that did not have it.
 */
export class LagMeter {
  #longest: { crm?: number; table?: number } = {};
  /** Told of every measurement: the side that was written, and how long the change took at most to get there. */
  onLag: (to: string, durationMs: number) => void = () => {};

  /** `to` is `crm`, or the name of a side. */
  note(to: string, durationMs: number): void {
    this.onLag(to, durationMs);
    const end = to === 'crm' ? 'crm' : 'table';
    this.#longest[end] = Math.max(durationMs, this.#longest[end] ?? 0);
  }

  /** The longest since this was asked last; what did not happen is absent. */
  takeLongest(): Pick<Sample, 'toCrmMs' | 'toTableMs'> {
    const { crm: toCrmMs, table: toTableMs } = this.#longest;
    this.#longest = {};
    return { toCrmMs, toTableMs };
  }
}
