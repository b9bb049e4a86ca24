import type { Cell } from './cell.ts';
import type { SyncError } from './errors.ts';
import type { Marks } from './instance.ts';
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

/** A row in which nothing but cells of people's own columns is filled. */
export interface OwnRow extends Pick<ObservedRow, 'position'> {
  /** From left to right. */
  readonly cells: readonly Cell[];
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
      /** They are no rows of records, but a write may have reached them by mistake; absent where a table has no such cells. */
      readonly ownRows?: readonly OwnRow[];
      /** A filter hides some of its rows. */
      readonly isFiltered?: true;
      /** Rows that can be added before the table is full; absent where it never is. */
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

/** Where the columns of a tab stood at some time, zero-based. Understood by the table alone. */
export interface ColumnPlaces {
  /** What stood above each column of the tab. */
  readonly headers: readonly string[];
  /** The columns of the managed fields that were there, and by their headers those of the ID and the Sync cell. */
  readonly columns: Readonly<Record<FieldName, number>>;
}

/** Where a table keeps a row that one of its writes reached, as it stood right before. Good until that write is over. */
export interface KeptPlace extends ColumnPlaces {
  /** Zero-based; absent where nothing stood: then giving back is emptying. */
  readonly row?: number;
  /** All cells of the row by their columns, also those that are not managed. */
  readonly cells: readonly Cell[];
}

/** A row as it stood right before a write reached it. Its formulas are not told as they were, because they were copied. */
export interface KeptRow extends Pick<ObservedRow, 'id' | 'sync' | 'cells'> {
  readonly place: KeptPlace;
}

/** A cell under a column that is not managed, counted as in {@link KeptPlace}. */
export interface OtherCell {
  readonly column: number;
  /** What was written there by mistake: where something else stands since, somebody typed it. */
  readonly written: Cell;
}

/**
 * One write to a row of the table. `idSeen` is the ID cell as it was read. With a place, the table gives back what it keeps there, with
 * all formulas, instead of writing the cells: in a set its cells and others, except where somebody has typed since; in an append the whole row.
 */
export type RowStep =
  | ({
      readonly kind: 'set';
      readonly entity: TabKind;
      readonly position: number;
      readonly idSeen: Cell;
      readonly place?: KeptPlace;
      readonly others?: readonly OtherCell[];
    } & RowCells)
  | ({ readonly kind: 'append'; readonly entity: TabKind; readonly place?: KeptPlace } & RowCells)
  | { readonly kind: 'delete'; readonly entity: TabKind; readonly position: number; readonly idSeen: Cell };

export type SetStep = Extract<RowStep, { kind: 'set' }>;
export type AppendStep = Extract<RowStep, { kind: 'append' }>;
export type DeleteStep = Extract<RowStep, { kind: 'delete' }>;

/** Whether a step adds the row of a record, which is not one that comes back. */
export const isNewRecord = (step: SetStep | AppendStep): step is AppendStep =>
  step.kind === 'append' && step.id !== undefined && step.place === undefined;

/**
 * Where a write keeps the rows that it reaches: a header row for each of {@link tabKinds}, whether the write reaches that tab or not, then one
 * row for each of {@link keptSteps}.
 */
export interface Keeping {
  /** Tells its rows from those of other writes. */
  readonly run: string;
  /** The first row that no write before it needs any more. */
  readonly from: number;
}

/** The steps of a write that reach a row which is there already, in the order in which their rows are kept. */
export const keptSteps = (steps: readonly RowStep[]): readonly (SetStep | DeleteStep)[] => [
  ...steps.filter((step) => step.kind === 'set'),
  ...steps.filter((step) => step.kind === 'delete'),
];

/**
 * The steps of a write by their numbers: those that reach a row which is there already from 0 on, in the order in which their rows are
 * kept, and new rows from -1 down.
 */
export const numberSteps = (steps: readonly RowStep[]): ReadonlyMap<number, RowStep> =>
  new Map<number, RowStep>([
    ...keptSteps(steps).entries(),
    ...steps.filter((step) => step.kind === 'append').map((step, index) => [-1 - index, step] as const),
  ]);

/** What a step did where columns had moved: what it put under others than its own. */
export interface Hit extends RowCells {
  readonly others: readonly OtherCell[];
  /** What did not reach its column: fields, and the ID and the Sync cell by their headers. */
  readonly strayed: readonly FieldName[];
  /** The ID that it put where it belongs. */
  readonly ownId?: Cell;
  /** The columns as the step met them, without a kept row. It has cells only where a new row has to be written anew: as they were meant. */
  readonly place: KeptPlace;
}

/** What the table does not accept of a write. */
export interface WriteRefusal {
  readonly error: SyncError;
  /** Steps that have not landed, and never will. */
  readonly steps: ReadonlySet<RowStep>;
}

/** What a write did, as it was kept in the same moment, by the numbers of its steps. */
export interface WriteReply {
  /** The rows that it reached. */
  readonly rows: ReadonlyMap<number, KeptRow>;
  /** Sets and appends whose columns had moved. */
  readonly hits: ReadonlyMap<number, Hit>;
  /** Absent where all of it was accepted. */
  readonly refusal?: WriteRefusal;
}

/** What is to be known of a tab to understand later what a write did that was planned from it. */
export interface PlannedPlace extends ColumnPlaces {
  /** Rows that a filter hid; absent where it hid none. */
  readonly hiddenRows?: readonly number[];
}

/** Where the columns of the tabs stood when a write was planned. */
export type PlannedPlaces = Readonly<Partial<Record<TabKind, PlannedPlace>>>;

/** A write of whose reply nothing is known. */
export interface UnansweredSteps {
  readonly keeping: Keeping;
  readonly places: PlannedPlaces;
  /** By their numbers, as in {@link numberSteps}. */
  readonly steps: ReadonlyMap<number, RowStep>;
}
