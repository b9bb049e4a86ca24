import process from 'node:process';
import type { PostgresServer } from '../../src/sandbox/postgres/server.ts';
import { startPgbouncer } from './pgbouncer.ts';

/** The same tests reach the daemon's database through a pooler, where they are run so. */
const isPooled = process.env['TEST_WAREHOUSE_POOLER'] === '1';

const poolers = new Map<PostgresServer, ReturnType<typeof startPgbouncer>>();

/** The address through the pooler of a server; as it is where there is none. */
export async function throughPooler(server: PostgresServer, url: string): Promise<string> {
  if (!isPooled) return url;
  const pooler = poolers.get(server) ?? startPgbouncer(server);
  poolers.set(server, pooler);
  return (await pooler).through(url);
}
