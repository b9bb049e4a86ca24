import type { Connection } from './connection.ts';

/** No step of ours waits longer by itself. */
const longestWaitMs = 60_000;

/** Times of what was seen and sent, table by table. The journal stays as it was written. */
const times: readonly (readonly [table: string, columns: readonly string[]])[] = [
  ['record', ['observedAt', 'firstSeenAt', 'lastSeenAt', 'writtenAt']],
  ['agreement', ['changedAt']],
  ['outbox', ['createdAt', 'sentAt']],
  ['sweep', ['startedAt', 'finishedAt']],
  ['contactRead', ['at']],
];

/**
 * Takes times that are later than now for now: the clock was set back since they were noted. Otherwise what the CRM says would count as
 * older than what is known, and nothing would be due, until the clock has caught up. Answers how many rows had such times.
 */
export function endFuture(connection: Connection, now: number): number {
  return connection.transaction(() => {
    const late = times.map(([table, columns]) => {
      const isLate = columns.map((column) => `${column} > ?`).join(' OR ');
      const corrected = columns.map((column) => `${column} = min(${column}, ?)`).join(', ');
      const all = columns.map(() => now);
      const count = connection
        .prepare<{ count: number }>(`SELECT count(*) AS count FROM ${table} WHERE ${isLate}`)
        .get(...all)?.count;
      connection.prepare(`UPDATE ${table} SET ${corrected} WHERE ${isLate}`).run(...all, ...all);
      return count ?? 0;
    });
    const rows = late.reduce((sum, count) => sum + count, 0);
    const dueMax = now + longestWaitMs;
    if (rows > 0) connection.prepare('UPDATE outbox SET dueAt = min(dueAt, ?)').run(dueMax);
    return rows;
  });
}
