import type { Entity, RecordId, RecordKey } from '../record.ts';
import type { FieldName, Value } from '../value.ts';

/** Both sides changed one field differently and a person must choose. */
export interface Conflict {
  readonly key: RecordKey;
  readonly field: FieldName;
  readonly agreed: Value;
  readonly crm: Value;
  readonly table: Value;
}

/** No writes for a record, a field or all records of a kind until the cause is gone. `decision` names the scope a person can decide. */
export interface Hold {
  /** The kind of its records; or the questions, which a side may ask in a place of its own. */
  readonly entity: Entity | 'question';
  readonly id?: string;
  readonly position?: number;
  readonly reason: string;
  readonly decision?: string;
  /** A field that users may want to see and need not: all goes on without it. */
  readonly isOffer?: true;
  /** The CRM shows something of the record that cannot be understood. It is corrected there. */
  readonly isUnread?: true;
}

/** Whether what is held waits for a person: a field that is only offered is there for who wants it. */
export const isNeeded = ({ isOffer }: { readonly isOffer?: unknown }): boolean => !isOffer;

/** Whether all records of a kind, or a field of all of them, are left alone until what the reason says is corrected. */
export const isOfWhole = ({ decision, id, isOffer, position }: Partial<Hold>): boolean =>
  decision === undefined && id === undefined && position === undefined && !isOffer;

/** A step that would be too large to be meant; zero writes for all records of the kind until a user approves `scope`. */
export interface Brake {
  readonly scope: string;
  readonly entity: Entity;
  readonly reason: string;
  /** How many changes it stops, and the first of them. */
  readonly changes: { readonly count: number; readonly shown: readonly StoppedChange[] };
}

/**
 * A change that a brake stops: a field that people edited in the table, that the CRM emptied, or in which both sides differ; a record whose
 * row is gone, or that is gone from the CRM itself; or one whose row leaves, or comes, by another rule.
 */
export interface StoppedChange {
  readonly id: RecordId;
  readonly what: 'edited' | 'emptied' | 'row gone' | 'record gone' | 'differs' | 'leaves' | 'comes';
  readonly field?: FieldName;
  readonly before?: Value;
  readonly after?: Value;
}

/** What cannot be sent, or was not taken by the CRM; the reason is shown beside the row. */
export interface Refusal {
  readonly entity: Entity;
  readonly id?: string;
  /** Absent where the row is gone. */
  readonly position?: number;
  readonly reason: string;
  /** The scope under which a person can answer what the CRM did not take; absent where the row has to be mended. */
  readonly decision?: string;
  /** A person wants both sides to stay as they are. */
  readonly isIgnored?: true;
}
