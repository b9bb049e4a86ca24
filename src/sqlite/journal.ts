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

type Journal = Pick<Mirror, 'appendJournal' | 'readJournal'>;

/** What was done, in the order it was done. Nothing is ever changed or taken out. */
export function openJournal(connection: Connection): Journal {
  const append = connection.prepare(`INSERT INTO journal (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const latest = connection.prepare<JournalRow>(`SELECT ${columns} FROM journal ORDER BY id DESC LIMIT ?`);
  return {
    appendJournal(entries) {
      connection.atomically(() => {
        for (const entry of entries) append.run(...bind(entry));
      });
    },
    readJournal: (limit) => latest.all(limit).map(readEntry),
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
