import type { Suspect } from '../../src/sheet/port/damage.ts';
import { Violation } from './violation.ts';

/** How misdirected writes ended, by how many accidents they met. */
export interface AccidentCounts {
  oneUndone: number;
  oneAsked: number;
  moreUndone: number;
  moreAsked: number;
}

/**
 * Counts what happens between the look that a write was planned from and its end: a user who acts in the spreadsheet, a request or a reply
 * that is lost or late, the end of the process. With one of these a write ends without a question.
 */
export class Accidents {
  readonly counts: AccidentCounts = { oneUndone: 0, oneAsked: 0, moreUndone: 0, moreAsked: 0 };
  readonly #nextMoment: () => number;
  readonly #moments: number[] = [];
  /** When each write landed, with the moment of the look that it came from. */
  readonly #landings: { readonly lookedAt: number; readonly landedAt: number }[] = [];
  /** By the run of each write, the moment of the look that it was planned from. */
  readonly #looks = new Map<string, number>();
  readonly #known = new Set<string>();

  constructor(nextMoment: () => number) {
    this.#nextMoment = nextMoment;
  }

  note(): void {
    this.#moments.push(this.#nextMoment());
  }

  /** For a write that was planned meanwhile that is an accident, where it is late: it meets other rows than it was planned for. */
  noteLanded(lookedAt: number): void {
    this.#landings.push({ lookedAt, landedAt: this.#nextMoment() });
  }

  noteSent(run: string | undefined, lookedAt: number): void {
    if (run !== undefined && !isInverse(run)) this.#looks.set(run, lookedAt);
  }

  /** Takes note of what a write did to another row. Returns what is wrong with how it ended. */
  judge({ id, state }: Suspect): Violation | undefined {
    const lookedAt = this.#looks.get(id.slice(0, id.lastIndexOf('.')));
    if (this.#known.has(id) || lookedAt === undefined) return undefined;
    this.#known.add(id);
    const late = this.#landings.filter(
      (landing) => landing.lookedAt < lookedAt && landing.landedAt > lookedAt,
    ).length;
    const accidents = this.#moments.filter((moment) => moment > lookedAt).length + late;
    const isAsked = state === 'escalated';
    this.counts[`${accidents <= 1 ? 'one' : 'more'}${isAsked ? 'Asked' : 'Undone'}`] += 1;
    return isAsked && accidents <= 1
      ? new Violation('S2', `a write that met one accident ended in a question: ${id}`)
      : undefined;
  }
}

/** The run that a batch has marked its rows of the hidden tab with. */
export function runOf(requests: readonly object[]): string | undefined {
  const found = /"stringValue":"(\d{12}~*)"/.exec(JSON.stringify(requests));
  return found?.[1];
}

/** Whether the run is that of a batch which undoes another one. */
export const isInverse = (run: string | undefined): boolean => run?.endsWith('~') ?? false;
