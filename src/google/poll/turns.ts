import type { Clock } from '../../core/ports.ts';
import { isTooMuch } from '../errors.ts';
import type { Grid } from '../grid.ts';
import { firstPace, rowsMin, slowDown, speedUp } from '../read-pace.ts';
import type { Origins } from './changed-rows.ts';
import type { RowSpan } from './mend.ts';
import type { Spans } from './row-requests.ts';

/** Rows are read in full in at least so many turns. */
const turnsMin = 20;
/** The answer of a turn is parsed in one go, and all else waits for that. */
const turnRowsMax = 1_000;
/** For so long after a change turns are put off: its user waits for each look until it is at the other side. */
const putOffMs = 15_000;
/** A turn may come so much early: looks are about as far apart as turns, and to wait for the next one would be late. */
const earlyShare = 0.1;

/** A row of the tab with this numeric id; of the first tab where it is absent. */
interface Place {
  readonly sheetId: number | undefined;
  readonly row: number;
}

const top: Place = { sheetId: undefined, row: 0 };

/** Where rows were before that a look found moved, by the numeric id of their tab. */
export type MovedRows = ReadonlyMap<number, Origins>;

/** Rows that are to be read in full. */
export interface Turn {
  readonly spans: Spans;
  /** Where the turn after this one begins. */
  readonly next: Place;
  /** When it was due, monotonic ms. */
  readonly at: number;
}

/** Gives all rows of some tabs their turn to be read in full, one tab after the other. */
export class Turns {
  readonly #clock: Clock;
  readonly #fullReadMs: number;
  /** How small the turns are. */
  #pace = firstPace;
  #takenAt = Number.NEGATIVE_INFINITY;
  #newsAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #next = top;

  /** In `fullReadMs` every row has its turn once. */
  constructor(clock: Clock, fullReadMs: number) {
    this.#clock = clock;
    this.#fullReadMs = fullReadMs;
  }

  /** Begins anew: all rows were read just now. */
  start(): void {
    this.#takenAt = this.#clock.monotonicMs();
    this.#next = top;
  }

  /**
   * Returns the turn that is due, in rows as they are now; `undefined` where none is. While a change is on its way a turn waits, for
   * a tenth of `fullReadMs` at most. Then, and where looks are rare, it brings up to twice as many rows. After one that failed, and with it the
   * look that asked for it, there is none for that long. `hasNews` says that something new was polled or is about to be written.
   */
  due(grids: readonly Grid[], moved: MovedRows, hasNews: boolean): Turn | undefined {
    const at = this.#clock.monotonicMs();
    if (hasNews) this.#newsAt = at;
    const putOffShareMax = 2 / turnsMin;
    if (at - this.#failedAt < putOffShareMax * this.#fullReadMs) return undefined;
    const all = countRows(grids);
    const { failures, halvings } = this.#pace;
    const rows = Math.max(rowsMin, Math.ceil(rowsOfTurn(grids) / 2 ** halvings));
    const isSlow = failures + halvings > 0;
    const share = (at - this.#takenAt) / this.#fullReadMs;
    const isPutOff = !isSlow && at - this.#newsAt < putOffMs;
    const shareMin = isPutOff ? putOffShareMax : Math.min(1 / turnsMin, rows / all);
    if (share < shareMin * (1 - earlyShare)) return undefined;
    const wanted = Math.max(rows, Math.min(isSlow ? rows : 2 * rows, Math.ceil(share * all)));
    return { at, ...takeRows(grids, placeAfter(this.#next, moved), Math.min(wanted, all)) };
  }

  /** Does the request of a turn. Where Google has no answer again and again, the next turns ask for less. */
  async read<Answer>(grids: readonly Grid[], ask: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await ask();
      this.#pace = speedUp(this.#pace);
      return answer;
    } catch (error) {
      this.#failedAt = this.#clock.monotonicMs();
      if (isTooMuch(error)) this.#pace = slowDown(this.#pace, rowsOfTurn(grids));
      throw error;
    }
  }

  /** The turn was taken. */
  end({ at, next }: Turn): void {
    this.#takenAt = at;
    this.#next = next;
  }

  /** Rows moved in a look without a turn. */
  move(moved: MovedRows): void {
    this.#next = placeAfter(this.#next, moved);
  }
}

/** The same row where it is now, or the first one that was below it. */
function placeAfter(place: Place, moved: MovedRows): Place {
  const { row, sheetId } = place;
  const found = sheetId === undefined ? undefined : moved.get(sheetId)?.findIndex((origin) => origin >= row);
  return found === undefined || found < 0 ? place : { sheetId, row: found };
}

/** The rows of a tab that have a turn: the last ones go on to where a user may have written below. */
const heightOf = ({ rowCount, rows }: Grid): number => Math.min(rowCount, rows.length + rowsMin);

const countRows = (grids: readonly Grid[]): number => grids.reduce((sum, grid) => sum + heightOf(grid), 0);

const rowsOfTurn = (grids: readonly Grid[]): number => Math.min(turnRowsMax, countRows(grids) / turnsMin);

/** So many rows from a place on, in one tab after the other, and with the first tab again behind the last. */
function takeRows(
  grids: readonly Grid[],
  { row, sheetId }: Place,
  count: number,
): Pick<Turn, 'next' | 'spans'> {
  const found = grids.findIndex((grid) => grid.sheetId === sheetId);
  const first = Math.max(0, found);
  const inOrder = [...grids.slice(first), ...grids.slice(0, first + 1)];
  const spans = new Map<number, RowSpan[]>();
  let [from, left] = [found < 0 ? 0 : row, count];
  for (const grid of inOrder) {
    const end = Math.min(heightOf(grid), from + left);
    if (end > from) spans.set(grid.sheetId, [...(spans.get(grid.sheetId) ?? []), { from, end }]);
    left -= Math.max(0, end - from);
    if (left === 0) return { spans, next: { sheetId: grid.sheetId, row: end } };
    from = 0;
  }
  return { spans, next: top };
}
