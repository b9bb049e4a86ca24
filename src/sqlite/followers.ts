import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities, type RecordKey, recordKeyText } from '../core/record.ts';
import type { Connection } from './connection.ts';

/** Whether a write of the side is not over: it does not carry what is noted now. Binds the side. */
export const isDuringRunNow = 'EXISTS (SELECT 1 FROM feedRun WHERE side = ? AND no IS NULL)';

/** What makes a row of `due` be due at once, also one that was put off, or that a write carries: that one carries what was known before. */
const atOnce = `ON CONFLICT (side, key) DO UPDATE
  SET isGone = excluded.isGone, dueAt = 0, attempts = 0, reason = '', isDuringRun = excluded.isDuringRun`;

const dueColumns = 'side, key, entity, isGone, dueAt, attempts, reason, isDuringRun';

/** A record that is not there is gone. Binds the key. */
export const isGoneNow = "NOT EXISTS (SELECT 1 FROM record WHERE key = ? AND presence = 'present')";

/** Prepares making a record due to a side at once: as it is by now, where it changes. */
export function prepareDue(connection: Connection): (side: string, key: RecordKey) => void {
  const add = connection.prepare(
    `INSERT INTO due (${dueColumns}) VALUES (?, ?, ?, ${isGoneNow}, 0, 0, '', ${isDuringRunNow}) ${atOnce}`,
  );
  return (side, key) => {
    const text = recordKeyText(key);
    add.run(side, text, key.entity, text, side);
  };
}

/** Prepares making all records of a kind due to a side at once that are there. */
export function prepareAllDue(connection: Connection): (side: string, entity: Entity) => void {
  const add = connection.prepare(
    `INSERT INTO due (${dueColumns})
     SELECT ?, key, entity, 0, 0, 0, '', ${isDuringRunNow}
     FROM record WHERE presence = 'present' AND entity = ? ORDER BY rowid ${atOnce}`,
  );
  return (side, entity) => void add.run(side, side, entity);
}

/** The sides that follow the records. */
export interface Followers {
  /** Whether any side follows any kind. */
  hasAny(): boolean;
  /** Those that follow records of the kind. */
  of(entity: Entity): readonly string[];
  isFollower(side: string, entity: Entity): boolean;
  readonly set: Mirror['setFollowers'];
}

/** Prepares that a side begins to follow a kind, or follows it no longer. A kind that is followed is counted. */
function prepareKinds(connection: Connection) {
  const addAllDue = prepareAllDue(connection);
  const addCount = connection.prepare('INSERT OR IGNORE INTO dueCount (side, entity) VALUES (?, ?)');
  const drops = [
    'due WHERE side = ? AND entity = ?',
    "version WHERE side = ? AND key GLOB ? || '-*'",
    'dueCount WHERE side = ? AND entity = ?',
  ].map((rows) => connection.prepare(`DELETE FROM ${rows}`));
  return {
    begin(side: string, entity: Entity) {
      addCount.run(side, entity);
      addAllDue(side, entity);
    },
    end(side: string, entity: Entity) {
      for (const drop of drops) drop.run(side, entity);
    },
  };
}

/** Opens the list of sides that follow the records. It is asked with each record that is saved. */
export function openFollowers(connection: Connection): Followers {
  const read = connection.prepare<{ side: string; isCopied: number }>('SELECT side, isCopied FROM follower');
  const readKinds = connection.prepare<{ side: string; entity: Entity }>(
    'SELECT dueCount.side, entity FROM dueCount JOIN follower USING (side) ORDER BY follower.rowid',
  );
  const add = connection.prepare(
    'INSERT INTO follower (side) VALUES (?) ON CONFLICT DO UPDATE SET isCopied = 0',
  );
  const kindsOf = prepareKinds(connection);
  const drops = ['follower', 'dueCount', 'due', 'version', 'feedRun'].map((table) =>
    connection.prepare(`DELETE FROM ${table} WHERE side = ?`),
  );
  const stamp = connection.prepare(
    `UPDATE record SET validFrom = observedAt, madeBy = 'crm' WHERE validFrom IS NULL AND presence = 'present'`,
  );
  // What changes while nothing follows is not noted.
  const unstamp = connection.prepare(
    'UPDATE record SET validFrom = NULL, validAfter = NULL, madeBy = NULL WHERE validFrom IS NOT NULL',
  );
  let kept: Readonly<Partial<Record<Entity, readonly string[]>>> | undefined;
  const forget = () => {
    kept = undefined;
  };
  connection.onRollback(forget);
  const byKind = () => {
    kept ??= Object.fromEntries(
      [...Map.groupBy(readKinds.all(), ({ entity }) => entity)].map(([entity, rows]) => [
        entity,
        rows.map(({ side }) => side),
      ]),
    );
    return kept;
  };
  const of = (entity: Entity) => byKind()[entity] ?? [];
  return {
    hasAny: () => Object.keys(byKind()).length > 0,
    of,
    isFollower: (side, entity) => of(entity).includes(side),
    set: (wanted, kinds = entities) =>
      connection.atomically(() => {
        const known = new Map(read.all().map(({ isCopied, side }) => [side, isCopied === 1]));
        const left = [...known.keys()].filter((side) => !wanted.includes(side));
        for (const side of left) for (const drop of drops) drop.run(side);
        const fresh = new Set<string>();
        for (const side of new Set(wanted)) {
          const isNew = known.get(side) ?? true;
          if (isNew) add.run(side);
          if (isNew) fresh.add(side);
          for (const entity of entities) {
            const isFollowed = of(entity).includes(side);
            const isWanted = kinds.includes(entity);
            if (isFollowed && !isWanted) kindsOf.end(side, entity);
            if (!isWanted || (isFollowed && !isNew)) continue;
            kindsOf.begin(side, entity);
            fresh.add(side);
          }
        }
        if (fresh.size > 0) stamp.run();
        if (wanted.length === 0 && left.length > 0) unstamp.run();
        forget();
        return [...fresh];
      }),
  };
}
