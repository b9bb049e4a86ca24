import type { RowId, RowValues } from '../../src/warehouse/port/port.ts';
import type { NotedEdit } from '../support/memory-database.ts';
import type { SqlSide } from './sql-side.ts';

/** The kinds of record that have a table. */
export type SqlEntity = 'lead' | 'task';

/** A row of a table, and whom it is about. */
export interface OwnedRow {
  readonly id: RowId;
  readonly owner: string;
  readonly values: RowValues;
}

/** Many rows that were changed in one transaction: more than may be before somebody agrees. */
export interface SqlMass {
  readonly entity: SqlEntity;
  readonly kind: 'edited' | 'deleted';
  /** By row, what was written there. */
  readonly rows: ReadonlyMap<RowId, string | undefined>;
}

/** What those who edit the tables by SQL did and meant by it. */
export class SqlWork {
  readonly side: SqlSide;
  /** Whom a row is about that has no record so far, by entity and id. */
  readonly owners = new Map<string, string>();
  /** Owners whose row somebody deleted by SQL. */
  readonly deleted = new Set<string>();
  /** Values that somebody wrote by SQL. */
  readonly written = new Set<string>();
  masses: readonly SqlMass[] = [];
  /** Puts the last backup of the database back. */
  copy: (() => void) | undefined;
  /** Whether the database or the mirror went back: what both have forgotten nobody can know. */
  wentBack: 'database' | 'mirror' | undefined;

  readonly #ownerOfRecord: ReadonlyMap<string, string>;

  constructor(side: SqlSide, ownerOfRecord: ReadonlyMap<string, string>) {
    this.side = side;
    this.#ownerOfRecord = ownerOfRecord;
  }

  get edits(): readonly NotedEdit[] {
    return this.side.database.content.edits;
  }

  get openEdits(): readonly NotedEdit[] {
    return this.edits.filter(({ isOver }) => !isOver);
  }

  rows(entity: SqlEntity): readonly OwnedRow[] {
    return [...this.side.database.rowsOf(entity)].flatMap(([id, values]) => {
      const owner = this.owners.get(`${entity} ${id}`) ?? this.#ownerOfRecord.get(`${entity}-${id}`);
      return owner === undefined ? [] : [{ id, owner, values }];
    });
  }

  /** A row was changed otherwise since. */
  forgetInMasses(entity: SqlEntity, id: RowId): void {
    const { changesMin, deletesMin } = this.side.editing.limits;
    this.masses = this.masses.flatMap((mass) => {
      if (mass.entity !== entity || !mass.rows.has(id)) return [mass];
      const rows = new Map([...mass.rows].filter(([each]) => each !== id));
      return rows.size > (mass.kind === 'edited' ? changesMin : deletesMin) ? [{ ...mass, rows }] : [];
    });
  }

  /** Somebody agreed to them, took them back, or they are there no more. */
  forgetMasses(entity?: string): void {
    this.masses = this.masses.filter((mass) => entity !== undefined && mass.entity !== entity);
  }
}
