import type { Mirror } from '../core/mirror.ts';
import type { Connection } from './connection.ts';

/** What makes a row of `due` be due at once, also one that was put off, or that a write carries: that one carried what was known before. */
export const dueAtOnce =
  "ON CONFLICT (side, key) DO UPDATE SET dueAt = 0, attempts = 0, reason = '', isGone = excluded.isGone, run = NULL";

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
  const makeDue = (where: string) =>
    connection.prepare(
      `INSERT INTO due (side, key, entity, dueAt, attempts, reason, isGone)
       SELECT ?, key, entity, 0, 0, '', presence = 'gone' FROM record WHERE ${where} ORDER BY rowid ${dueAtOnce}`,
    );
  const makePresentDue = makeDue("presence = 'present'");
  const makeAllDue = makeDue('TRUE');
  const drops = ['follower', 'due', 'version', 'feedRun'].map((table) =>
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
          // What a copy knows as gone may have been written to the side after the copy was made.
          (known.has(side) ? makeAllDue : makePresentDue).run(side);
        }
        if (fresh.length > 0) stamp.run();
        if (wanted.length === 0 && left.length > 0) unstamp.run();
        forget();
        return fresh;
      }),
  };
}
