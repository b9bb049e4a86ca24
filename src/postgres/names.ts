import { escapeIdentifier } from 'pg';
import type { Entity } from '../core/record.ts';
import { syncSchemaOf, type TableLayout } from '../warehouse/port/layout.ts';
import { qualified } from './ddl/quote.ts';
import { pastNameOf } from './ddl/tables.ts';

/** The tables of a schema, quoted as SQL wants them. */
export interface Names {
  readonly schema: string;
  readonly syncSchema: string;
  /** A table for people. */
  shown(table: string): string;
  /** A table of the machinery. */
  own(table: string): string;
  /** The versions of an entity's records that are over. */
  past(entity: Entity): string;
}

export function namesOf(schema: string): Names {
  const syncSchema = syncSchemaOf(schema);
  const own = (table: string) => qualified(syncSchema, table);
  return {
    schema,
    syncSchema,
    shown: (table) => qualified(schema, table),
    own,
    past: (entity) => own(pastNameOf(entity)),
  };
}

/** The columns behind those of the fields, in all tables of records; `client_ref` is for programs alone. */
export const tail = ['valid_from', 'valid_after', 'made_by'] as const;

/** The columns that a write sets, quoted. One that is retired stays as it is, and may even be gone. */
export const writtenColumns = (table: TableLayout): readonly string[] =>
  [...liveColumns(table).map(({ name }) => name), ...tail].map((name) => escapeIdentifier(name));

export const liveColumns = ({ columns }: TableLayout) =>
  columns.filter(({ retiredAt }) => retiredAt === undefined);
