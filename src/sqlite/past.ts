import { lateLandingMs } from '../core/open-write.ts';
import type { Connection } from './connection.ts';

/** No step of ours waits longer by itself. */
const longestWaitMs = 60_000;

/**
 * Times of what was seen, answered and sent, table by table, and by how much (ms) they end before now. Which of them came first is not
 * known any more: what was seen counts as seen after each step was decided and sent, so that somebody is asked about it. The journal stays
 * as it was written.
 */
const times: readonly (readonly [table: string, columns: readonly string[], beforeMs: number])[] = [
  ['record', ['observedAt', 'firstSeenAt', 'lastSeenAt', 'writtenAt'], 0],
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
  return connection.transaction(() => {
    const late = times.map(([table, columns, beforeMs]) => {
      const isLate = columns.map((column) => `${column} > ?`).join(' OR ');
      const corrected = columns.map((column) => `${column} = min(${column}, ?)`).join(', ');
      const all = columns.map(() => now);
      const ends = columns.map(() => now - beforeMs);
      const count = connection
        .prepare<{ count: number }>(`SELECT count(*) AS count FROM ${table} WHERE ${isLate}`)
        .get(...all)?.count;
      connection.prepare(`UPDATE ${table} SET ${corrected} WHERE ${isLate}`).run(...ends, ...all);
      return count ?? 0;
    });
    const rows = late.reduce(
      (sum, count) => sum + count,
      endFutureOfWrites(connection, now) + endFutureOfSuspects(connection, now),
    );
    const dueMax = now + longestWaitMs;
    if (rows > 0) connection.prepare('UPDATE outbox SET dueAt = min(dueAt, ?)').run(dueMax);
    return rows;
  });
}

/** A write to the table that nobody answered may land for as long as if it had been sent just now. */
function endFutureOfWrites(connection: Connection, now: number): number {
  // What is damaged is told when it is read.
  const isLate = "CASE WHEN json_valid(content) THEN content ->> '$.settlesAt' > ? END";
  const settlesMax = now + lateLandingMs;
  const late = connection
    .prepare<{ count: number }>(`SELECT count(*) AS count FROM openWrite WHERE ${isLate}`)
    .get(settlesMax);
  connection
    .prepare(`UPDATE openWrite SET content = json_set(content, '$.at', ?, '$.settlesAt', ?) WHERE ${isLate}`)
    .run(now, settlesMax, settlesMax);
  return late?.count ?? 0;
}

/** Damage that was undone is watched for as long as if that had been just now. */
function endFutureOfSuspects(connection: Connection, now: number): number {
  const isLate = "CASE WHEN json_valid(content) THEN content ->> '$.at' > ? END";
  const late = connection
    .prepare<{ count: number }>(`SELECT count(*) AS count FROM suspect WHERE ${isLate}`)
    .get(now);
  connection
    .prepare(`UPDATE suspect SET content = json_set(content, '$.at', ?) WHERE ${isLate}`)
    .run(now, now);
  return late?.count ?? 0;
}
