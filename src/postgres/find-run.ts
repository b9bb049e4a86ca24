import { readTransaction } from './transaction.ts';
import type { Stage } from './write/run.ts';

/** As long as a lost transaction of the daemon lives at most: until its statement or its idleness ends it. */
const waitMs = 65_000;

/**
 * The number of a run, or `undefined` where it was never committed. The row of the link is locked by each run until it is over: a backend that
 * still works on a commit without a reply is waited for. Only after that the ledger says the truth.
 */
export function findRunNumber(
  { connection, names, keeper }: Stage,
  run: string,
): Promise<number | undefined> {
  const settings = { lock_timeout: `${waitMs}ms`, statement_timeout: `${waitMs + 5_000}ms` };
  return connection.use('ask', (session) =>
    readTransaction(session, settings, async () => {
      await session.run(`SELECT FROM ${names.own('link')} WHERE name = $1 FOR UPDATE`, [keeper.link]);
      const [row] = await session.run(`SELECT no::text AS no FROM ${names.own('ledger')} WHERE run = $1`, [
        run,
      ]);
      return row && Number(row['no']);
    }),
  );
}
