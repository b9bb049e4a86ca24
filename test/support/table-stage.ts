import type { Table } from '../../src/sheet/port/port.ts';

/** What a user does in the tab of the leads. Rows count from 1; the header row is 0. */
export type UserAct =
  | { readonly kind: 'type'; readonly row: number; readonly header: string; readonly text: string }
  | { readonly kind: 'insertRow' | 'deleteRow'; readonly row: number }
  /** By ID, from the last to the first. */
  | { readonly kind: 'sort' }
  | { readonly kind: 'deleteColumn'; readonly header: string }
  | { readonly kind: 'deleteTab' };

/**
 * What becomes of the next write: it gets a reply; its reply is lost; or it gets lost itself; or its sender has given up when it arrives, which a test brings
 * about.
 */
export type Fate = 'answered' | 'unanswered' | 'lost' | 'late';

/** The header of a column that is the user's own. */
export const ownHeader = 'Note';

/** Tabs of some kind that nothing was laid out in yet, and those who work on them. */
export interface TableStage {
  readonly table: Table;
  /** A table on the same tabs, as another process has it. */
  openTable(): Table;
  user(...acts: UserAct[]): Promise<void>;
  /** What a user does just before the next write arrives. */
  beforeNextWrite(...acts: UserAct[]): Promise<void>;
  setFate(fate: Fate): void;
  /** Lets a write that is late arrive. */
  land(): Promise<void>;
  /** The owner of the tabs lets the daemon write to the leads no longer. */
  protectLeads(): Promise<void>;
  close(): Promise<void>;
}

export type OpenStage = () => Promise<TableStage>;

/** A user types into a cell. */
export const typing = (row: number, header: string, text: string): UserAct => ({
  kind: 'type',
  row,
  header,
  text,
});
