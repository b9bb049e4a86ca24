import type { Mirror } from '../core/mirror.ts';
import { recordKeyText } from '../core/record.ts';
import type { JournalEntry } from '../core/state.ts';
import type { Connection } from './connection.ts';
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

const columns = 'at, run, key, kind, side, before, after, lost, cause';

type Journal = Pick<
  Mirror,
  'appendJournal' | 'readJournal' | 'searchJournal' | 'readBusyRecords' | 'forgetJournal'
>;

/** What was done, in the order it was done. Nothing is ever changed; only what is too old is taken out. */
export function openJournal(connection: Connection): Journal {
  const append = connection.prepare(`INSERT INTO journal (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const latest = connection.prepare<JournalRow>(`SELECT ${columns} FROM journal ORDER BY id DESC LIMIT ?`);
  const search = connection.prepare<JournalRow & { id: number }>(
    `WITH wanted (key, run, id, since, field) AS (VALUES (?, ?, ?, ?, ?))
     SELECT journal.id, ${columns.replaceAll(/\w+/g, 'journal.$&')} FROM journal, wanted
     WHERE (wanted.key IS NULL OR journal.key = wanted.key)
       AND (wanted.run IS NULL OR journal.run = wanted.run)
       AND (wanted.id IS NULL OR journal.id = wanted.id)
       AND (wanted.since IS NULL OR journal.at >= wanted.since)
       AND (wanted.field IS NULL OR EXISTS (
         SELECT 1 FROM json_each(journal.after) WHERE json_each.key = wanted.field
         UNION ALL SELECT 1 FROM json_each(journal.before) WHERE json_each.key = wanted.field))
     ORDER BY journal.id DESC LIMIT ?`,
  );
  const busy = connection.prepare<{ key: string }>(
    `SELECT key FROM journal WHERE at >= ? AND side <> 'both' AND cause <> 'taken back'
     GROUP BY key HAVING COUNT(*) >= ?`,
  );
  const forget = connection.prepare('DELETE FROM journal WHERE at < ?');
  return {
    appendJournal(entries) {
      connection.atomically(() => {
        for (const entry of entries) append.run(...bind(entry));
      });
    },
    readJournal: (limit) => latest.all(limit).map(readEntry),
    searchJournal: ({ key, run, id, since, field, limit }) =>
      search
        .all(key ? recordKeyText(key) : null, run ?? null, id ?? null, since ?? null, field ?? null, limit)
        .map(({ id, ...row }) => ({ ...readEntry(row), id })),
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
