import type { CommandEntry, HistoryQuery } from '../core/history.ts';
import type { Mirror } from '../core/mirror.ts';
import { type RecordKey, recordKeyText } from '../core/record.ts';
import type { JournalEntry } from '../core/state.ts';
import type { Connection, Statement } from './connection.ts';
import { plain, type Row, shapeOf } from './keyed-table.ts';
import { fields, readKey, recordKey } from './stored-json.ts';

/** What is kept of a line, beside its number. */
const { columns, fromRow, toCells } = shapeOf<JournalEntry>({
  ...plain('at', 'run'),
  key: recordKey,
  ...plain('kind', 'side'),
  before: fields,
  after: fields,
  lost: fields,
  ...plain('cause'),
});

/** SQLite takes a negative limit for none. */
const noLimit = -1;

const columnList = columns.join(', ');

/** One condition of a search, with what it binds; none where that is not asked for. */
const condition = (text: string, ...values: (string | number | undefined)[]) => {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? [{ text, values: known }] : [];
};

/**
 * Where to look for lines and by which conditions: an index finds them in the order in which they are shown, whatever is asked, so that no
 * question costs more than its answer. A `+` keeps an index out that would find more lines than another one, or find them in another order.
 */
function planSearch({ before, field, id, key, run, since }: HistoryQuery) {
  const isNarrow = key !== undefined || run !== undefined || id !== undefined;
  const keyText = key && recordKeyText(key);
  if (isNarrow) {
    const conditions = [
      ...condition('key = ?', keyText),
      ...condition(key === undefined ? 'run = ?' : '+run = ?', run),
      ...condition('id = ?', id),
      ...condition('id < ?', before),
      ...condition('+at >= ?', since),
      ...condition('EXISTS (SELECT 1 FROM journalField WHERE field = ? AND entry = id)', field),
    ];
    return { from: 'journal', number: 'id', conditions };
  }
  const number = field === undefined ? 'id' : 'entry';
  const conditions = [
    ...condition('field = ?', field),
    ...condition(`${number} < ?`, before),
    ...condition(`${number} >= (SELECT id FROM journal WHERE at >= ? ORDER BY at, id LIMIT 1)`, since),
    ...condition('+at >= ?', since),
  ];
  const from = field === undefined ? 'journal' : 'journalField CROSS JOIN journal ON id = entry';
  return { from, number, conditions };
}

type Journal = Pick<
  Mirror,
  | 'appendJournal'
  | 'findOldestLine'
  | 'searchJournal'
  | 'readBusyRecords'
  | 'forgetJournal'
  | 'appendCommand'
  | 'readCommands'
>;

/**
 * What was done, in the order it was done. Nothing is ever changed; only what is too old is taken out. It grows to a year of lines, and every
 * cycle asks it. `+key` leaves the index of the times to find the lines of the last hour.
 */
export function openJournal(connection: Connection): Journal {
  const append = connection.prepare(
    `INSERT INTO journal (${columnList}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  const searches = new Map<string, Statement<Row>>();
  const searchBy = (sql: string) => {
    const search = searches.get(sql) ?? connection.prepare(sql);
    searches.set(sql, search);
    return search;
  };
  // Sorted by field, because the table is: row by row takes four times as long.
  const appendFields = connection.prepare(
    `INSERT INTO journalField (field, entry)
     SELECT names.key, entries.value FROM json_each(?) AS names, json_each(names.value) AS entries`,
  );
  const commands = openCommands(connection);
  const busy = openBusy(connection);
  const old = openOld(connection);
  return {
    appendJournal(entries) {
      connection.atomically(() => {
        const byField = new Map<string, number[]>();
        for (const entry of entries) {
          const id = append.run(...toCells(entry));
          busy.note(recordKeyText(entry.key));
          for (const field of fieldsOf(entry)) {
            const ids = byField.get(field) ?? [];
            byField.set(field, ids);
            ids.push(id);
          }
        }
        if (byField.size > 0) appendFields.run(JSON.stringify(Object.fromEntries(byField)));
      });
    },
    searchJournal({ bytesMax = Number.POSITIVE_INFINITY, limit = noLimit, ...query }) {
      const { conditions, from, number } = planSearch(query);
      const where = ['TRUE', ...conditions.map(({ text }) => text)].join(' AND ');
      const sql = `SELECT id, ${columnList} FROM ${from} WHERE ${where} ORDER BY ${number} DESC LIMIT ?`;
      let bytes = 0;
      const fits = (row: Row) => {
        const isFirst = bytes === 0;
        bytes += bytesOf(row);
        return isFirst || bytes <= bytesMax;
      };
      return searchBy(sql)
        .allWhile(fits, ...conditions.flatMap(({ values }) => values), limit)
        .map((row) => ({ ...fromRow(row), id: Number(row['id']) }));
    },
    readBusyRecords: busy.read,
    findOldestLine: old.find,
    forgetJournal: (before) =>
      connection.atomically(() => {
        commands.forget(before);
        return old.forget(before);
      }),
    appendCommand: commands.append,
    readCommands: commands.read,
  };
}

/** Takes out of the journal what is too old. To be called in a transaction. */
function openOld(connection: Connection) {
  const forget = connection.prepare('DELETE FROM journal WHERE at < ?');
  const counts = connection.prepare<{ lines: number }>('SELECT COUNT(*) AS lines FROM journal WHERE at < ?');
  const oldest = connection.prepare<{ at: number | null }>('SELECT MIN(at) AS at FROM journal');
  const forgetFields = connection.prepare(
    `WITH RECURSIVE known (name) AS (
       SELECT MIN(field) FROM journalField
       UNION ALL SELECT (SELECT MIN(field) FROM journalField WHERE field > name) FROM known WHERE name IS NOT NULL)
     DELETE FROM journalField
     WHERE field IN (SELECT name FROM known) AND entry < (SELECT COALESCE(MIN(id), ${Number.MAX_SAFE_INTEGER}) FROM journal)`,
  );
  return {
    find: () => oldest.all()[0]?.at ?? undefined,
    forget(before: number): number {
      const [{ lines } = { lines: 0 }] = counts.all(before);
      forget.run(before);
      forgetFields.run();
      return lines;
    },
  };
}

/** The commands to the daemon. */
function openCommands(connection: Connection) {
  const append = connection.prepare('INSERT INTO command (at, by, name, about) VALUES (?, ?, ?, ?)');
  const newest = connection.prepare<CommandEntry & { id: number }>(
    'SELECT id, at, by, name, about FROM command WHERE id < ? ORDER BY id DESC LIMIT ?',
  );
  const forget = connection.prepare('DELETE FROM command WHERE at < ?');
  return {
    append: ({ about, at, by, name }: CommandEntry) => void append.run(at, by, name, about),
    read: (limit: number, before = Number.MAX_SAFE_INTEGER) => newest.all(before, limit),
    forget: (before: number) => void forget.run(before),
  };
}

/**
 * Finds records with many lines. Every cycle asks, and all lines of an hour are tens of thousands after a fill: only a record that got a
 * line since it was asked last can have become one.
 */
function openBusy(connection: Connection) {
  const isCounted = "at >= ? AND side <> 'both' AND cause <> 'taken back'";
  const all = connection.prepare<{ key: string }>(
    `SELECT key FROM journal WHERE ${isCounted} GROUP BY +key HAVING COUNT(*) >= ?`,
  );
  const count = connection.prepare<{ lines: number }>(
    `SELECT COUNT(*) AS lines FROM journal WHERE ${isCounted} AND key = ?`,
  );
  let last:
    | { readonly since: number; readonly linesMin: number; readonly keys: readonly string[] }
    | undefined;
  let noted = new Set<string>();
  connection.onRollback(() => {
    last = undefined;
  });
  const find = (since: number, linesMin: number): string[] => {
    const isNext = last?.linesMin === linesMin && since >= last.since && noted.size < notedMax;
    if (!last || !isNext) return all.all(since, linesMin).map(({ key }) => key);
    const candidates = [...noted.union(new Set(last.keys))];
    return candidates.filter((key) => (count.all(since, key)[0]?.lines ?? 0) >= linesMin);
  };
  return {
    note(key: string): void {
      if (noted.size < notedMax) noted.add(key);
    },
    read(since: number, linesMin: number): RecordKey[] {
      const keys = find(since, linesMin);
      last = { since, linesMin, keys };
      noted = new Set();
      return keys.map(readKey);
    },
  };
}

/** To ask for all at once is quicker than for so many one by one. */
const notedMax = 2_000;

const fieldsOf = ({ after, before, lost }: JournalEntry) =>
  new Set([before, after, lost].flatMap((fields) => Object.keys(fields)));

const bytesOf = ({ after, before, cause, lost }: Row) =>
  Buffer.byteLength(`${before}${after}${lost}${cause}`);
