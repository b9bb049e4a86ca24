import type { Due, EndedVersion, Feed } from '../core/feed.ts';
import { type Entity, entities, recordKeyText } from '../core/record.ts';
import type { Connection } from './connection.ts';
import { openFeedRuns } from './feed-runs.ts';
import { type Followers, isDuringRunNow, isGoneNow, prepareAllDue, prepareDue } from './followers.ts';
import { isFields, readJson, readKey } from './stored-json.ts';

interface DueRow extends Omit<Due, 'key'> {
  readonly key: string;
}

interface VersionRow extends Omit<EndedVersion, 'key' | 'fields' | 'validAfter'> {
  readonly fields: string;
  readonly validAfter: number | null;
}

interface Counts {
  readonly entity: Entity;
  readonly due: number;
  readonly gone: number;
  readonly stuck: number;
}

const dueColumns = 'key, dueAt, attempts, reason';

const prepareStatements = (connection: Connection) => ({
  take: connection.prepare<DueRow>(
    `SELECT ${dueColumns} FROM due WHERE side = ? AND entity = ? AND dueAt BETWEEN ? AND ?
     ORDER BY dueAt, seq LIMIT ?`,
  ),
  next: connection.prepare<{ dueAt: number }>(
    'SELECT dueAt FROM due WHERE side = ? AND entity = ? ORDER BY dueAt LIMIT 1',
  ),
  stuck: connection.prepare<DueRow>(
    `SELECT ${dueColumns} FROM due WHERE side = ? AND attempts > 0 ORDER BY seq LIMIT ?`,
  ),
  fresh: connection.prepare<DueRow>(
    `SELECT ${dueColumns} FROM due WHERE side = ? AND entity = ? AND dueAt = 0 AND isGone = 0
       AND NOT EXISTS (SELECT 1 FROM version WHERE version.side = due.side AND version.key = due.key)
     ORDER BY seq LIMIT ?`,
  ),
  any: connection.prepare('SELECT 1 FROM due WHERE side = ? AND key = ?'),
  gonePutOff: connection.prepare<{ entity: Entity; count: number }>(
    'SELECT entity, count(*) AS count FROM due WHERE side = ? AND attempts > 0 AND isGone = 1 GROUP BY entity',
  ),
  counts: connection.prepare<Counts>('SELECT entity, due, gone, stuck FROM dueCount WHERE side = ?'),
  delay: connection.prepare(
    `INSERT INTO due (side, key, entity, isGone, dueAt, attempts, reason, isDuringRun)
     VALUES (?, ?, ?, ${isGoneNow}, ?, 1, ?, ${isDuringRunNow})
     ON CONFLICT (side, key) DO UPDATE
     SET dueAt = excluded.dueAt, attempts = attempts + 1, reason = excluded.reason, isDuringRun = excluded.isDuringRun`,
  ),
  versions: connection.prepare<VersionRow>(
    `SELECT fields, validFrom, validAfter, validUntil, ended, madeBy FROM version
     WHERE side = ? AND key = ? ORDER BY seq`,
  ),
});

/** Opens the feed of a side. Each statement finds its rows by an index: there may be a million due, and as many versions. */
export function openFeed(connection: Connection, side: string, isFollower: Followers['isFollower']): Feed {
  const statements = prepareStatements(connection);
  const { any, counts, delay, fresh, gonePutOff, next, stuck, take, versions } = statements;
  const add = prepareDue(connection);
  const addAll = prepareAllDue(connection);

  return {
    takeDue(now, limit, wanted) {
      const due: Due[] = [];
      const kinds = entities.filter((entity) => wanted.includes(entity));
      // What was put off comes last: it may be put off each time.
      for (const [from, to] of [[0, 0] as const, [1, now] as const])
        for (const entity of kinds)
          due.push(...take.all(side, entity, from, to, limit - due.length).map(toDue));
      return due;
    },
    takeFresh: (entity, limit) => fresh.all(side, entity, limit).map(toDue),
    countGone: () => countsOf(counts.all(side), 'gone'),
    countGonePutOff: () =>
      Object.fromEntries(gonePutOff.all(side).map(({ count, entity }) => [entity, count])),
    countDue: () => countsOf(counts.all(side), 'due'),
    isDue: (key) => any.all(side, recordKeyText(key)).length > 0,
    nextDueAt() {
      const times = entities.flatMap((entity) => next.all(side, entity).map(({ dueAt }) => dueAt));
      return times.length === 0 ? undefined : Math.min(...times);
    },
    readStuck: (limit) => ({
      count: counts.all(side).reduce((sum, each) => sum + each.stuck, 0),
      shown: stuck.all(side, limit).map(toDue),
    }),
    noteDue(keys) {
      connection.atomically(() => {
        for (const key of keys) if (isFollower(side, key.entity)) add(side, key);
      });
    },
    noteAllDue() {
      connection.atomically(() => {
        for (const entity of entities) if (isFollower(side, entity)) addAll(side, entity);
      });
    },
    putOff(keys, dueAt, reason) {
      connection.atomically(() => {
        for (const key of keys.filter(({ entity }) => isFollower(side, entity))) {
          const text = recordKeyText(key);
          delay.run(side, text, key.entity, text, dueAt, reason, side);
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

const countsOf = (
  counts: readonly Counts[],
  name: 'due' | 'gone',
): Readonly<Partial<Record<Entity, number>>> =>
  Object.fromEntries(counts.filter((each) => each[name] > 0).map((each) => [each.entity, each[name]]));
