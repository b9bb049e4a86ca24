import { type ErrorCode, explainError, isSyncError } from '../core/errors.ts';
import type { Clock, Log } from '../core/ports.ts';
import type { Link } from './link.ts';

/** Something that does not work now. It goes away by itself when the same thing works again. */
export interface Problem {
  /** What does not work: `crm`, `sheet`, `queue`, `mirror`, a part of one such as `crm:lead`, a part of the daemon, or a record. */
  readonly source: string;
  readonly code: ErrorCode | 'UNEXPECTED';
  readonly message: string;
  /** Since when, epoch ms. */
  readonly since: number;
  readonly failures: number;
}

/** True if it is the mirror that fails, whatever was done with it. */
export const isOfMirror = (error: unknown): boolean => isSyncError(error) && error.code.startsWith('STATE_');

/** Keeps what does not work, and logs each beginning and each end once. */
export class Problems {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #namePlaces: (words: string) => string;
  readonly #open = new Map<string, Problem>();
  /** Failures since the start, by their code. */
  readonly counts = new Map<Problem['code'], number>();

  constructor({ clock, log, namePlaces = (words) => words }: Pick<Link, 'clock' | 'log' | 'namePlaces'>) {
    this.#clock = clock;
    this.#log = log;
    this.#namePlaces = namePlaces;
  }

  /** Notes a failure; answers how often in a row it failed. */
  begin(source: string, error: unknown): number {
    const before = this.#open.get(source);
    const code = isSyncError(error) ? error.code : 'UNEXPECTED';
    const message = this.#namePlaces(explainError(error));
    this.count(code);
    const failures = (before?.failures ?? 0) + 1;
    this.#open.set(source, { source, code, message, since: before?.since ?? this.#clock.now(), failures });
    if (before?.code !== code) {
      const stack = isSyncError(error) || !(error instanceof Error) ? undefined : error.stack;
      this.#log.error('problem.began', { source, code, message, ...(stack ? { stack } : {}) });
    }
    return failures;
  }

  /** Counts a failure alone, which is told elsewhere: that of a step stands beside its row. */
  count(code: Problem['code']): void {
    this.counts.set(code, (this.counts.get(code) ?? 0) + 1);
  }

  end(source: string): void {
    const before = this.#open.get(source);
    if (!before) return;
    this.#open.delete(source);
    const { code, since } = before;
    this.#log.info('problem.ended', { source, code, lastedMs: this.#clock.now() - since });
  }

  list(): Problem[] {
    return [...this.#open.values()];
  }
}

/** Since when each question waits, by scope. Tells in the log which of them are new, and which wait no more. */
export function noteAsked(
  log: Log,
  before: ReadonlyMap<string, number>,
  questions: readonly { readonly scope: string }[],
  now: number,
): ReadonlyMap<string, number> {
  const asked = new Map(questions.map(({ scope }) => [scope, before.get(scope) ?? now]));
  for (const scope of asked.keys()) if (!before.has(scope)) log.info('question.asked', { scope });
  for (const scope of before.keys()) if (!asked.has(scope)) log.info('question.ended', { scope });
  return asked;
}
