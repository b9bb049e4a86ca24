import type { Cell } from './cell.ts';
import type { TabKind } from './layout.ts';
import type { FieldName } from './value.ts';

/** A cell that a write reached by mistake. */
export interface DamagedCell {
  readonly written: Cell;
  readonly before: Cell;
}

/** What a misdirected write did to one row, because a user moved rows or columns between the read and the write planned from it. */
export interface Damage {
  readonly entity: TabKind;
  /**
   * `overwritten`: cells of a row that is not the write's own, or under other columns. `deleted`: a row that was not meant, or that a user
   * edited at that moment; `written` is empty in all of its cells. `added`: a new row of ours under other columns; `before` is empty.
   */
  readonly kind: 'overwritten' | 'deleted' | 'added';
  /** The ID cell of the row before the write: it says whose row it is. */
  readonly id: Cell;
  /** By field, and by their headers those of the ID and the Sync cell. */
  readonly cells: Readonly<Record<FieldName, DamagedCell>>;
  /** By the header of a column that is a user's own. */
  readonly own: Readonly<Record<string, DamagedCell>>;
}

/** A damage that deciding has to know of: what it may have changed is no evidence of what a user means. */
export interface Suspect {
  /** The run of the write, a point and a number. */
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  readonly damage: Damage;
  /**
   * `pending`: sent back, without a reply so far. `escalated`: it could not be undone, and a user is asked. `undone`: watched for some time,
   * because a user's own undo may bring it back.
   */
  readonly state: 'pending' | 'escalated' | 'undone';
  /** How many reads in a row showed nothing of it; of an escalated one alone. */
  readonly clearReads: number;
}

/** For how long after an undo a user's own undo may bring the damage back. */
export const watchMs = 180_000;
