import { join } from 'node:path';
import type { BudgetLog, KeySlot } from '../core/ports.ts';
import { type Connection, connect } from './connection.ts';
import { checkVersion, makeDurable } from './file-safety.ts';
import { migrate } from './migrations.ts';
import { createDirectory } from './open.ts';

/** Slots of request budgets that several links use at the same time, in this process and in others on the machine. */
export interface SharedBudget {
  /** The slots of everybody who sends to the same place. */
  logOf(destination: string): BudgetLog;
  close(): void;
}

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
export function openSharedBudget(directory: string): SharedBudget {
  createDirectory(directory);
  const connection = connect(join(directory, 'budget.db'), () => false, busyMs);
  try {
    checkVersion(connection);
    makeDurable(connection);
    migrate(connection, steps);
    return { logOf: (destination) => openLog(connection, destination), close: connection.close };
  } catch (error) {
    connection.close();
    throw error;
  }
}

function openLog(connection: Connection, destination: string): BudgetLog {
  const read = connection.prepare<KeySlot>(
    'SELECT id, budgetKey AS key, freeAt FROM slot WHERE destination = ? ORDER BY freeAt, id',
  );
  const readTaken = connection.prepare<KeySlot>(
    'SELECT id, budgetKey AS key, freeAt FROM slot WHERE destination = ? AND freeAt > ?',
  );
  const add = connection.prepare('INSERT INTO slot (destination, budgetKey, freeAt) VALUES (?, ?, ?)');
  const move = connection.prepare('UPDATE slot SET freeAt = ? WHERE id = ?');
  const forget = connection.prepare('DELETE FROM slot WHERE freeAt < ?');
  return {
    readSlots: () => read.all(destination),
    addSlot: (key, freeAt) => add.run(destination, key, Math.ceil(freeAt)),
    moveSlot: (id, freeAt) => void move.run(Math.ceil(freeAt), id),
    forgetSlots: (now) => void forget.run(now),
    shared: {
      alone: connection.transaction,
      readTaken: (now) => readTaken.all(destination, now),
    },
  };
}
