import type { Cell } from './cell.ts';
import type { TabKind } from './layout.ts';
import type { Entity } from './record.ts';
import type { FieldName } from './value.ts';

/** One row as it was read. */
export interface ObservedRow {
  /** Place in the tab at the time of the read: zero-based grid row. Good for the write that follows at once, and no longer. */
  readonly position: number;
  readonly id: Cell;
  readonly sync: Cell;
  /** Managed cells by field; a field whose column is missing is absent. */
  readonly cells: Readonly<Record<FieldName, Cell>>;
  /** A person ticked it in the column that pauses rows. */
  readonly isPaused?: true;
}

/** A tab as it was read, or why it can not be used: then nothing may be concluded from it. */
export type ObservedTab =
  | {
      readonly state: 'read';
      readonly rows: readonly ObservedRow[];
      /** Fields whose column was found, and is not filled by an array formula: those that a new row can hold. */
      readonly fields: ReadonlySet<FieldName>;
      /** Whether the Sync column was found. */
      readonly hasSync: boolean;
      /** What stands above every managed column; absent where that is what the layout says. */
      readonly headers?: Readonly<Record<FieldName, string>>;
      /** Fields whose column is new in the tab: its empty cells were not emptied by anybody. */
      readonly fresh?: ReadonlySet<FieldName>;
      /** Rows that can be added before the table is full; absent where it never is. */
      readonly room?: number;
    }
  | { readonly state: 'held'; readonly reason: string };

export interface ObservedTable {
  /** The tab of the questions is absent where the layout has none. */
  readonly tabs: Readonly<Record<Entity, ObservedTab>> & { readonly question?: ObservedTab };
  /** IANA time zone in which the table shows date-times. */
  readonly timeZone: string;
}

/** Cells to write in one row; only what differs. */
export interface RowCells {
  readonly id?: Cell;
  readonly sync?: Cell;
  readonly cells: Readonly<Record<FieldName, Cell>>;
}

/** One write to a row of the table. `idSeen` is the ID cell as it was read, checked in the reply of the write. */
export type RowStep =
  | ({
      readonly kind: 'set';
      readonly entity: TabKind;
      readonly position: number;
      readonly idSeen: Cell;
    } & RowCells)
  | ({ readonly kind: 'append'; readonly entity: TabKind } & RowCells)
  | { readonly kind: 'delete'; readonly entity: TabKind; readonly position: number; readonly idSeen: Cell };

export type SetStep = Extract<RowStep, { kind: 'set' }>;
export type DeleteStep = Extract<RowStep, { kind: 'delete' }>;

/** A set that reached another row, because rows moved between read and write. */
export interface MisplacedWrite {
  readonly step: SetStep;
  /** The ID cell that stands in the row that was written. */
  readonly idFound: Cell;
  /** What it replaced there, by field, where that could be seen. */
  readonly replaced?: Readonly<Record<FieldName, Cell>>;
}

/** A set that reached its row, and replaced what somebody typed there between read and write. */
export interface OvertypedWrite {
  readonly step: SetStep;
  readonly replaced: Readonly<Record<FieldName, Cell>>;
}

/** What the reply of an atomic write showed. Steps that are named nowhere in it are confirmed. */
export interface WriteReceipt {
  readonly misplaced: readonly MisplacedWrite[];
  /** Deletes that took another row: their own still stands. */
  readonly astray: readonly DeleteStep[];
  readonly overtyped: readonly OvertypedWrite[];
}
