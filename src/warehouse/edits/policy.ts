import type { ConflictPolicy } from '../../core/merge.ts';
import type { Entity } from '../../core/record.ts';
import type { FieldName } from '../../core/value.ts';

/** What holds for single columns of a table, by their fields. */
export type ColumnRules = Readonly<
  Record<FieldName, { readonly conflict?: ConflictPolicy | undefined; readonly isReadOnly?: boolean }>
>;

/** What the rules say of edits by SQL. */
export interface EditPolicy {
  /** Who wins where the CRM changed a field as well. */
  readonly conflict: ConflictPolicy;
  /** What holds for single columns instead. */
  readonly columns?: Readonly<Partial<Record<Entity, ColumnRules>>>;
  /** What a row that was deleted means: a question, the trash, or a mistake. */
  readonly deletes: 'ask' | 'trash' | 'restore';
}
