import process from 'node:process';
import { clearLine, cursorTo } from 'node:readline';

/** How far a piece of work has come; times are epoch ms. */
export interface WorkDone {
  readonly done: number;
  readonly total?: number | undefined;
  readonly startedAt: number;
  /** Absent while nobody can tell. */
  readonly endsAt?: number | undefined;
}

const barWidth = 24;

/** One line: a bar, what is done of what there is, how much in a second, and when it ends. */
export function describeWork({ done, endsAt, startedAt, total = 0 }: WorkDone, now: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 0;
  const bar = '#'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '.');
  const rate = Math.round((done * 1_000) / Math.max(1, now - startedAt));
  const end = endsAt === undefined ? '' : `, until ${new Date(endsAt).toLocaleTimeString('en-GB')}`;
  return `[${bar}] ${done}${total > 0 ? ` of ${total}` : ''} records, ${rate} a second${end}`;
}

/** Shows work as it goes on: in a terminal one line that changes, else a line for each further tenth of what there is. It leaves stdout to the result. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream = process.stderr;
  #tenth = 0;

  show(work: WorkDone): void {
    const line = describeWork(work, Date.now());
    if (this.#stream.isTTY) {
      cursorTo(this.#stream, 0);
      this.#stream.write(line);
      clearLine(this.#stream, 1);
      return;
    }
    const { done, total = 0 } = work;
    const tenth = total > 0 ? Math.floor((10 * done) / total) : 0;
    if (tenth > this.#tenth) this.#stream.write(`${line}\n`);
    this.#tenth = Math.max(tenth, this.#tenth);
  }

  /** Takes the line away, for what is said next. */
  end(): void {
    if (!this.#stream.isTTY) return;
    cursorTo(this.#stream, 0);
    clearLine(this.#stream, 0);
  }
}
