import type { Entity } from '../../core/record.ts';
import type { ColumnType } from '../../warehouse/port/layout.ts';

export interface ColumnDefinition {
  readonly name: string;
  readonly type: ColumnType | 'jsonb' | 'xid8';
  /** What follows the type, such as `NOT NULL DEFAULT 0`. */
  readonly rule?: string;
  readonly comment: string;
}

/** A table of ours, as it is created. */
export interface TableDefinition {
  readonly schema: string;
  readonly name: string;
  /** Whose records it holds; absent where all writes need it. */
  readonly entity?: Entity;
  /** Whether it is a table of records that people see: these are guarded. */
  readonly isGuarded?: true;
  readonly columns: readonly ColumnDefinition[];
  readonly key: readonly string[];
  readonly unique?: string;
  readonly comment: string;
}

/** A view of ours: what each of its columns is, and the rest of its SELECT. */
export interface ViewDefinition {
  readonly name: string;
  readonly entity: Entity;
  /** By name, in order. A view can only get more columns at its end, so custom columns come last. */
  readonly columns: readonly ViewColumn[];
  /** Whether it shows all columns of the table `t`, also those that the layout does not know any longer. */
  readonly showsTable?: true;
  /** A WITH clause before it. */
  readonly with?: string;
  /** One SELECT for each, joined by UNION ALL. */
  readonly sources: readonly string[];
  readonly comment: string;
}

export interface ViewColumn {
  readonly name: string;
  /** One for each source, or one for all of them. */
  readonly expressions: readonly string[];
}

/** `timestamptz` and the like, as the catalog of the database calls them. */
export const catalogType = (type: ColumnDefinition['type']): string =>
  type === 'timestamptz' ? 'timestamp with time zone' : type;
