import { holdsEmail, mentionOf, namesIn, type Subject } from '../core/subject.ts';
import { parseJson } from '../core/text/parse-json.ts';
import type { Connection } from './connection.ts';
import type { Row } from './keyed-table.ts';
import {
  fieldsIn,
  findRows,
  hasTable,
  rowsOf,
  type SubjectRow,
  subjectTables,
  texts,
  withDependents,
} from './subject-rows.ts';

/** What a mirror, or a copy of one, keeps of a person. */
export type SubjectStore = ReturnType<typeof openSubjectStore>;

/** Opens what the file keeps of persons. Rows change under a mirror that is open: nothing else may use it. */
export function openSubjectStore(connection: Connection) {
  return {
    /** The records with these keys and those that belong to them; of an e-mail address all that hold it. */
    meet: (keys: Iterable<string>, email?: string): Subject => ({
      keys: withDependents(connection, new Set([...keys, ...holdersOf(connection, email)])),
      email,
    }),
    rows: (subject: Subject) => [...findRows(connection, subject)],
    /** Whether a write to a side is not over: what it will replace is in it. */
    isWriting: () =>
      [...writeTables, 'feedRun WHERE no IS NULL'].some(
        (open) => connection.prepare(`SELECT 1 FROM ${open}`).all().length > 0,
      ),
    /**
     * Deletes the rows, and what other lines say of them; of a copy, from which no write is ever resumed, also all writes that were not over.
     * The file then holds no trace of it: what is deleted is overwritten, and the log is emptied.
     */
    erase(subject: Subject, rows: readonly SubjectRow[], writes?: 'withWrites'): void {
      const names = new Set(rows.filter(({ isOwn }) => isOwn).flatMap(({ row }) => namesOf(row)));
      connection.transaction(() => {
        dropRows(connection, rows);
        scrub(connection, subject, names);
        if (writes)
          for (const table of writeTables)
            if (hasTable(connection, table)) connection.execute(`DELETE FROM ${table}`);
      });
      connection.execute('VACUUM');
      connection.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    /** The rows of other records that say one of the names: a person may want to see those. */
    saying: (subject: Subject, names: readonly string[]) => {
      const says = mentionOf([], names);
      return Object.keys(subjectTables).flatMap((table) =>
        [...rowsOf(connection, table)].flatMap((row) =>
          !subject.keys.has(String(row['key'])) && texts(row).some(says)
            ? [`${table} ${row['key'] ?? ''}`]
            : [],
        ),
      );
    },
  };
}

const writeTables = ['openWrite', 'suspect'];

export const namesOf = (row: Row): readonly string[] => fieldsIn(row).flatMap(namesIn);

/** The records that hold the e-mail address now or, of those that are no longer known, held it once. */
function holdersOf(connection: Connection, email: string | undefined): readonly string[] {
  if (email === undefined) return [];
  const holds = (row: Row) => fieldsIn(row).some((fields) => holdsEmail(fields, email));
  const records = [...rowsOf(connection, 'record')];
  const known = new Set(records.map(({ key }) => key));
  const past = ['outbox', 'journal', 'version'].flatMap((table) =>
    [...rowsOf(connection, table)].filter((row) => !known.has(row['key'] ?? null) && holds(row)),
  );
  return [...records.filter(holds), ...past].map(({ key }) => String(key));
}

function dropRows(connection: Connection, rows: readonly SubjectRow[]): void {
  const lines = rows.filter(({ table }) => table === 'journal').map(({ place }) => place);
  if (hasTable(connection, 'journalField')) {
    const dropFields = connection.prepare(
      'DELETE FROM journalField WHERE entry IN (SELECT value FROM json_each(?))',
    );
    dropFields.run(JSON.stringify(lines));
  }
  for (const [table, own] of Map.groupBy(rows, (row) => row.table)) {
    const drop = connection.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
    for (const { place } of own) drop.run(place);
  }
}

/** Columns in which lines about other records may name a person; empty means nothing there, and it is written anew where it still holds. */
const freeTexts = [
  ['agreement', 'notice'],
  ['due', 'reason'],
  ['outbox', 'notice'],
  ['outbox', 'errorMessage'],
] as const;

/** Takes keys and names out of lines that are about something else. */
function scrub(connection: Connection, { email, keys }: Subject, names: ReadonlySet<string>): void {
  const addresses = email === undefined ? [] : [email];
  const saysName = mentionOf(keys, [...addresses, ...names]);
  for (const [table, column] of freeTexts) rewrite(connection, table, column, dropText(saysName));
  // A command names records by their keys alone, and a name may be a word of all commands.
  const saysKey = mentionOf(keys, addresses);
  rewrite(connection, 'command', 'about', dropText(saysKey));
  rewrite(connection, 'feedRun', 'keys', dropMembers(saysKey));
  rewrite(connection, 'fact', 'content', dropMembers(saysKey), `name = '${sheetFactOfLostRows}'`);
}

/** The one fact that lists records; sheet/facts has it. */
const sheetFactOfLostRows = 'table.lost';

const dropText = (says: (content: string) => boolean) => (content: string) => (says(content) ? '' : content);

/** The list of a JSON text without the members that say it. */
const dropMembers = (says: (content: string) => boolean) => (content: string) => {
  const list = parseJson(content);
  return Array.isArray(list)
    ? JSON.stringify(list.filter((member) => !says(JSON.stringify(member))))
    : content;
};

/** Changes the texts of a column, where the file has the table. */
function rewrite(
  connection: Connection,
  table: string,
  column: string,
  change: (content: string) => string,
  condition = 'TRUE',
): void {
  if (!hasTable(connection, table)) return;
  const found = connection.prepare<{ place: number; content: string }>(
    `SELECT rowid AS place, ${column} AS content FROM ${table} WHERE ${column} IS NOT NULL AND ${condition}`,
  );
  const set = connection.prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`);
  for (const { content, place } of found.all()) {
    const changed = change(content);
    if (changed !== content) set.run(changed, place);
  }
}
