import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgres, playSettings, startPostgres } from '../../sandbox/postgres/server.ts';
import { startWarehousePage } from '../../sandbox/postgres/warehouse-page.ts';
import { freePort } from './demo-processes.ts';

/** A PostgreSQL that ends with the demo, and the page that shows its tables. */
export interface DemoWarehouse {
  readonly version: string;
  /** Of the database, for everything: the server is thrown away with the demo. */
  readonly url: string;
  readonly pageUrl: string;
  stop(): Promise<void>;
}

/** Why there is none, in one line. */
export interface MissingWarehouse {
  readonly why: string;
}

export const isMissing = (warehouse: DemoWarehouse | MissingWarehouse): warehouse is MissingWarehouse =>
  'why' in warehouse;

/** Starts one where this machine can; a demo without is still worth seeing. */
export async function startDemoWarehouse(schema: string): Promise<DemoWarehouse | MissingWarehouse> {
  try {
    if (!findPostgres()) return { why: 'there is no PostgreSQL server on this machine' };
    return await start(schema);
  } catch (error) {
    return { why: (error instanceof Error ? error.message : String(error)).trim().replace(/\s+/g, ' ') };
  }
}

async function start(schema: string): Promise<DemoWarehouse> {
  await using opening = new AsyncDisposableStack();
  // Beside the demo's other files and not below them: as root, the server runs under an account that may not enter there.
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-demo-postgres-'));
  const server = opening.use(await startPostgres({ directory, isTemporary: true, settings: playSettings }));
  const url = await server.createDatabase('demo');
  const page = await startWarehousePage({ port: await freePort(4030), url, schema });
  opening.defer(() => page.close());
  const opened = opening.move();
  return { version: server.version, url, pageUrl: page.url, stop: () => opened.disposeAsync() };
}
