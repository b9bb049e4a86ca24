import { lateLandingMs } from '../core/open-write.ts';
import type { Connection } from './connection.ts';

/** No step of ours waits longer by itself. */
const longestWaitMs = 60_000;

/**
 * Times of what was seen, answered and sent, table by table, and by how much (ms) they end before now. Which of them came first is not
 * known any more: what was seen counts as seen after each step was decided and sent, so that somebody is asked about it. The journal and
 * the bounds of versions stay as they were written: a database may have them already, and the next version begins after the one before.
 */
const times: readonly (readonly [table: string, columns: readonly string[], beforeMs: number])[] = [
  ['record', ['observedAt', 'heardAt', 'firstSeenAt', 'lastSeenAt', 'writtenAt'], 0],
  ['agreement', ['changedAt'], 0],
  ['outbox', ['createdAt', 'shownUntil', 'sentAt'], 1],
  ['sweep', ['startedAt', 'finishedAt'], 0],
  ['contactRead', ['at'], 0],
  ['decision', ['at'], 0],
];

/**
 * Takes times that are later than now for now: the clock was set back since they were noted. Otherwise what the CRM says would count as
 * older than what is known, and nothing would be due, until the clock has caught up. Returns how many rows had such times.
 */
export function endFuture(connection: Connection, now: number): number {
  /** Sets columns of the rows that fit. Returns how many these are. */
  const correct = (table: string, sets: string, isLate: string, ...bindings: readonly number[]) =>
    connection.prepare(`UPDATE ${table} SET ${sets} WHERE ${isLate} RETURNING 1`).all(...bindings).length;
  // What is damaged is reported when it is read.
  const isLater = (name: string) => `CASE WHEN json_valid(content) THEN content ->> '$.${name}' > ? END`;
  return connection.transaction(() => {
    const late = times.map(([table, columns, beforeMs]) =>
      correct(
        table,
        columns.map((column) => `${column} = min(${column}, ?)`).join(', '),
        columns.map((column) => `${column} > ?`).join(' OR '),
        ...columns.map(() => now - beforeMs),
        ...columns.map(() => now),
      ),
    );
    // A write to the table without a reply may land for as long as if it had been sent just now.
    const settlesMax = now + lateLandingMs;
    const settles = "content = json_set(content, '$.at', ?, '$.settlesAt', ?)";
    late.push(correct('openWrite', settles, isLater('settlesAt'), now, settlesMax, settlesMax));
    // Damage that was undone is watched for as long as if that had been just now.
    late.push(correct('suspect', "content = json_set(content, '$.at', ?)", isLater('at'), now, now));
    const rows = late.reduce((sum, count) => sum + count, 0);
    if (rows > 0) {
      for (const table of ['outbox', 'due'])
        connection.prepare(`UPDATE ${table} SET dueAt = min(dueAt, ?)`).run(now + longestWaitMs);
    }
    return rows;
  });
}
