import type { Due, EndedVersion, Feed } from '../core/feed.ts';
import { type Entity, entities, recordKeyText } from '../core/record.ts';
import type { Connection } from './connection.ts';
import { openFeedRuns } from './feed-runs.ts';
import { dueAtOnce } from './followers.ts';
import { isFields, readJson, readKey } from './stored-json.ts';

interface DueRow extends Omit<Due, 'key'> {
  readonly key: string;
}

interface EntityCount {
  readonly entity: Entity;
  readonly count: number;
}

interface VersionRow extends Omit<EndedVersion, 'key' | 'fields' | 'validAfter'> {
  readonly fields: string;
  readonly validAfter: number | null;
}

/** Whether the mirror has no such record, or only as one that is gone. */
const isGone = (key: string) =>
  `NOT EXISTS (SELECT 1 FROM record WHERE record.key = ${key} AND record.presence = 'present')`;

const dueColumns = 'key, dueAt, attempts, reason';

const prepareStatements = (connection: Connection) => ({
  take: connection.prepare<DueRow>(
    `SELECT ${dueColumns} FROM due WHERE side = ? AND entity = ? AND run IS NULL AND dueAt <= ?
     ORDER BY dueAt, seq LIMIT ?`,
  ),
  fresh: connection.prepare<{ key: string }>(
    `SELECT key FROM due WHERE side = ? AND entity = ? AND run IS NULL AND dueAt = 0 AND isGone = 0
     AND NOT EXISTS (SELECT 1 FROM version WHERE version.side = due.side AND version.key = due.key)
     ORDER BY dueAt, seq LIMIT ?`,
  ),
  gone: connection.prepare<EntityCount>(
    'SELECT entity, COUNT(*) AS count FROM due WHERE side = ? AND isGone = 1 GROUP BY entity',
  ),
  kinds: connection.prepare<EntityCount>(
    'SELECT entity, COUNT(*) AS count FROM due WHERE side = ? GROUP BY entity',
  ),
  find: connection.prepare('SELECT 1 FROM due WHERE side = ? AND key = ?'),
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
    `INSERT INTO due (side, key, entity, dueAt, attempts, reason, isGone)
     SELECT ?, value, ?, 0, 0, '', ${isGone('value')} FROM json_each(json_array(?)) WHERE TRUE ${dueAtOnce}`,
  ),
  addAll: connection.prepare(
    `INSERT INTO due (side, key, entity, dueAt, attempts, reason, isGone)
     SELECT ?, key, entity, 0, 0, '', presence = 'gone' FROM record WHERE TRUE ORDER BY rowid ${dueAtOnce}`,
  ),
  delay: connection.prepare(
    `INSERT INTO due (side, key, entity, dueAt, attempts, reason, isGone)
     SELECT ?, value, ?, ?, 1, ?, ${isGone('value')} FROM json_each(json_array(?)) WHERE TRUE
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
  const statements = prepareStatements(connection);
  const { add, addAll, counts, delay, find, fresh, gone, kinds, next, release, stuck, take, versions } =
    statements;
  const count = () => counts.all(side)[0] ?? { due: 0, stuck: 0 };

  return {
    takeDue(now, limit, wanted) {
      const due: Due[] = [];
      for (const entity of entities) {
        if (!wanted.includes(entity)) continue;
        if (due.length >= limit) break;
        for (const row of take.all(side, entity, now, limit - due.length)) due.push(toDue(row));
      }
      return due;
    },
    takeFresh: (entity, limit) => fresh.all(side, entity, limit).map(({ key }) => readKey(key)),
    countDue: () => count().due,
    countGone: () => byEntity(gone.all(side)),
    countKinds: () => byEntity(kinds.all(side)),
    isDue: (key) => find.all(side, recordKeyText(key)).length > 0,
    nextDueAt() {
      const times = entities.flatMap((entity) => next.all(side, entity).map(({ dueAt }) => dueAt));
      return times.length === 0 ? undefined : Math.min(...times);
    },
    readStuck: (limit) => ({ count: count().stuck, shown: stuck.all(side, limit).map(toDue) }),
    noteDue(keys) {
      if (!isFollower(side)) return;
      connection.atomically(() => {
        for (const key of keys) add.run(side, key.entity, recordKeyText(key));
      });
    },
    noteAllDue() {
      if (isFollower(side)) addAll.run(side);
    },
    putOff(keys, dueAt, reason) {
      if (!isFollower(side)) return;
      connection.atomically(() => {
        for (const key of keys) {
          delay.run(side, key.entity, dueAt, reason, recordKeyText(key));
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

const byEntity = (rows: readonly EntityCount[]) =>
  Object.fromEntries(rows.map(({ count, entity }) => [entity, count]));

const toDue = ({ key, ...due }: DueRow): Due => ({ ...due, key: readKey(key) });
