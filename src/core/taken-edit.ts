import type { RecordId, RecordKey } from './record.ts';
import type { FieldName, Fields } from './value.ts';

/**
 * What an edit has come to. Open: `taken` (on its way), `conflict` and `held` (a user has to answer), `refused` (its row shows what the CRM
 * does not take). Over: `done`, `void` (there was nothing to change), `lost` (the CRM's value stands), `superseded` (by a later edit).
 */
export type EditState = 'taken' | 'conflict' | 'held' | 'refused' | 'done' | 'void' | 'lost' | 'superseded';

/** How an edit of one field ended. */
export type EditEnd = Extract<EditState, 'done' | 'void' | 'lost' | 'superseded'>;

/** An edit that a side noted by itself with the values before, since it was taken from there. Times are epoch ms. */
export interface TakenEdit {
  readonly editId: string;
  /** The record; of a row that was inserted the claim token of its create, until the CRM has given an id. */
  readonly key: RecordKey;
  /** The id of its row as the edit names it. */
  readonly row: RecordId;
  readonly kind: 'update' | 'insert' | 'delete' | 'revert';
  /** Of an update what it changed, of a delete the row. */
  readonly before: Fields;
  readonly after: Fields;
  /** Its fields of which something has come, each with what. */
  readonly ended: Readonly<Record<FieldName, EditEnd>>;
  readonly by: string;
  /** When it was taken. */
  readonly at: number;
  readonly state: EditState;
  /** What there is to say about it; empty for nothing. */
  readonly note: string;
  /** The CRM's id of a row that was inserted. */
  readonly newId?: RecordId | undefined;
  /** A user let it through a brake. */
  readonly isMeant: boolean;
  /** The side did not note it: it was found because what notes edits was off for a time. */
  readonly isUnlogged?: true;
  /** Whether the side knows its state and note. */
  readonly isTold: boolean;
  /** When the side was last told; absent where it never was. */
  readonly toldAt?: number | undefined;
}

const openStates: ReadonlySet<EditState> = new Set(['taken', 'conflict', 'held', 'refused']);

export const isOpenState = (state: EditState): boolean => openStates.has(state);

export const isOpen = ({ state }: Pick<TakenEdit, 'state'>): boolean => isOpenState(state);

/** The edits that were taken from a side. */
export interface TakenEdits {
  find(editId: string): TakenEdit | undefined;
  /** Those that are open, in the order in which they were taken; the same list until one of them changes. */
  readOpen(): readonly TakenEdit[];
  countOpen(): number;
  /** Those of a record that are open, in that order. */
  findOpen(key: RecordKey): readonly TakenEdit[];
  /** Those that are open and name a row by this id, in that order. */
  findOpenOfRow(entity: RecordKey['entity'], row: RecordId): readonly TakenEdit[];
  /** Whether a row was inserted of which the side does not know so far that it has become this record. */
  isNewRow(key: RecordKey): boolean;
  /** Those of which the side does not know the state, the longest waiting first. */
  readUntold(limit: number): readonly TakenEdit[];
  /** The last insert that made a row with this id; `undefined` for none. */
  findInsert(entity: RecordKey['entity'], row: RecordId): TakenEdit | undefined;
  save(edit: TakenEdit): void;
  /** Forgets those that are over and were told before a time. */
  forget(before: number): void;
}
