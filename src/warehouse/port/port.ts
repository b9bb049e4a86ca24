import type { Entity } from '../../core/record.ts';
import type { Value } from '../../core/value.ts';
import type { TableLayout, WarehouseLayout } from './layout.ts';

/** A row's id as text: the CRM's whole number, of a contact its UUID. */
export type RowId = string;

/** What a row is to show, by column. A column that is absent keeps what it has: its field is not known now. */
export type RowValues = Readonly<Record<string, Value>>;

/** Who made a version: `crm`, `sheet`, `sql`, or `undo`. */
export type MadeBy = string;

/** A version of a record. Times are epoch ms. */
export interface RowVersion {
  readonly id: RowId;
  readonly values: RowValues;
  /** When it was first seen. */
  readonly validFrom: number;
  /** When the one before it was last seen; absent where that is not known. */
  readonly validAfter?: number | undefined;
  readonly madeBy: MadeBy;
}

/** A version that is over. */
export interface PastVersion extends RowVersion {
  readonly validUntil: number;
  readonly ended: Ended;
}

/** How a version ended: by the next one, with its record, or in a way that the CRM does not say. */
export type Ended = 'changed' | 'trashed' | 'left_out';

/** What is to be written to one table. */
export interface TableBatch {
  readonly table: TableLayout;
  readonly rows: readonly RowVersion[];
  readonly past: readonly PastVersion[];
  /** Rows whose records are gone, with the time when that was found out, epoch ms. */
  readonly gone: readonly { readonly id: RowId; readonly at: number }[];
}

/** Reference data, as the CRM lists it now; what it lists no longer is retired. */
export interface References {
  readonly pipelines: readonly { readonly id: number; readonly name: string }[];
  readonly stages: readonly {
    readonly id: number;
    readonly pipelineId: number;
    readonly name: string;
    readonly position: number;
    readonly outcome: 'open' | 'won' | 'lost';
  }[];
  readonly leadStatuses: readonly { readonly name: string; readonly label: string }[];
  readonly taskStatuses: readonly { readonly id: number; readonly name: string }[];
  readonly taskPriorities: readonly { readonly id: number; readonly name: string }[];
  /** Those that the configuration names. */
  readonly userNames: readonly { readonly id: string; readonly name: string }[];
  readonly customFields: readonly {
    readonly key: string;
    readonly columnName: string;
    readonly name: string;
    readonly kind: string;
    readonly retiredAt?: string | undefined;
  }[];
  /** When this was read, epoch ms. */
  readonly at: number;
}

/** How fresh the rows of a table are. Times are epoch ms. */
export interface Freshness {
  readonly entity: Entity;
  /** When the last complete reading of the CRM's list began: all older facts are known. Absent before the first. */
  readonly listReadAt?: number | undefined;
  /** How many records the CRM has, as far as it was read. */
  readonly records: number;
  readonly rows: number;
  /** When the record was last seen that was not for the longest. */
  readonly oldestSeenAt?: number | undefined;
  readonly state: 'filling' | 'fresh' | 'late' | 'held';
  /** What is the matter, in a sentence; empty for nothing. */
  readonly note: string;
  readonly at: number;
}

/** One write transaction. */
export interface WriteBatch {
  /** The number of the run before, as it was acknowledged: with any other the database is not as it was left. */
  readonly after: number;
  /** Parents first. At most 1,000 rows in all, so that no user waits long for its locks. */
  readonly tables: readonly TableBatch[];
  /** Absent where they are as they were written last. */
  readonly references?: References | undefined;
  /** Absent where they are as they were written last. */
  readonly questions?: Questions | undefined;
  /** Absent where nothing was decided about edits: rows with open ones are left then. */
  readonly edits?: DecidedEdits | undefined;
  /** Absent where none is to be deleted now. */
  readonly oldEdits?: OldEdits | undefined;
}

/** Edits that are deleted because they have been over for long, by the clock of the database. */
export interface OldEdits {
  readonly days: number;
  /** Of those that inserted a row, in place of `days`. */
  readonly insertDays: number;
  /** At most so many, those that were over first. */
  readonly limit: number;
}

/** All that waits for users. */
export interface Questions {
  readonly asked: readonly AskedQuestion[];
  /** Questions whose answers were taken: these are empty again. */
  readonly taken: readonly string[];
}

export interface AskedQuestion {
  readonly scope: string;
  readonly entity: string;
  /** Empty where it is about many rows. */
  readonly id: RowId | '';
  readonly what: string;
  readonly answers: readonly string[];
}

/** What a batch was decided from, where users edit. */
export interface DecidedEdits {
  /** The open edits of the rows of the batch that were known, by name. A row that has any other is left: it shows what nobody has decided about. */
  readonly known: readonly string[];
  readonly outcomes: readonly EditOutcome[];
  /** Rows that were inserted and have a record now: they get its id, and so do the rows that point to them. Where one is left, its outcome is not noted. */
  readonly renames: readonly Rename[];
}

/** A row that gets the id of its record. */
export interface Rename {
  readonly editId: string;
  readonly entity: Entity;
  readonly from: RowId;
  readonly to: RowId;
}

/** What came of an edit. */
export interface EditOutcome {
  readonly editId: string;
  /** `taken`, `conflict`, `held` and `refused` go on; with all others it is over. */
  readonly state: 'taken' | 'conflict' | 'held' | 'done' | 'void' | 'lost' | 'refused' | 'superseded';
  /** What there is to say to its user. */
  readonly note?: string;
  /** The CRM's id of a row that was inserted. */
  readonly newId?: RowId;
}

/** Something of a batch that was not written; all else was. */
export interface LeftRow {
  readonly entity: Entity;
  readonly id: RowId;
  /** `locked`: a user's transaction holds it. `refused`: a constraint of theirs, or what the type cannot hold. `rewritten`: it was written, and their trigger made something else of it. `untried`: so many others were refused that it may be written at once by another batch. `edited`: it has an edit that is not known. */
  readonly why: 'locked' | 'refused' | 'rewritten' | 'untried' | 'edited';
  /** In the words of the database, with the process that holds it and since when. */
  readonly words: string;
}

/** What became of a write transaction that was committed. */
export interface WriteReply {
  /** Its number. */
  readonly run: number;
  readonly left: readonly LeftRow[];
  /** By entity, how many rows there are more now; negative for fewer. */
  readonly added: Readonly<Partial<Record<Entity, number>>>;
  /** How many old edits were deleted; absent where none was to be. */
  readonly forgotten?: number | undefined;
}

/** What of the layout the database has otherwise: while that lasts, the table is held. */
export interface LayoutFault {
  /** Absent where it is about the whole schema. */
  readonly entity?: Entity;
  readonly words: string;
  /** Whether laying out again, with the consent of a person, mends it. */
  readonly isMendable: boolean;
  /** It is to be reported, but holds no table. */
  readonly isHarmless?: true;
  /** Edits of the table were not noted for a time. */
  readonly isGap?: true;
}

/** What the database says of itself. */
export interface Meeting {
  /** Such as 180004. */
  readonly serverVersion: number;
  /** A standby, or set to read only. */
  readonly isReadOnly: boolean;
  /** Whose tables these are: not kept so far, those of this mirror, or those of another. */
  readonly keeper: 'none' | 'own' | 'other';
  /** The number of the last run; 0 before the first. */
  readonly lastRun: number;
}

/** Consent of a person to what is not done by itself. */
export interface LayOutConsent {
  /** Takes over tables that another mirror kept. */
  readonly adopt?: boolean;
  /** Adds again, empty, what was laid out before and is missing now: a user dropped or renamed it. */
  readonly mend?: boolean;
}

/** A row as it is, with its columns in the canonical form of values. */
export interface ScannedRow {
  readonly id: RowId;
  readonly values: RowValues;
}

/** What a user did to a row by SQL, in one statement. */
export interface SqlEdit {
  /** Names it for ever, also in a database that was restored. */
  readonly editId: string;
  readonly kind: 'update' | 'insert' | 'delete' | 'revert';
  /** `new`: not taken so far. `side_effect`: nobody meant it. */
  readonly state: 'new' | 'taken' | 'conflict' | 'held' | 'refused' | 'side_effect';
  /** By column, of those that people may change: of an update the ones that it changed, of a delete all, of an insert none. */
  readonly before: RowValues;
  /** Likewise; of a delete none. */
  readonly after: RowValues;
  /** The login that made it. */
  readonly by: string;
  /** How long ago it was made, by the clock of the database: nothing is ordered by it. */
  readonly ageMs: number;
}

/** A row with open edits, oldest first. */
export interface EditedRow {
  readonly entity: Entity;
  readonly id: RowId;
  /** What it shows now; absent where it is not there. */
  readonly values?: RowValues;
  readonly edits: readonly SqlEdit[];
}

/** Rows that have new edits, and the database as it was when they were read. */
export interface ReadEdits {
  readonly rows: readonly EditedRow[];
  /** The number of the last run. */
  readonly lastRun: number;
  /** What users answered to questions. */
  readonly answers: readonly { readonly scope: string; readonly answer: string }[];
  /** Where the next page begins; absent where there is none. */
  readonly next?: string | undefined;
}

/** An edit that is over, as the database has it. */
export interface EndedEdit {
  readonly editId: string;
  readonly state: 'done' | 'void' | 'lost' | 'superseded';
  readonly note: string;
  readonly newId?: RowId | undefined;
}

/** Which edits are read. */
export interface EditPage {
  /** At most so many new edits. */
  readonly limit: number;
  /** Where the page begins; `0` for the first. */
  readonly after: string;
  /** Those as well that are open and not new. */
  readonly isAll?: boolean;
}

/**
 * A database that shows the CRM's records as tables. Errors are SyncErrors whose code begins with WAREHOUSE_. One call at a time; after an
 * error the connection is made anew by the next call.
 */
export interface Warehouse {
  /** Names database and schema to people; no secret. */
  readonly name: string;
  /** Never fails because something of ours is missing. */
  meet(): Promise<Meeting>;
  /**
   * Creates or completes what the layout needs, and never drops or retypes anything. Returns what keeps tables from being written. Fails with
   * WAREHOUSE_KEPT where another mirror keeps the tables without a consent, or what is in the schema is not ours.
   */
  layOut(layout: WarehouseLayout, consent?: LayOutConsent): Promise<readonly LayoutFault[]>;
  /** What of the layout the database lacks, or has otherwise. Changes nothing. */
  inspect(layout: WarehouseLayout): Promise<readonly LayoutFault[]>;
  /** The SQL that lays out, for an administrator to run. */
  printDdl(layout: WarehouseLayout): string;
  /**
   * Writes all of it in one transaction under a name that is used once. Fails with WAREHOUSE_WENT_BACK where the last run is another one, and
   * with WAREHOUSE_UNKNOWN_OUTCOME where the commit got no reply: then {@link findRun} knows.
   */
  write(run: string, batch: WriteBatch): Promise<WriteReply>;
  /** Fills a table, which may hold rows already, from any number of rows in one transaction. It never deletes. */
  fill(run: string, after: number, table: TableLayout, rows: Iterable<RowVersion>): Promise<WriteReply>;
  /** The number of a run; `undefined` where it was never committed. Waits until a transaction that may still commit is over. */
  findRun(run: string): Promise<number | undefined>;
  /** Writes freshness alone, in one statement. Returns the number of the last run. */
  touch(freshness: readonly Freshness[]): Promise<number>;
  /** Rows of these tables that have new edits, those that were edited first; all as of one moment. */
  readEdits(tables: readonly TableLayout[], page: EditPage): Promise<ReadEdits>;
  /** What has come of these edits, of those that are over. */
  readEnded(editIds: readonly string[]): Promise<readonly EndedEdit[]>;
  /** Calls the listener when there may be new edits, and after each loss of the connection on which that is told. It ends with `close`. */
  listen(listener: () => void): void;
  /** All rows in the order of their ids, numbers by size. */
  scan(table: TableLayout): AsyncIterable<ScannedRow>;
  close(): Promise<void>;
}

/** Who keeps the tables: it is written into them, so that no other mirror writes there. */
export interface Keeper {
  /** The link's name. */
  readonly link: string;
  /** Names the account of the CRM. */
  readonly account: string;
  /** A word of the mirror alone. */
  readonly word: string;
  /** The token of the lease under which this process runs the link; 0 without leases. */
  readonly token: number;
}
