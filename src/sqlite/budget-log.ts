import type { BudgetLog, KeySlot } from '../core/ports.ts';
import type { Ballast } from './ballast.ts';
import type { Connection } from './connection.ts';

/** The slots of a table: all of them, or those of one destination. Times that are not whole milliseconds are rounded up: a slot is never free too early. */
export function openSlots(connection: Connection, table: string, destination?: string) {
  const own = destination === undefined ? [] : [destination];
  const [isOwn, columns, places] =
    destination === undefined ? ['TRUE', '', ''] : ['destination = ?', 'destination, ', '?, '];
  const read = connection.prepare<KeySlot>(
    `SELECT id, budgetKey AS key, freeAt FROM ${table} WHERE ${isOwn} AND freeAt > ? ORDER BY freeAt, id`,
  );
  const add = connection.prepare(`INSERT INTO ${table} (${columns}budgetKey, freeAt) VALUES (${places}?, ?)`);
  const move = connection.prepare(`UPDATE ${table} SET freeAt = ? WHERE id = ?`);
  const forget = connection.prepare(`DELETE FROM ${table} WHERE freeAt < ?`);
  return {
    readTaken: (now: number) => read.all(...own, now),
    addSlot: (key: string, freeAt: number) => add.run(...own, key, Math.ceil(freeAt)),
    moveSlot: (id: number, freeAt: number) => void move.run(Math.ceil(freeAt), id),
    forgetSlots: (now: number) => void forget.run(now),
  };
}

/**
 * Slots of the request budgets of one mirror. None is given out, and so no request is sent, while its answer could not be written down. Moves
 * are written with the next slot, so that a request costs one commit: after a crash the slots of the last answers free later than they could.
 */
export function openBudgetLog(connection: Connection, ballast: Ballast): BudgetLog {
  const { readTaken, ...slots } = openSlots(connection, 'budgetSlot');
  const moves = new Map<number, number>();
  /** Does the work, and the moves before it, in one transaction. */
  const withMoves = <Result>(work: () => Result): Result => {
    const result = connection.atomically(() => {
      for (const move of moves) slots.moveSlot(...move);
      return work();
    });
    moves.clear();
    return result;
  };
  connection.onClose(() => {
    if (moves.size > 0) withMoves(() => undefined);
  });
  return {
    ...slots,
    readSlots: () => readTaken(0),
    addSlot(key, freeAt) {
      ballast.expect();
      return withMoves(() => slots.addSlot(key, freeAt));
    },
    moveSlot: (id, freeAt) => void moves.set(id, freeAt),
  };
}
