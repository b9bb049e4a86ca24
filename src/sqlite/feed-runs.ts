import { isText, listOf } from '../core/facts.ts';
import type { Feed } from '../core/feed.ts';
import { type RecordKey, recordKeyText } from '../core/record.ts';
import type { Connection } from './connection.ts';
import { readJson, readKey } from './stored-json.ts';

/** The keys of a write of more records are not remembered: after such a write all records have to be looked at. */
const rememberedKeysMax = 5_000;

type Runs = Pick<
  Feed,
  'beginRun' | 'pendingRun' | 'endRun' | 'dropRun' | 'lastRun' | 'setLastRun' | 'keysAfter' | 'forgetRuns'
>;

/** What was noted while a write is not over is not carried by it, and remains. */
const prepareStatements = (connection: Connection) => {
  /** Of what is due, and of versions. */
  const prepareBoth = (sql: (table: string) => string) =>
    ['due', 'version'].map((table) => connection.prepare(sql(table)));
  return {
    begin: connection.prepare('INSERT INTO feedRun (side, run, at, keys) VALUES (?, ?, ?, ?)'),
    pending: connection.prepare<{ run: string; at: number; keys: string; count: number }>(
      'SELECT run, at, keys, json_array_length(keys) AS count FROM feedRun WHERE side = ? AND no IS NULL',
    ),
    end: connection.prepare('UPDATE feedRun SET no = ?, keys = ? WHERE side = ? AND run = ?'),
    drop: connection.prepare('DELETE FROM feedRun WHERE side = ? AND no IS NULL'),
    forgetAfter: connection.prepare('DELETE FROM feedRun WHERE side = ? AND no > ?'),
    forgetBefore: connection.prepare('DELETE FROM feedRun WHERE side = ? AND at < ? AND no IS NOT NULL'),
    doneAfter: connection.prepare<{ keys: string | null }>(
      'SELECT keys FROM feedRun WHERE side = ? AND no > ? ORDER BY no',
    ),
    last: connection.prepare<{ lastRun: number }>('SELECT lastRun FROM follower WHERE side = ?'),
    setLast: connection.prepare('UPDATE follower SET lastRun = ? WHERE side = ?'),
    removals: prepareBoth(
      (table) =>
        `DELETE FROM ${table} WHERE side = ? AND isDuringRun = 0
           AND key IN (SELECT value FROM json_each(?)) AND key NOT IN (SELECT value FROM json_each(?))`,
    ),
    ends: prepareBoth((table) => `UPDATE ${table} SET isDuringRun = 0 WHERE side = ? AND isDuringRun = 1`),
  };
};

/** Opens the writes of a side: the one that is not over, which has no number yet, and those that are done. */
export function openFeedRuns(connection: Connection, side: string): Runs {
  const statements = prepareStatements(connection);
  const { begin, doneAfter, drop, end, forgetAfter, forgetBefore, last, pending, setLast } = statements;
  const { ends, removals } = statements;

  const findPending = () => pending.all(side)[0];
  const readLast = () => last.all(side)[0]?.lastRun;
  return {
    beginRun: ({ at, keys, run }) =>
      connection.atomically(() => {
        if (readLast() === undefined) throw new Error(`A write to ${side} was begun, which follows nothing.`);
        begin.run(side, run, at, textOf(keys));
      }),
    pendingRun() {
      const found = findPending();
      return found && { run: found.run, at: found.at, keys: readKeys(found.keys) };
    },
    endRun: (number, left = []) =>
      connection.atomically(() => {
        const found = findPending();
        if (!found) throw new Error(`A write to ${side} has ended that was not begun.`);
        for (const remove of removals) remove.run(side, found.keys, textOf(left));
        for (const endPart of ends) endPart.run(side);
        forgetAfter.run(side, number - 1);
        end.run(number, found.count <= rememberedKeysMax ? found.keys : null, side, found.run);
        setLast.run(number, side);
      }),
    dropRun: () =>
      connection.atomically(() => {
        for (const endPart of ends) endPart.run(side);
        drop.run(side);
      }),
    lastRun: () => readLast() ?? 0,
    setLastRun: (number) =>
      connection.atomically(() => {
        // The other end will give the numbers after it to other writes.
        forgetAfter.run(side, number);
        setLast.run(number, side);
      }),
    keysAfter(number) {
      const done = doneAfter.all(side, number);
      if (done.length !== (readLast() ?? 0) - number) return undefined;
      const keys = new Map<string, RecordKey>();
      for (const each of done) {
        if (each.keys === null) return undefined;
        for (const key of readKeys(each.keys)) keys.set(recordKeyText(key), key);
      }
      return [...keys.values()];
    },
    forgetRuns: (before) => void forgetBefore.run(side, before),
  };
}

const isTexts = listOf(isText);

const textOf = (keys: readonly RecordKey[]): string => JSON.stringify(keys.map(recordKeyText));

const readKeys = (text: string): RecordKey[] => readJson('a list of record keys', isTexts, text).map(readKey);
