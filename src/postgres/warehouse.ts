import type { Clock, Fence, Log } from '../core/ports.ts';
import type { Keeper, Warehouse } from '../warehouse/port/port.ts';
import { type AddressOptions, readAddress } from './address.ts';
import { createConnection } from './connection.ts';
import { editChannelOf } from './ddl/capture/capture.ts';
import { printDdl } from './ddl/print.ts';
import { findRunNumber } from './find-run.ts';
import { inspect } from './inspect.ts';
import { layOut } from './lay-out.ts';
import { createListener } from './listen.ts';
import { meetDatabase } from './meet.ts';
import { namesOf } from './names.ts';
import { readEdits, readEnded } from './read-edits.ts';
import { scanRows } from './scan.ts';
import { fillTable } from './write/fill.ts';
import { touchFreshness } from './write/freshness.ts';
import type { Stage } from './write/run.ts';
import { writeBatch } from './write/write.ts';

export interface PostgresOptions extends AddressOptions {
  /** The schema for people. */
  readonly schema: string;
  readonly keeper: Keeper;
  /** Whether versions that are over are kept. */
  readonly hasHistory: boolean;
  /** Whether people edit the tables by SQL. */
  readonly isEditable?: boolean;
  /** Asked before each commit; absent where no other process can run the link. */
  readonly fence?: Fence | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** A PostgreSQL database behind the port. Connects when it is first needed. Fails with CONFIG_INVALID. */
export function createPostgresWarehouse(options: PostgresOptions): Warehouse {
  const { schema, keeper, hasHistory, isEditable = false, fence, clock, log } = options;
  const address = readAddress(options);
  const connection = createConnection(address, clock, log);
  const edits = createListener(address, editChannelOf(schema), clock, log);
  const stage: Stage = { connection, names: namesOf(schema), keeper, hasHistory, isEditable, fence };
  return {
    name: `schema ${schema} of ${address.place}`,
    meet: () => meetDatabase(stage),
    layOut: (layout, consent) =>
      connection.use('lay out', ({ client }) => layOut(client, layout, keeper, consent)),
    inspect: (layout) => connection.use('inspect', ({ client }) => inspect(client, layout)),
    printDdl: (layout) => printDdl(layout, address.user),
    write: (run, batch) => writeBatch(stage, run, batch),
    fill: (run, after, table, rows) => fillTable(stage, run, after, table, rows),
    findRun: (run) => findRunNumber(stage, run),
    touch: (freshness) => touchFreshness(stage, freshness),
    readEdits: (tables, page) => readEdits(stage, tables, page),
    readEnded: (editIds) => readEnded(stage, editIds),
    listen: (listener) => edits.start(listener),
    scan: (table) => scanRows(address, clock, stage.names, table),
    async close() {
      await edits.end();
      await connection.drop();
    },
  };
}
