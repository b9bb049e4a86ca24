import type { Fact } from './facts.ts';
import type { Feed, Version } from './feed.ts';
import type { Catalog } from './fields/catalog.ts';
import type { CommandEntry, HistoryEntry, HistoryQuery } from './history.ts';
import type { OpenWrite, Suspect } from './open-write.ts';
import type { Entity, RecordId, RecordKey } from './record.ts';
import type {
  Agreement,
  ContactRead,
  Decision,
  JournalEntry,
  OutboxItem,
  StoredRecord,
  Sweep,
} from './state.ts';
import type { TakenEdits } from './taken-edit.ts';

/** What the mirror keeps of one side alone. */
export interface SideStores {
  /** Its name. */
  readonly side: string;
  /** What it has to write of the records; empty unless it follows them. */
  readonly feed: Feed;
  /** The edits that were taken from it; empty unless it notes them by itself. */
  readonly edits: TakenEdits;

  /**
   * Calls back with the name of each record of which something changes that this side decides by: the record, what is agreed, its step, its edits,
   * or an answer about it. An answer about many is named by their kind, an edit by its row as well. A name may come in vain, as where a
   * transaction fails.
   */
  watch(note: (name: string) => void): void;

  readAgreements(): readonly Agreement[];
  findAgreement(key: RecordKey): Agreement | undefined;
  saveAgreement(agreement: Agreement): void;
  dropAgreement(key: RecordKey): void;

  readOutbox(): readonly OutboxItem[];
  findOutboxItem(key: RecordKey): OutboxItem | undefined;
  saveOutboxItem(item: OutboxItem): void;
  dropOutboxItem(key: RecordKey): void;

  readDecisions(): readonly Decision[];
  saveDecision(decision: Decision): void;
  dropDecision(scope: string): void;

  readOpenWrites(): readonly OpenWrite[];
  saveOpenWrite(write: OpenWrite): void;
  dropOpenWrite(id: string): void;

  /** Oldest first. */
  readSuspects(): readonly Suspect[];
  saveSuspect(suspect: Suspect): void;
  dropSuspect(id: string): void;
}

/** The side to whose stores a mirror opens; an operator's own steps are there as well. */
export const firstSide = 'sheet';

/** What a side did that makes a record what it is now, where its last write does not tell. */
export type HowSaved = 'created' | 'takenBack';

/**
 * The only truth about what was observed, agreed, and still has to be done, with the stores of one side. All calls are synchronous and
 * durable when they return (or when the transaction around them does), except that a crash may take back that records were seen once more.
 */
export interface Mirror extends SideStores {
  /** The same mirror with the stores of the side of that name: the same object each time. */
  of(side: string): Mirror;

  /** The steps towards the CRM of all sides whose stores were asked for. */
  readAllSteps(): readonly OutboxItem[];

  /** The mirror with the stores of each side of which something is kept, also of one that the link lacks now. */
  allSides(): readonly Mirror[];

  /** Runs the work in one transaction: all of it is durable, or none of it; on a full disk perhaps twice. Not to be nested. */
  transaction<Result>(work: () => Result): Result;

  /** A number that is another one as soon as anything was written. */
  countChanges(): number;

  /** To be called before anything is begun whose outcome has to be written down. Fails with STATE_FULL when that could fail. */
  expectRoom(): void;

  /**
   * From now on all changes of records of these kinds, of all where absent, are noted for the sides of these names. To be called before
   * anything is read. A side that did not follow a kind until now has all records of it due that are there; so has one in a mirror that was
   * started from a copy. A side that is no longer named has nothing due. Returns the names of those that have records due by this.
   */
  setFollowers(names: readonly string[], kinds?: readonly Entity[]): readonly string[];
  /** The version of a record that the CRM has now, as it is noted for the sides that follow; `undefined` where the record is gone. */
  findVersion(key: RecordKey): Version | undefined;

  readRecords(entity?: Entity): readonly StoredRecord[];
  findRecord(key: RecordKey): StoredRecord | undefined;
  /** A version that begins with it is made by this side where that has created it, or where its last write is another one than before. */
  saveRecord(record: StoredRecord, how?: HowSaved): void;
  dropRecord(key: RecordKey): void;

  appendJournal(entries: readonly JournalEntry[]): void;
  /** Lines that fit, newest first. */
  searchJournal(query: HistoryQuery): HistoryEntry[];
  /** The records to which something was written so often at least since then (epoch ms), by the journal; what was taken back does not count. */
  readBusyRecords(since: number, linesMin: number): RecordKey[];
  /** When the oldest line was written, epoch ms; `undefined` where there is none. */
  findOldestLine(): number | undefined;
  /** Forgets lines, and commands, from before a time, epoch ms. Returns how many lines. */
  forgetJournal(before: number): number;

  appendCommand(command: CommandEntry): void;
  /** The newest that are older than the one of that number, newest first. */
  readCommands(limit: number, before?: number): readonly (CommandEntry & { readonly id: number })[];

  readSweeps(): readonly Sweep[];
  saveSweep(sweep: Sweep): void;

  readContactReads(): readonly ContactRead[];
  saveContactRead(read: ContactRead): void;
  dropContactRead(leadId: RecordId): void;

  /** The catalog as last read from the CRM, or `undefined` before the first read. */
  readCatalog(): Catalog | undefined;
  /** Keeps the one that is there where it says the same. */
  saveCatalog(catalog: Catalog): void;

  readFact<Value>(fact: Fact<Value>): Value | undefined;
  /** Writes nothing where the value is the one that is kept. */
  saveFact<Value>(fact: Fact<Value>, value: NoInfer<Value>): void;
  dropFact(fact: Pick<Fact<unknown>, 'name'>): void;

  close(): void;
}
