import type { Mirror } from '../core/mirror.ts';
import { entities, type RecordKey, recordKeyText } from '../core/record.ts';
import type { Connection } from './connection.ts';

/** What makes a row of `due` be due at once, also one that was put off, or that a write carries: that one carried what was known before. */
const atOnce = `ON CONFLICT (side, key) DO UPDATE
  SET isGone = excluded.isGone, dueAt = 0, attempts = 0, reason = '', run = NULL`;

const dueColumns = 'side, key, entity, isGone, dueAt, attempts, reason';

/** A record that is not there is gone. Binds the key. */
export const isGoneNow = "NOT EXISTS (SELECT 1 FROM record WHERE key = ? AND presence = 'present')";

/** Prepares making a record due to a side at once: as it is by now, where it changes. */
export function prepareDue(connection: Connection): (side: string, key: RecordKey) => void {
  const add = connection.prepare(
    `INSERT INTO due (${dueColumns}) VALUES (?, ?, ?, ${isGoneNow}, 0, 0, '') ${atOnce}`,
  );
  return (side, key) => {
    const text = recordKeyText(key);
    add.run(side, text, key.entity, text);
  };
}

/** Prepares making all records due to a side at once that are there. */
export const prepareAllDue = (connection: Connection) =>
  connection.prepare(
    `INSERT INTO due (${dueColumns})
     SELECT ?, key, entity, 0, 0, 0, '' FROM record WHERE presence = 'present' ORDER BY rowid ${atOnce}`,
  );

/** The sides that follow the records. */
export interface Followers {
  names(): readonly string[];
  isFollower(side: string): boolean;
  readonly set: Mirror['setFollowers'];
}

/** Opens the list of sides that follow the records. It is asked with each record that is saved. */
export function openFollowers(connection: Connection): Followers {
  const read = connection.prepare<{ side: string; isCopied: number }>(
    'SELECT side, isCopied FROM follower ORDER BY rowid',
  );
  const add = connection.prepare(
    'INSERT INTO follower (side) VALUES (?) ON CONFLICT DO UPDATE SET isCopied = 0',
  );
  const makeAllDue = prepareAllDue(connection);
  const addCount = connection.prepare('INSERT OR IGNORE INTO dueCount (side, entity) VALUES (?, ?)');
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
  let kept: readonly string[] | undefined;
  const forget = () => {
    kept = undefined;
  };
  connection.onRollback(forget);
  const names = () => {
    kept ??= read.all().map(({ side }) => side);
    return kept;
  };
  return {
    names,
    isFollower: (side) => names().includes(side),
    set: (wanted) =>
      connection.atomically(() => {
        const known = new Map(read.all().map(({ isCopied, side }) => [side, isCopied === 1]));
        const fresh = [...new Set(wanted)].filter((side) => known.get(side) ?? true);
        const left = [...known.keys()].filter((side) => !wanted.includes(side));
        for (const side of left) for (const drop of drops) drop.run(side);
        for (const side of fresh) {
          add.run(side);
          for (const entity of entities) addCount.run(side, entity);
          makeAllDue.run(side);
        }
        if (fresh.length > 0) stamp.run();
        if (wanted.length === 0 && left.length > 0) unstamp.run();
        forget();
        return fresh;
      }),
  };
}
