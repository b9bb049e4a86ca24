import { escapeLiteral } from 'pg';
import { writeTimeMs } from '../core/fence.ts';
import type { Fence } from '../core/ports.ts';
import { newWarehouseError } from '../warehouse/port/errors.ts';
import type { Session } from './connection.ts';
import { isLineTrouble, troubleOf } from './errors.ts';

/**
 * No default of a role or of the database may change what a value means, or hide rows from the daemon; and no function or operator of others
 * may be taken for one of the database, because it would be run with the daemon's rights.
 */
const meanings = {
  search_path: 'pg_catalog, pg_temp',
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  row_security: 'off',
} as const;

/** A client that is lost must not keep its locks, and none may be waited for for long. */
const limits = {
  lock_timeout: '2s',
  statement_timeout: '60s',
  idle_in_transaction_session_timeout: '30s',
} as const;

export type Settings = Readonly<Record<string, string>>;

/** Sets it all for one transaction: behind a pooler the next one may have another connection. */
export const settingsSql = (settings: Settings = {}): string =>
  `SELECT ${Object.entries({ ...meanings, ...limits, ...settings })
    .map(([name, value]) => `pg_catalog.set_config(${escapeLiteral(name)}, ${escapeLiteral(value)}, true)`)
    .join(', ')}`;

/** The commit alone may take so long. */
const commitTimeoutMs = 60_000;

export interface WriteTerms {
  /** The name of the run. */
  readonly run: string;
  readonly fence: Fence | undefined;
  readonly settings: Settings;
}

/**
 * Does the work in one transaction that writes. READ COMMITTED is said, because under any other a statement would not see what was committed
 * while it waited for a lock. Fails with WAREHOUSE_UNKNOWN_OUTCOME where the commit was sent and nothing says what became of it.
 */
export async function writeTransaction<Result>(
  session: Session,
  { run, fence, settings }: WriteTerms,
  work: () => Promise<Result>,
): Promise<Result> {
  let isCommitting = false;
  try {
    writeTimeMs(commitTimeoutMs, fence);
    await begin(session, settings);
    const result = await work();
    const waitMs = writeTimeMs(commitTimeoutMs, fence);
    isCommitting = true;
    await session.commit(waitMs);
    return result;
  } catch (error) {
    const isOver = await rollBackAfter(session, error);
    if (!isCommitting || isOver) throw error;
    const words = `The commit of run ${run} got no reply: ${troubleOf(error).words}.`;
    throw newWarehouseError('WAREHOUSE_UNKNOWN_OUTCOME', words);
  }
}

async function begin(session: Session, settings: Settings): Promise<void> {
  try {
    await session.runTogether(`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${settingsSql(settings)}`);
  } catch (error) {
    const { code, words } = troubleOf(error);
    // “cannot set transaction read-write mode during recovery”
    if (code === '0A000') throw newWarehouseError('WAREHOUSE_READ_ONLY', `Could not write: ${words}.`);
    throw error;
  }
}

/** Does the work in one transaction that changes nothing; as a snapshot it sees all of it as of one moment. */
export async function readTransaction<Result>(
  session: Session,
  settings: Settings,
  work: () => Promise<Result>,
  isolation: 'READ COMMITTED' | 'REPEATABLE READ' = 'READ COMMITTED',
): Promise<Result> {
  try {
    await session.runTogether(`BEGIN ISOLATION LEVEL ${isolation}; ${settingsSql(settings)}`);
    const result = await work();
    await session.run('ROLLBACK');
    return result;
  } catch (error) {
    await rollBackAfter(session, error);
    throw error;
  }
}

/**
 * Returns whether the server says that it is rolled back. After trouble with the line it is not asked: it may not reply, and a pooler may reply for
 * another connection. The connection is given up then.
 */
async function rollBackAfter(session: Session, error: unknown): Promise<boolean> {
  if (!isLineTrouble(error)) {
    try {
      await session.run('ROLLBACK');
      return true;
    } catch {
      // It is as useless as after trouble with the line.
    }
  }
  session.discard();
  return false;
}
