import type { Entity } from '../../core/record.ts';
import type { FieldName } from '../../core/value.ts';

/** The types that columns of ours have, as PostgreSQL calls them. */
export type ColumnType =
  | 'text'
  | 'text[]'
  | 'numeric'
  | 'integer'
  | 'bigint'
  | 'smallint'
  | 'boolean'
  | 'date'
  | 'timestamptz'
  | 'uuid';

/** A column of a table, filled from one field of the records. */
export interface ColumnLayout {
  readonly field: FieldName;
  readonly name: string;
  readonly type: ColumnType;
  /** What the database says of it to people: one sentence or two. */
  readonly comment: string;
  /** The table whose ids it holds. */
  readonly refersTo?: Entity;
  /** It holds ids of users. */
  readonly namesUsers?: true;
  /** A field that an administrator of the CRM made: it comes last in every view, because more may follow. */
  readonly isCustom?: true;
  /** How people may change it; absent where only the CRM does. */
  readonly editing?: ColumnEditing;
  /** The CRM has no such field any longer: the column stays as it is. ISO 8601. */
  readonly retiredAt?: string;
}

/** What the CRM takes for a column that people may change: what the database can tell them at once. */
export interface ColumnEditing {
  /** The configuration keeps it from SQL: people change it elsewhere. */
  readonly isReadOnly?: true;
  /** It can never be empty. */
  readonly isRequired?: true;
  /** It can not be emptied, although a new row may lack it. */
  readonly isKept?: true;
  /** It is set when a row is inserted, and never again. */
  readonly isFixed?: true;
  readonly lengthMax?: number;
  readonly min?: number;
  readonly max?: number;
  readonly options?: readonly string[];
  /** The reference table one of whose ids it holds. */
  readonly oneOf?: 'stage' | 'task_status' | 'task_priority';
}

/** A table of records, which bears the name of their entity. Its key is the column `id`. */
export interface TableLayout {
  readonly entity: Entity;
  readonly idType: 'bigint' | 'uuid';
  /** Without `id` and the tail that all tables have: `client_ref`, `valid_from`, `valid_after`, `made_by`. */
  readonly columns: readonly ColumnLayout[];
  readonly comment: string;
}

/** All tables of a link, parents first. */
export interface WarehouseLayout {
  /** The schema for people; that of the machinery has the same name with `_sync` behind it. */
  readonly schema: string;
  readonly tables: readonly TableLayout[];
  /** Whether ended versions are kept. */
  readonly hasHistory: boolean;
  /** Absent where edits by SQL are refused. */
  readonly editing?: Editing;
}

/** How edits by SQL are taken. */
export interface Editing {
  /** A statement that reaches more rows is refused, unless its user says that it is meant. */
  readonly bulkRows: number;
}

/** The schema of the machinery. */
export const syncSchemaOf = (schema: string): string => `${schema}_sync`;
