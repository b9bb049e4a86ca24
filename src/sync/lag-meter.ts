import type { Sample } from '../core/reading/samples.ts';

/**
 * Keeps how long changes took at most from one side to the other, the longest until somebody takes it. When a change was made nobody knows:
 * it counts from the last look that did not have it.
 */
export class LagMeter {
  #toCrmMs: number | undefined;
  #toTableMs: number | undefined;
  /** Told of every measurement: the side that was written, and how long the change took at most to get there. */
  onLag: (side: 'crm' | 'table', durationMs: number) => void = () => {};

  noteToTable(durationMs: number): void {
    this.onLag('table', durationMs);
    this.#toTableMs = Math.max(durationMs, this.#toTableMs ?? 0);
  }

  noteToCrm(durationMs: number): void {
    this.onLag('crm', durationMs);
    this.#toCrmMs = Math.max(durationMs, this.#toCrmMs ?? 0);
  }

  /** The longest since this was asked last; what did not happen is absent. */
  takeLongest(): Pick<Sample, 'toCrmMs' | 'toTableMs'> {
    const [toCrmMs, toTableMs] = [this.#toCrmMs, this.#toTableMs];
    [this.#toCrmMs, this.#toTableMs] = [undefined, undefined];
    return { toCrmMs, toTableMs };
  }
}
