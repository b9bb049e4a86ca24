import type { BudgetLog, KeySlot } from '../core/ports.ts';
import type { Ballast } from './ballast.ts';
import type { Connection } from './connection.ts';

/**
 * Slots of request budgets. Times that are not whole milliseconds are rounded up: a slot is never free too early. No slot is given out,
 * and so no request is sent, while its answer could not be written down.
 */
export function openBudgetLog(connection: Connection, ballast: Ballast): BudgetLog {
  const read = connection.prepare<KeySlot>(
    'SELECT id, budgetKey AS key, freeAt FROM budgetSlot ORDER BY freeAt, id',
  );
  const add = connection.prepare('INSERT INTO budgetSlot (budgetKey, freeAt) VALUES (?, ?)');
  const move = connection.prepare('UPDATE budgetSlot SET freeAt = ? WHERE id = ?');
  const forget = connection.prepare('DELETE FROM budgetSlot WHERE freeAt < ?');
  return {
    readSlots: () => read.all(),
    addSlot(key, freeAt) {
      ballast.expect();
      return add.run(key, Math.ceil(freeAt));
    },
    moveSlot: (id, freeAt) => void move.run(Math.ceil(freeAt), id),
    forgetSlots: (now) => void forget.run(now),
  };
}
