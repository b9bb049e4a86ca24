import { isText } from '../core/facts.ts';
import { parseRecordKey } from '../core/record.ts';
import { emailsOf, idsOf, type Mentions, mentionsOf, namesIn, type Subject } from '../core/subject.ts';
import { parseJson } from '../core/text/parse-json.ts';
import type { Connection } from './connection.ts';
import {
  fieldsIn,
  findRows,
  hasTable,
  meetKeys,
  rowsOf,
  type SubjectRow,
  subjectTables,
  textsOf,
} from './subject-rows.ts';

/** What a mirror, or a copy of one, keeps of a person. */
export type SubjectStore = ReturnType<typeof openSubjectStore>;

/** Opens what the file keeps of persons. Rows change under a mirror that is open: nothing else may use it. */
export function openSubjectStore(connection: Connection) {
  return {
    /** The records with these keys and those that belong to them; of an e-mail address all that hold it. */
    meet: (
      keys: Iterable<string>,
      email?: string,
      isSettled: (key: string) => boolean = () => false,
    ): Subject => ({
      keys: meetKeys(connection, keys, email, isSettled),
      email,
    }),
    rows: (subject: Subject) => [...findRows(connection, subject)],
    /** Whether a write to one of the sides is not over: what it will replace is in it. */
    isWriting: (sides: readonly string[]) =>
      [...writeTables, 'feedRun WHERE no IS NULL'].some((open) =>
        connection
          .prepare<{ side: string }>(`SELECT side FROM ${open}`)
          .all()
          .some(({ side }) => sides.includes(side)),
      ),
    /** Of the keys those of which a side does not know all. */
    dueAmong: (keys: ReadonlySet<string>): readonly string[] =>
      connection
        .prepare<{ key: string }>('SELECT DISTINCT key FROM due')
        .all()
        .flatMap(({ key }) => (keys.has(key) ? [key] : [])),
    /**
     * Deletes the rows, and what other lines say of them; also all writes that were not over, but those to these sides: none else is resumed.
     * Once the file is closed it holds no trace of them, nor of rows that an earlier version deleted without overwriting them.
     */
    erase(subject: Subject, rows: readonly SubjectRow[], sides: readonly string[]): void {
      connection.transaction(() => {
        dropRows(connection, rows);
        scrub(connection, subject, namesOf(rows));
        for (const table of writeTables) dropWrites(connection, table, sides);
      });
      connection.execute('VACUUM');
    },
    /** Which rows of others say one of the words, each as its table and key. */
    saying({ keys }: Subject, words: readonly string[]): readonly string[] {
      const says = mentionsOf(words).isIn;
      return Object.keys(subjectTables).flatMap((table) =>
        rowsOf(connection, table)
          .filter((row) => !keys.has(String(row['key'])) && textsOf(row).some(says))
          .map((row) => `${table} ${row['key'] ?? row.place}`)
          .toArray(),
      );
    },
  };
}

const writeTables = ['openWrite', 'suspect'];

function dropWrites(connection: Connection, table: string, sides: readonly string[]): void {
  // A copy of an earlier schema says no side.
  for (const { place, side } of [...rowsOf(connection, table)])
    if (side === undefined || !sides.includes(String(side)))
      connection.prepare(`DELETE FROM ${table} WHERE rowid = ?`).run(place);
}

/** By what a person is called in the rows of the person's own records. */
export const namesOf = (rows: readonly SubjectRow[]): readonly string[] => {
  const names = rows.flatMap(({ isOwn, key: text, row }) => {
    const key = isOwn ? parseRecordKey(text) : undefined;
    return key ? fieldsIn(row).flatMap((fields) => namesIn(key, fields)) : [];
  });
  return [...new Set(names)];
};

function dropRows(connection: Connection, rows: readonly SubjectRow[]): void {
  const lines = rows.filter(({ table }) => table === 'journal').map(({ place }) => place);
  if (hasTable(connection, 'journalField'))
    connection
      .prepare('DELETE FROM journalField WHERE entry IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify(lines));
  for (const [table, own] of Map.groupBy(rows, (row) => row.table)) {
    const drop = connection.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
    for (const { place } of own) drop.run(place);
  }
}

/** Columns in which lines about other records may name a person. */
const freeTexts = [
  ['agreement', 'notice'],
  ['due', 'reason'],
  ['outbox', 'notice'],
  ['outbox', 'errorMessage'],
] as const;

/** Takes the person out of lines that are about something else. */
function scrub(connection: Connection, subject: Subject, names: readonly string[]): void {
  const { keys } = subject;
  const emails = emailsOf(subject);
  const byAll = mentionsOf([...keys, ...emails, ...names]);
  for (const [table, column] of freeTexts) rewrite(connection, table, column, byAll.takeOut);
  // What a record pointed to once, as the side showed it.
  const unsaid = without(byAll);
  rewrite(
    connection,
    'agreement',
    'shown',
    inJson((shown) => mapMembers(shown, unsaid)),
  );
  // A command names records by their keys alone, and a name may be a word of all commands.
  const byKey = mentionsOf([...keys, ...emails]);
  rewrite(connection, 'command', 'about', byKey.takeOut);
  rewrite(connection, 'feedRun', 'keys', inJson(without(byKey)));
  rewrite(connection, 'fact', 'content', inJson(without(byKey)), `name = '${lostRowsFact}'`);
  const leads = new Set(idsOf(keys, 'lead'));
  rewrite(connection, 'fact', 'content', inJson(withoutNamed(leads)), `name GLOB '${namelessFacts}'`);
  // The values that our last write to a record replaced: a listing has caught up with that for long.
  const replaced = mentionsOf(emails).isIn;
  for (const { place, writtenBefore } of [...rowsOf(connection, 'record')])
    if (isText(writtenBefore) && replaced(writtenBefore))
      connection
        .prepare('UPDATE record SET writtenAt = NULL, writtenBefore = NULL WHERE rowid = ?')
        .run(place);
}

/** The facts that list records: rows that are lost, by keys (sheet/facts), and elements without an id, by the lead below which they are (core/facts). */
const lostRowsFact = 'table.lost';
const namelessFacts = 'crm.nameless.*';

/** Changes what a text says as JSON; one that is none stays. */
const inJson =
  (change: (value: unknown) => unknown) =>
  (content: string): string => {
    const value = parseJson(content);
    return value === undefined ? content : JSON.stringify(change(value));
  };

/** A list without the members that say it. */
const without =
  ({ isIn }: Mentions) =>
  (list: unknown): unknown =>
    Array.isArray(list) ? list.filter((member) => !isIn(JSON.stringify(member))) : list;

/** An object without the members of these names. */
const withoutNamed =
  (names: ReadonlySet<string>) =>
  (object: unknown): unknown =>
    Object.fromEntries(Object.entries(object ?? {}).filter(([name]) => !names.has(name)));

const mapMembers = (object: unknown, change: (member: unknown) => unknown): unknown =>
  Object.fromEntries(Object.entries(object ?? {}).map(([name, member]) => [name, change(member)]));

/** Changes the texts of a column, where the file has it. */
function rewrite(
  connection: Connection,
  table: string,
  column: string,
  change: (content: string) => string,
  condition = 'TRUE',
): void {
  const columns = connection.prepare<{ name: string }>('SELECT name FROM pragma_table_info(?)').all(table);
  if (!columns.some(({ name }) => name === column)) return;
  const found = connection.prepare<{ place: number; content: string }>(
    `SELECT rowid AS place, ${column} AS content FROM ${table} WHERE ${column} IS NOT NULL AND ${condition}`,
  );
  const set = connection.prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`);
  for (const { content, place } of found.all()) {
    const changed = change(content);
    if (changed !== content) set.run(changed, place);
  }
}
