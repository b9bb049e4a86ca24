import { createRandom } from '../../src/sandbox/crm/random.ts';
import type { Link } from '../../src/sync/link.ts';
import type { WarehouseTerms } from '../../src/warehouse/link.ts';
import { WarehouseSide } from '../../src/warehouse/side.ts';
import { MemoryDatabase } from '../support/memory-database.ts';
import { MemoryWarehouse } from '../support/memory-warehouse.ts';
import type { Wire } from './wire.ts';

/** Puts a known mistake into the side of the tables, or into how the daemon reaches them. */
export type SqlPlant = (parts: SqlParts) => SqlParts;

/** What the side is made of. */
export interface SqlParts {
  readonly link: Link;
  readonly terms: WarehouseTerms;
}

/** The tables that users edit by SQL, in a database in memory that is reached by the wire. */
export class SqlSide {
  readonly database = new MemoryDatabase('edit');
  readonly #terms: Omit<WarehouseTerms, 'database'>;

  constructor(seed: number, hasMishaps: boolean) {
    const random = createRandom(seed ^ 0x5a1de);
    const few = hasMishaps && random.integer(0, 1) === 0;
    this.#terms = {
      schema: 'crm',
      entities: ['lead', 'task'],
      hasHistory: false,
      freshnessMs: 0,
      lostStages: [],
      limits: { deletesMin: few ? 2 : 10, deletesShare: 0 },
      editing: {
        bulkRows: 100,
        conflict: random.pick(['crm', 'table', 'ask'] as const),
        deletes: random.pick(['ask', 'ask', 'trash', 'restore'] as const),
        isNotified: random.integer(0, 3) > 0,
        pollMs: 5_000,
        keepDays: 90,
        limits: {
          changesMin: few ? random.integer(2, 4) : 20,
          changesShare: 0,
          deletesMin: few ? random.integer(1, 2) : 10,
          deletesShare: 0,
        },
      },
    };
  }

  get editing(): NonNullable<WarehouseTerms['editing']> {
    const { editing } = this.#terms;
    if (!editing) throw new Error('The tables are not edited.');
    return editing;
  }

  /** The side of a process that has just started. */
  open(link: Link, wire: Wire, plant: SqlPlant = (parts) => parts): WarehouseSide {
    // The process before it hears nothing any more.
    this.database.listeners.clear();
    const database = new MemoryWarehouse(this.database, (label, work, lost) => wire.send(label, work, lost));
    const planted = plant({ link, terms: { ...this.#terms, database } });
    return new WarehouseSide(planted.link, planted.terms);
  }
}
