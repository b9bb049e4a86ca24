import process from 'node:process';
import { clearLine, cursorTo } from 'node:readline';

/** How far a piece of work has come; times are epoch ms. */
export interface WorkDone {
  /** What it is, in front of the bar. */
  readonly name?: string | undefined;
  readonly done: number;
  readonly total?: number | undefined;
  /** What is counted; records where absent. */
  readonly unit?: string;
  readonly startedAt: number;
  /** What was done before that; nothing where absent. */
  readonly doneBefore?: number;
  /** Absent while nobody can tell. */
  readonly endsAt?: number | undefined;
}

const barWidth = 24;

/** One line: a bar, what is done of what there is, how much in a second, and when it ends; no bar where nobody knows how much there is. */
export function describeWork(work: WorkDone, now: number): string {
  const { done, doneBefore = 0, endsAt, name, startedAt, total = 0, unit = 'records' } = work;
  const share = total > 0 ? Math.min(1, done / total) : 0;
  const bar = total > 0 ? `[${'#'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '.')}] ` : '';
  const rate = ((done - doneBefore) * 1_000) / Math.max(1, now - startedAt);
  const shownRate = rate < 10 ? rate.toFixed(1) : Math.round(rate);
  const end = endsAt === undefined ? '' : `, until ${new Date(endsAt).toLocaleTimeString('en-GB')}`;
  const head = name === undefined ? '' : `${name}${bar === '' ? ':' : ''} `;
  return `${head}${bar}${done}${total > 0 ? ` of ${total}` : ''} ${unit}, ${shownRate} a second${end}`;
}

/**
 * Shows work as it goes on: in a terminal one line that changes, else a line for each further tenth of what there is. It leaves stdout to
 * the result.
 */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream;
  /** The tenth that was shown last, of the work of that name. */
  #told: { readonly name?: string | undefined; readonly tenth: number } = { tenth: 0 };
  #shown: WorkDone | undefined;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  show(work: WorkDone): void {
    const line = describeWork(work, Date.now());
    this.#shown = work;
    if (this.isInPlace) {
      cursorTo(this.#stream, 0);
      this.#stream.write(line);
      clearLine(this.#stream, 1);
      return;
    }
    const { done, name, total = 0 } = work;
    const tenth = total > 0 ? Math.floor((10 * done) / total) : 0;
    const before = this.#told.name === name ? this.#told.tenth : 0;
    if (tenth > before) this.#stream.write(`${line}\n`);
    this.#told = { name, tenth: Math.max(tenth, before) };
  }

  /** Whether it is one line that changes. */
  get isInPlace(): boolean {
    return this.#stream.isTTY;
  }

  /** Lets something be said above the line. */
  above(say: () => void): void {
    const work = this.#shown;
    this.end();
    say();
    if (this.isInPlace && work) this.show(work);
  }

  /** Takes the line away, for what is said next. */
  end(): void {
    const isShown = this.#shown !== undefined;
    this.#shown = undefined;
    if (!this.isInPlace || !isShown) return;
    cursorTo(this.#stream, 0);
    clearLine(this.#stream, 0);
  }
}
