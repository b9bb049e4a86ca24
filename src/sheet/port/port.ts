import type { Receipt } from '../../core/open-write.ts';
import type { Damage } from './damage.ts';
import type { Mark, MarkChanges, Marks } from './instance.ts';
import type { Layout } from './layout.ts';
import type { ObservedTable, RowStep, WriteResult } from './table.ts';

/** Stores a receipt and the damage that is known so far, durably, before the adapter sends anything more. */
export type KeepReceipt = (receipt: Receipt, damage: readonly Damage[]) => void;

/** A spreadsheet. Errors are `SyncError`s with a SHEET_ code. */
export interface Table {
  /**
   * Names what the tabs belong to, for example the spreadsheet's id. Where another one, or another tab in it, holds the rows than before,
   * they wait behind a brake and are met anew.
   */
  readonly identity: string;
  /**
   * One read of all tabs. As long as a tab, or a row at its place, says the same it may be the same object, which saves its readers work. What
   * changes no value, as a format does, may be seen minutes later; so may the marks and the last write, unless `isWhole`.
   */
  read(layout: Layout, isWhole?: boolean): Promise<ObservedTable>;
  /**
   * Looks once more at the rows that steps are about to reach, and at who keeps the table. Comes right before their write, after a read, which
   * it brings up to date.
   */
  look(layout: Layout, steps: readonly RowStep[]): Promise<ObservedTable>;
  /** Plans one atomic write from the last read, and sends nothing. `open` are the receipts of the writes that are not over. */
  prepare(steps: readonly RowStep[], run: string, open: readonly Receipt[]): Receipt;
  /**
   * Sends a prepared write; where the table refuses it, each tab in a write of its own. What it did to other rows than its own, because rows
   * or columns moved meanwhile, is undone at once, or escalated where that cannot be done. After an error with retry `later` nobody knows
   * whether it landed: `recover` it, and read again before writing again. With a mark it renews the keeper's own as well.
   */
  write(receipt: Receipt, keep: KeepReceipt, mark?: Mark): Promise<WriteResult>;
  /**
   * What became of a write without a reply, and undoes what has to be undone; `undefined` where nothing of it has landed so far. `mayLand`:
   * what was sent last may still land. Comes after the read that it is judged by.
   * Google ends a request after three minutes: https://developers.google.com/workspace/sheets/api/limits.
   */
  recover(receipt: Receipt, keep: KeepReceipt, mayLand: boolean): Promise<WriteResult | undefined>;
  /**
   * Changes the marks that the read before it found. The mark of a keeper is put there only if no other has come meanwhile: of two that do
   * it at the same moment one succeeds. Returns the marks as they are then, whichever instance has put them there.
   */
  sign(changes: MarkChanges): Promise<Marks>;
  /**
   * Brings the names that the dropdowns of leads offer up to date, in any order, and gives one to each column of leads once. Comes after a read, and
   * costs a request, and one more for each 5,000 names that are written. Returns the columns that have had one, for the next call.
   */
  offerLeads(names: readonly string[], before: OfferedLeads): Promise<readonly string[]>;
  /**
   * Brings dropdowns, notes and marks up to date; `create` also adds tabs that were never there and the headers of empty ones. Existing
   * content is never changed, and nothing is written when nothing differs.
   */
  layOut(layout: Layout, mode: 'create' | 'refresh', consent?: LayOutConsent): Promise<LaidOut>;
}

/** What became of the calls before. */
export interface OfferedLeads {
  /** Whether these names were written last. */
  readonly areWritten: boolean;
  /** The columns that have had a dropdown; absent where that is not known. */
  readonly columns?: readonly string[] | undefined;
}

/** What was not laid out, each in a sentence with what to do. */
export interface LaidOut {
  /** Tabs that can not be used. */
  readonly held: readonly string[];
  /** Columns that tabs with content lack. */
  readonly offered: readonly string[];
}

/** What a person agreed to before the table is laid out. */
export interface LayOutConsent {
  /** To take over a copy, and to go on without tabs that are gone. */
  readonly adopt?: boolean;
  /** To add columns that tabs with content lack. */
  readonly addColumns?: boolean;
}
