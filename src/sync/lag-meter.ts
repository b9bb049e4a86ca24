import type { Sample } from '../core/samples.ts';
import type { CycleResult } from './cycle.ts';

/**
 * Measures how long changes take at most from one side to the other, and keeps the longest until somebody takes it. When a change was made
 * nobody knows: it counts from the last look that did not have it.
 */
export class LagMeter {
  /** Since when the oldest change in the CRM may have been there that no cycle has taken up yet. */
  #newsAt: number | undefined;
  #toCrmMs: number | undefined;
  #toTableMs: number | undefined;
  /** Told of every measurement: the side that was written, and how long the change took at most to get there. */
  onLag: (side: 'crm' | 'table', durationMs: number) => void = () => {};

  /** A change in the CRM was read that the look before did not have; that one was then, epoch ms. */
  noteNews(at: number | undefined): void {
    if (at !== undefined) this.#newsAt = Math.min(at, this.#newsAt ?? at);
  }

  /** A cycle takes up all changes that were read by now. Returns since when the oldest of them may have been there. */
  takeNews(): number | undefined {
    const newsAt = this.#newsAt;
    this.#newsAt = undefined;
    return newsAt;
  }

  /** What was read in the CRM is shown in the table now, or waits until the plan may be carried out. Times are epoch ms. */
  noteShown(newsAt: number | undefined, { applied, plan }: CycleResult, now: number): void {
    if (newsAt === undefined || plan.table.length === 0) return;
    if (applied === undefined) this.noteNews(newsAt);
    else this.#noteToTable(now - newsAt);
  }

  #noteToTable(durationMs: number): void {
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
    return {
      ...(toCrmMs === undefined ? {} : { toCrmMs }),
      ...(toTableMs === undefined ? {} : { toTableMs }),
    };
  }
}
