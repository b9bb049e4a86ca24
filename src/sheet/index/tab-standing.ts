import type { RecordId } from '../../core/record.ts';
import { describeCell } from '../port/cell.ts';
import type { ObservedRow } from '../port/table.ts';
import { compareRows } from './row-changes.ts';

/** A row that shows what its record has, so that nothing is to be done about either. */
export interface InStep {
  readonly id: RecordId;
  readonly row: ObservedRow;
  /** Until when that holds although nothing changes, epoch ms. */
  readonly until: number;
}

/** The rows that are only behind: those whose turn it is, and those that are to be written later. */
export interface Behind {
  readonly inTurn: readonly Pick<InStep, 'id' | 'until'>[];
  readonly later: readonly InStep[];
}

/**
 * The records and the rows of a tab, each either in step, or outside, or loose. Nothing follows from the first two, whatever becomes of others:
 * they are loosened as soon as something changes that they depend on, and all that is loose is decided. Where very many rows are behind, all but
 * the first pass for rows in step.
 */
export class TabStanding {
  #rows: readonly ObservedRow[] = [];
  readonly #inStep = new Map<RecordId, ObservedRow>();
  readonly #until = new Map<RecordId, number>();
  readonly #looseRows = new Set<ObservedRow>();
  readonly #looseIds = new Set<RecordId>();
  readonly #outside = new Set<RecordId>();
  /** Those of the rows in step that are behind, and wait for their turn. */
  readonly #waiting = new Set<RecordId>();
  /** Those of the loose rows that are behind, and whose turn it is, with until when that holds. */
  readonly #inTurn = new Map<RecordId, number>();

  get inStep(): ReadonlyMap<RecordId, ObservedRow> {
    return this.#inStep;
  }

  get waiting(): ReadonlySet<RecordId> {
    return this.#waiting;
  }

  /** The ids of the records that have no row, and are to have none until something about them changes. */
  get outside(): ReadonlySet<RecordId> {
    return this.#outside;
  }

  /** The ids of all other records and agreements that are not in step. */
  get looseIds(): ReadonlySet<RecordId> {
    return this.#looseIds;
  }

  get looseCount(): number {
    return this.#looseRows.size;
  }

  /** From top to bottom. */
  looseRows(): ObservedRow[] {
    return [...this.#looseRows].toSorted((one, other) => one.position - other.position);
  }

  /** Takes over what a read shows. Returns whether it is another than before. */
  update(rows: readonly ObservedRow[]): boolean {
    if (rows === this.#rows) return false;
    const { added, moved, removed } = compareRows(this.#rows, rows);
    this.#rows = rows;
    for (const row of removed) {
      this.#inTurn.delete(describeCell(row.id));
      if (!this.#looseRows.delete(row)) this.loosen(describeCell(row.id));
      this.#looseRows.delete(row);
    }
    // Others may be above them now.
    if (moved.length > 0) this.#inTurn.clear();
    const isLoose = moved.map(([before]) => this.#looseRows.has(before));
    // A row may be where another one was that holds the same.
    for (const [before] of moved) this.#looseRows.delete(before);
    for (const [place, [, row]] of moved.entries()) {
      if (isLoose[place]) this.#looseRows.add(row);
      else this.#inStep.set(describeCell(row.id), row);
    }
    for (const row of added) {
      this.loosen(describeCell(row.id));
      this.#looseRows.add(row);
    }
    return added.length + moved.length + removed.length > 0;
  }

  /** Something about the record changed, or about what its row depends on. */
  loosen(id: RecordId): void {
    this.#inTurn.delete(id);
    if (this.#outside.delete(id)) this.#looseIds.add(id);
    const row = this.#inStep.get(id);
    if (!row) return;
    this.#inStep.delete(id);
    this.#until.delete(id);
    this.#waiting.delete(id);
    this.#looseRows.add(row);
    this.#looseIds.add(id);
  }

  /** A record or an agreement that was not known before. */
  add(id: RecordId): void {
    if (!this.#inStep.has(id)) this.#looseIds.add(id);
  }

  /** Neither a record nor an agreement is left. */
  drop(id: RecordId): void {
    this.loosen(id);
    this.#looseIds.delete(id);
  }

  loosenAll(): void {
    for (const id of [...this.#inStep.keys(), ...this.#outside]) this.loosen(id);
  }

  /** Loosens what was in step for some time only, and ends turns that were for some time only. Returns whether there was any. */
  loosenOver(now: number): boolean {
    const over = [...this.#until].flatMap(([id, until]) => (until <= now ? [id] : []));
    for (const id of over) this.loosen(id);
    const past = [...this.#inTurn].filter(([, until]) => until <= now);
    for (const [id] of past) this.#inTurn.delete(id);
    return over.length + past.length > 0;
  }

  /** Takes note of rows that are only behind. Nothing follows from those that wait until their turn, as from rows in step. */
  noteBehind({ inTurn, later }: Behind): void {
    this.#inTurn.clear();
    for (const { id, until } of inTurn) if (!this.#inStep.has(id)) this.#inTurn.set(id, until);
    for (const each of later) {
      this.note(each);
      if (this.#inStep.get(each.id) === each.row) this.#waiting.add(each.id);
    }
  }

  /** Loosens the first of the rows that are behind, from top to bottom, in place of those whose turn is over. Returns whether there were any. */
  loosenBehind(count: number): boolean {
    const room = count - this.#inTurn.size;
    if (this.#waiting.size === 0 || room <= 0) return false;
    const placeOf = (id: RecordId) => this.#inStep.get(id)?.position ?? 0;
    const ids = [...this.#waiting].toSorted((one, other) => placeOf(one) - placeOf(other)).slice(0, room);
    for (const id of ids) {
      const until = this.#until.get(id) ?? Number.POSITIVE_INFINITY;
      this.loosen(id);
      this.#inTurn.set(id, until);
    }
    return true;
  }

  noteOutside(id: RecordId): void {
    if (this.#looseIds.delete(id)) this.#outside.add(id);
  }

  note({ id, row, until }: InStep): void {
    if (!this.#looseRows.delete(row)) return;
    this.#looseIds.delete(id);
    this.#inStep.set(id, row);
    if (until < Number.POSITIVE_INFINITY) this.#until.set(id, until);
  }
}
