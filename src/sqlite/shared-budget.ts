import { join } from 'node:path';
import { isSyncError, SyncError } from '../core/errors.ts';
import type { BudgetLog } from '../core/ports.ts';
import { openSlots } from './budget-log.ts';
import { type Connection, connect } from './connection.ts';
import { checkVersion, makeDurable } from './file-safety.ts';
import { migrate } from './migrations.ts';
import { createDirectory } from './open.ts';
import { closePath } from './private-files.ts';

/** Slots of request budgets that several links use at the same time, in this process and in others on the machine. */
export type SharedBudget = ReturnType<typeof openSharedBudget>;

/** Steps may be taken by two processes at once, so each does no harm a second time. */
const steps = [
  `
  CREATE TABLE IF NOT EXISTS slot (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    destination TEXT NOT NULL,
    budgetKey TEXT NOT NULL,
    freeAt INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS slotByDestination ON slot (destination, freeAt);
  `,
];

/** Others hold the file for the time of one commit. */
const busyMs = 5_000;

/** Opens the budget in the state directory that the links share, creating both where they are missing. Keeps nobody out. */
export function openSharedBudget(directory: string) {
  createDirectory(directory);
  const file = join(directory, 'budget.db');
  const connection = connect(file, () => false, busyMs);
  try {
    advised(() => {
      checkVersion(connection);
      closePath(file);
      makeDurable(connection);
      migrate(connection, steps);
    });
    /** The slots of everybody who sends to the same place. */
    const logOf = (destination: string) => advised(() => openLog(connection, destination));
    return { logOf, close: connection.close };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The advice for a damaged mirror would cost the mirrors beside it, and what stands here nobody needs for long. */
function advised<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!isSyncError(error, 'STATE_BROKEN')) throw error;
    throw new SyncError('CONFIG_INVALID', `${error.message} ${advice}`, { cause: error });
  }
}

const advice =
  'Only the requests of the last minutes stand in it. Stop all that use it, move it away with what begins like it, and wait for two minutes.';

function openLog(connection: Connection, destination: string): BudgetLog {
  const { readTaken, ...slots } = openSlots(connection, 'slot', destination);
  return {
    ...slots,
    readSlots: () => advised(() => readTaken(0)),
    addSlot: (key, freeAt) => advised(() => slots.addSlot(key, freeAt)),
    shared: { alone: (work) => advised(() => connection.transaction(work)), readTaken },
  };
}
