import type { SyncError } from '../../core/errors.ts';
import type { Receipt } from '../../core/open-write.ts';
import type { Entity } from '../../core/record.ts';
import type { FieldName } from '../../core/value.ts';
import { type Cell, isUnfilled } from './cell.ts';
import type { Damage } from './damage.ts';
import type { Marks } from './instance.ts';
import type { TabKind } from './layout.ts';

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
  /** Users wrote something into a column of their own; what a formula shows there is not that. */
  readonly hasOwn?: true;
}

/** A tab as it was read, or why it can not be used: then nothing may be concluded from it. */
export type ObservedTab =
  | {
      readonly state: 'read';
      /** Tells the tab from every other one of the table, also from a copy under its title; absent where tabs are never exchanged. */
      readonly identity?: string;
      readonly rows: readonly ObservedRow[];
      /** Fields whose column was found, and is not filled by an array formula: those that a new row can hold. */
      readonly fields: ReadonlySet<FieldName>;
      /** Fields whose column has a type, which decides how its cells look; absent where columns have none. */
      readonly typed?: ReadonlySet<FieldName>;
      /**
       * Fields whose column a person made one of checkboxes, now or before, by converting the tab to a table of Google's own: that fills all
       * empty cells with FALSE, which stay when it is plain rows again. Absent where there are none.
       */
      readonly boxed?: ReadonlySet<FieldName>;
      /** Whether the Sync column was found. */
      readonly hasSync: boolean;
      /** What stands above every managed column, also above the one that pauses rows; absent where that is what the layout says. */
      readonly headers?: Readonly<Record<FieldName, string>>;
      /** Letters of the columns that are called like a field that has none, and are not its own. */
      readonly namesakes?: Readonly<Record<FieldName, string>>;
      /** Fields whose column is new in the tab, so that nobody has emptied its empty cells: it does not carry the mark of its field yet. */
      readonly fresh?: ReadonlySet<FieldName>;
      /** Rows that can be added before the table is full, if no other tab grows; absent where it never is. */
      readonly room?: number;
    }
  | {
      readonly state: 'held';
      readonly reason: string;
      /** There is no such tab. */
      readonly isAbsent?: true;
    };

/** A tab that can be used. */
export type ReadTab = Extract<ObservedTab, { state: 'read' }>;

export interface ObservedTable {
  /** The tab of the questions is absent where the layout has none. */
  readonly tabs: Readonly<Record<Entity, ObservedTab>> & { readonly question?: ObservedTab };
  /** IANA time zone in which the table shows date-times. */
  readonly timeZone: string;
  /** The run of the write of records that the table saw last; absent where it does not say. */
  readonly lastWrite?: string;
  /** Who keeps it, and who waits to; absent where no mark can be left, because nothing can be written there or the table has no place for one. */
  readonly marks?: Marks;
}

/** Cells to write in one row; only what differs. */
export interface RowCells {
  readonly id?: Cell;
  readonly sync?: Cell;
  readonly cells: Readonly<Record<FieldName, Cell>>;
}

/** The labels of a dropdown that is in one cell of a row. */
export interface RowChoices {
  readonly field: FieldName;
  readonly labels: readonly string[];
}

/** Cells of a row under columns that are users' own, by header. */
export type OwnCells = Readonly<Record<string, Cell>>;

/**
 * One write to a row of the table. `idSeen` is the ID cell as it was read. `own` gives back cells under users' own columns, by header, where the row
 * still shows what a write of ours put there.
 */
export type RowStep =
  | ({
      readonly kind: 'set';
      readonly entity: TabKind;
      readonly position: number;
      readonly idSeen: Cell;
      readonly own?: Damage['own'];
    } & RowCells)
  | ({
      readonly kind: 'append';
      readonly entity: TabKind;
      readonly own?: Damage['own'];
      /** What the cell of a field offers in this row alone. */
      readonly choices?: RowChoices;
    } & RowCells)
  | {
      readonly kind: 'delete';
      readonly entity: TabKind;
      readonly position: number;
      readonly idSeen: Cell;
      /** It stays if users wrote into columns of their own since it was read. */
      readonly sparesOwn?: true;
    };

export type SetStep = Extract<RowStep, { kind: 'set' }>;
export type AppendStep = Extract<RowStep, { kind: 'append' }>;

/** What the table does not accept of a write. */
export interface WriteRefusal {
  readonly error: SyncError;
  /** Numbers of steps that have not landed, and never will. */
  readonly steps: ReadonlySet<number>;
}

/** What becomes known of a step that did what it should. */
export interface StepEnd {
  /** Fields that a user edited at the same moment. Their values are in their cells. */
  readonly edited: readonly FieldName[];
  /** What a deleted row had under users' own columns; absent for nothing. */
  readonly own?: OwnCells;
}

/** What became of a write. Steps are known by their numbers, which count from 0 in the order in which they were given. */
export interface WriteResult {
  /** Steps that are in none of these lists did nothing that lasts, and are planned again. */
  readonly done: ReadonlyMap<number, StepEnd>;
  /** What the write did to other rows, by how that ended. */
  readonly undone: readonly Damage[];
  readonly escalated: readonly Damage[];
  /** Sent back, without a reply so far. */
  readonly pending: readonly Damage[];
  /** Whether nothing is left to find out: else the receipt is kept and asked about again. */
  readonly isOver: boolean;
  /** What takes the place of the receipt once the above is noted; absent where it stays as it is. */
  readonly rest?: Receipt;
  /** Absent where all of it was accepted. */
  readonly refusal?: WriteRefusal;
}

/** Whether nothing is filled in a row, whatever its ID and its Sync cell say. */
export const isBlank = (row: ObservedRow): boolean => Object.values(row.cells).every(isUnfilled);
