import { isObject, isText } from '../core/facts.ts';
import { parseRecordKey, recordKeyText } from '../core/record.ts';
import { ownersIn, type Subject, saysEmail } from '../core/subject.ts';
import { parseJson } from '../core/text/parse-json.ts';
import type { Fields } from '../core/value.ts';
import { scopeKey } from '../core/waiting/scopes.ts';
import type { Connection } from './connection.ts';
import type { Row } from './keyed-table.ts';

/** The records that a row is about, as texts of keys. */
type KeysOf = (row: Row) => readonly string[];

const ownKey: KeysOf = ({ key }) => [String(key)];

function keysOfEdit({ content }: Row): readonly string[] {
  const edit = parseJson(String(content));
  if (!isObject(edit) || !isObject(edit['key'])) return [];
  const { entity, id } = edit['key'];
  return [id, edit['row'], edit['newId']].filter(isText).map((each) => `${entity}-${each}`);
}

function keysOfDecision({ scope }: Row): readonly string[] {
  const key = scopeKey(String(scope));
  return key ? [recordKeyText(key)] : [];
}

/**
 * The tables whose rows are about records, of any schema: a copy may be of an earlier one. What is kept of a person outside of them is in
 * lines of other tables that say a key or a name.
 */
export const subjectTables = {
  record: ownKey,
  agreement: ownKey,
  outbox: ({ key, recordId }) => [
    String(key),
    ...(recordId === null ? [] : [`${parseRecordKey(String(key))?.entity}-${recordId}`]),
  ],
  journal: ownKey,
  version: ownKey,
  due: ownKey,
  takenEdit: keysOfEdit,
  decision: keysOfDecision,
  contactRead: ({ leadId }) => [`lead-${leadId}`],
} as const satisfies Readonly<Record<string, KeysOf>>;

export type SubjectTable = keyof typeof subjectTables;
const tableNames = Object.keys(subjectTables) as SubjectTable[];

/** Tables whose rows may be about a person because they say the address; in others it is taken out of the text. */
const quoting: ReadonlySet<SubjectTable> = new Set([
  'record',
  'agreement',
  'outbox',
  'journal',
  'version',
  'takenEdit',
]);

/** A row that is about a person. */
export interface SubjectRow {
  readonly table: SubjectTable;
  /** Its place in the table. */
  readonly place: number;
  /** The text of the key of the record that it is kept for. */
  readonly key: string;
  /** Whether it is of one of the person's records; else it says the e-mail address. */
  readonly isOwn: boolean;
  readonly row: Row;
}

/** Columns that hold the fields of a record. */
const fieldColumns = ['fields', 'before', 'after', 'lost', 'base', 'offered'];

/** The fields that a row holds, each time a record had others. */
export const fieldsIn = (row: Row): readonly Fields[] =>
  fieldColumns.flatMap((column) => {
    const fields = typeof row[column] === 'string' ? parseJson(row[column]) : undefined;
    return isObject(fields) ? [fields as Fields] : [];
  });

/** All rows of a table, without holding them all; none where the file has no such table. */
export function* rowsOf(connection: Connection, table: string): Generator<Row & { readonly place: number }> {
  if (!hasTable(connection, table)) return;
  const page = connection.prepare<Row & { readonly place: number }>(
    `SELECT rowid AS place, * FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT 1000`,
  );
  let last = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const rows = page.all(last);
    yield* rows;
    const end = rows.at(-1);
    if (!end) return;
    last = end.place;
  }
}

export const hasTable = (connection: Connection, table: string): boolean =>
  connection.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').all(table).length > 0;

/** The rows that are about a person. */
export function* findRows(connection: Connection, { email, keys }: Subject): Generator<SubjectRow> {
  for (const table of tableNames) {
    const keysOf: KeysOf = subjectTables[table];
    for (const { place, ...row } of rowsOf(connection, table)) {
      const own = keysOf(row);
      const isOwn = own.some((key) => keys.has(key)) || isOfOwner(table, row, own[0], keys);
      const isSaid = () => email !== undefined && texts(row).some((text) => saysEmail(text, email));
      if (isOwn || (quoting.has(table) && isSaid())) yield { table, place, key: own[0] ?? '', isOwn, row };
    }
  }
}

/** Whether it shows a record as it was when it belonged to one of the person's. */
function isOfOwner(table: SubjectTable, row: Row, keyText = '', keys: Subject['keys']): boolean {
  const key = table === 'journal' || table === 'version' ? parseRecordKey(keyText) : undefined;
  return (
    key !== undefined &&
    fieldsIn(row).some((fields) => ownersIn(key, fields).some((owner) => keys.has(owner)))
  );
}

export const texts = (row: Row): readonly string[] => Object.values(row).filter(isText);

/**
 * Adds to keys those of the records that belong to them, by what is known of each last: by its fields now or, where it is no longer
 * known, by all that the history says of it.
 */
export function withDependents(connection: Connection, keys: ReadonlySet<string>): ReadonlySet<string> {
  const owners = new Map<string, Set<string>>();
  const note = (keyText: string, row: Row) => {
    const key = parseRecordKey(keyText);
    if (!key) return;
    const known = owners.get(keyText) ?? new Set();
    owners.set(keyText, known);
    for (const fields of fieldsIn(row)) for (const owner of ownersIn(key, fields)) known.add(owner);
  };
  for (const row of rowsOf(connection, 'record')) note(String(row['key']), row);
  const known = new Set(owners.keys());
  for (const table of ['outbox', 'journal', 'version'])
    for (const row of rowsOf(connection, table))
      if (!known.has(String(row['key']))) note(String(row['key']), row);
  const found = new Set(keys);
  let before = 0;
  while (before !== found.size) {
    before = found.size;
    for (const [key, own] of owners) if (!found.isDisjointFrom(own)) found.add(key);
  }
  return found;
}
