import type { Due, EndedVersion, Feed } from '../core/feed.ts';
import { entities, recordKeyText } from '../core/record.ts';
import type { Connection } from './connection.ts';
import { openFeedRuns } from './feed-runs.ts';
import { dueAtOnce } from './followers.ts';
import { isFields, readJson, readKey } from './stored-json.ts';

interface DueRow extends Omit<Due, 'key'> {
  readonly key: string;
}

interface VersionRow extends Omit<EndedVersion, 'key' | 'fields' | 'validAfter'> {
  readonly fields: string;
  readonly validAfter: number | null;
}

const dueColumns = 'key, dueAt, attempts, reason';

const prepareStatements = (connection: Connection) => ({
  take: connection.prepare<DueRow>(
    `SELECT ${dueColumns} FROM due WHERE side = ? AND entity = ? AND run IS NULL AND dueAt <= ?
     ORDER BY dueAt, seq LIMIT ?`,
  ),
  next: connection.prepare<{ dueAt: number }>(
    'SELECT dueAt FROM due WHERE side = ? AND entity = ? AND run IS NULL ORDER BY dueAt LIMIT 1',
  ),
  stuck: connection.prepare<DueRow>(
    `SELECT ${dueColumns} FROM due WHERE side = ? AND attempts > 0 ORDER BY seq LIMIT ?`,
  ),
  counts: connection.prepare<{ due: number; stuck: number }>(
    'SELECT due, stuck FROM follower WHERE side = ?',
  ),
  add: connection.prepare(
    `INSERT INTO due (side, key, entity, dueAt, attempts, reason) VALUES (?, ?, ?, 0, 0, '') ${dueAtOnce}`,
  ),
  addAll: connection.prepare(
    `INSERT INTO due (side, key, entity, dueAt, attempts, reason)
     SELECT ?, key, entity, 0, 0, '' FROM record WHERE TRUE ORDER BY rowid ${dueAtOnce}`,
  ),
  delay: connection.prepare(
    `INSERT INTO due (side, key, entity, dueAt, attempts, reason) VALUES (?, ?, ?, ?, 1, ?)
     ON CONFLICT (side, key) DO UPDATE
     SET dueAt = excluded.dueAt, attempts = attempts + 1, reason = excluded.reason, run = NULL`,
  ),
  /** What is put off was not written, whatever becomes of the write that carried it. */
  release: connection.prepare('UPDATE version SET run = NULL WHERE side = ? AND key = ? AND run IS NOT NULL'),
  versions: connection.prepare<VersionRow>(
    `SELECT fields, validFrom, validAfter, validUntil, ended, madeBy FROM version
     WHERE side = ? AND key = ? ORDER BY seq`,
  ),
});

/** Opens the feed of a side. Each statement finds its rows by an index: there may be a million due, and as many versions. */
export function openFeed(connection: Connection, side: string, isFollower: (side: string) => boolean): Feed {
  const { add, addAll, counts, delay, next, release, stuck, take, versions } = prepareStatements(connection);
  const count = () => counts.all(side)[0] ?? { due: 0, stuck: 0 };

  return {
    takeDue(now, limit) {
      const due: Due[] = [];
      for (const entity of entities) {
        if (due.length >= limit) break;
        for (const row of take.all(side, entity, now, limit - due.length)) due.push(toDue(row));
      }
      return due;
    },
    countDue: () => count().due,
    nextDueAt() {
      const times = entities.flatMap((entity) => next.all(side, entity).map(({ dueAt }) => dueAt));
      return times.length === 0 ? undefined : Math.min(...times);
    },
    readStuck: (limit) => ({ count: count().stuck, shown: stuck.all(side, limit).map(toDue) }),
    noteDue(keys) {
      if (!isFollower(side)) return;
      connection.atomically(() => {
        for (const key of keys) add.run(side, recordKeyText(key), key.entity);
      });
    },
    noteAllDue() {
      if (isFollower(side)) addAll.run(side);
    },
    putOff(keys, dueAt, reason) {
      if (!isFollower(side)) return;
      connection.atomically(() => {
        for (const key of keys) {
          delay.run(side, recordKeyText(key), key.entity, dueAt, reason);
          release.run(side, recordKeyText(key));
        }
      });
    },
    readVersions: (key) =>
      versions.all(side, recordKeyText(key)).map(({ fields, validAfter, ...version }) => ({
        ...version,
        key,
        fields: readJson('fields of a record', isFields, fields),
        ...(validAfter === null ? {} : { validAfter }),
      })),
    ...openFeedRuns(connection, side),
  };
}

const toDue = ({ key, ...due }: DueRow): Due => ({ ...due, key: readKey(key) });
