import type { Mirror } from '../core/mirror.ts';
import { recordKeyText } from '../core/record.ts';
import type { JournalEntry } from '../core/state.ts';
import type { Connection, Statement } from './connection.ts';
import { readFields, readKey } from './stored-json.ts';

interface JournalRow {
  at: number;
  run: string;
  key: string;
  kind: JournalEntry['kind'];
  side: JournalEntry['side'];
  before: string;
  after: string;
  lost: string;
  cause: string;
}

/** SQLite takes a negative limit for none. */
const noLimit = -1;

const columns = 'at, run, key, kind, side, before, after, lost, cause';

const hasField = `? IN (
  SELECT json_each.key FROM json_each(journal.after)
  UNION ALL SELECT json_each.key FROM json_each(journal.before)
  UNION ALL SELECT json_each.key FROM json_each(journal.lost))`;

type Journal = Pick<
  Mirror,
  'appendJournal' | 'readJournal' | 'searchJournal' | 'readBusyRecords' | 'forgetJournal'
>;

/**
 * What was done, in the order it was done. Nothing is ever changed; only what is too old is taken out. It grows to a year of lines, and every
 * cycle asks it: so each question has conditions of its own, by which an index finds the lines, and `+key` leaves that of the times to
 * find those of the last hour.
 */
export function openJournal(connection: Connection): Journal {
  const append = connection.prepare(`INSERT INTO journal (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const latest = connection.prepare<JournalRow>(`SELECT ${columns} FROM journal ORDER BY id DESC LIMIT ?`);
  const searches = new Map<string, Statement<JournalRow & { id: number }>>();
  const searchBy = (conditions: string) => {
    const search =
      searches.get(conditions) ??
      connection.prepare(`SELECT id, ${columns} FROM journal WHERE ${conditions} ORDER BY id DESC LIMIT ?`);
    searches.set(conditions, search);
    return search;
  };
  const busy = connection.prepare<{ key: string }>(
    `SELECT key FROM journal WHERE at >= ? AND side <> 'both' AND cause <> 'taken back'
     GROUP BY +key HAVING COUNT(*) >= ?`,
  );
  const forget = connection.prepare('DELETE FROM journal WHERE at < ?');
  return {
    appendJournal(entries) {
      connection.atomically(() => {
        for (const entry of entries) append.run(...bind(entry));
      });
    },
    readJournal: (limit) => latest.all(limit).map(readEntry),
    searchJournal({ key, run, id, since, field, limit }) {
      const asked = [
        { condition: 'key = ?', value: key && recordKeyText(key) },
        { condition: 'run = ?', value: run },
        { condition: 'id = ?', value: id },
        { condition: 'at >= ?', value: since },
        { condition: hasField, value: field },
      ].flatMap(({ condition, value }) => (value === undefined ? [] : { condition, value }));
      const conditions = ['TRUE', ...asked.map(({ condition }) => condition)].join(' AND ');
      return searchBy(conditions)
        .all(...asked.map(({ value }) => value), limit ?? noLimit)
        .map(({ id, ...row }) => ({ ...readEntry(row), id }));
    },
    readBusyRecords: (since, linesMin) => busy.all(since, linesMin).map(({ key }) => readKey(key)),
    forgetJournal: (before) => void forget.run(before),
  };
}

const bind = ({ at, run, key, kind, side, before, after, lost, cause }: JournalEntry) =>
  [
    at,
    run,
    recordKeyText(key),
    kind,
    side,
    JSON.stringify(before),
    JSON.stringify(after),
    JSON.stringify(lost),
    cause,
  ] as const;

const readEntry = ({ key, before, after, lost, ...rest }: JournalRow): JournalEntry => ({
  ...rest,
  key: readKey(key),
  before: readFields(before),
  after: readFields(after),
  lost: readFields(lost),
});
