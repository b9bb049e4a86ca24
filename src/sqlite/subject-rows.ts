import { isObject, isText } from '../core/facts.ts';
import { parseRecordKey, recordKeyText } from '../core/record.ts';
import { emailsOf, holdsEmail, mentionsOf, ownersIn, type Subject } from '../core/subject.ts';
import { parseJson } from '../core/text/parse-json.ts';
import type { Fields } from '../core/value.ts';
import { scopeKey } from '../core/waiting/scopes.ts';
import type { Connection } from './connection.ts';
import type { Row } from './keyed-table.ts';

/** The records that a row is about, as texts of keys, the first of them its own. */
type KeysOf = (row: Row) => readonly string[];

const ownKey: KeysOf = ({ key }) => [String(key)];

function keysOfStep({ key, recordId }: Row): readonly string[] {
  const entity = parseRecordKey(String(key))?.entity;
  return [String(key), ...(recordId === null ? [] : [`${entity}-${recordId}`])];
}

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

/** The tables whose rows are about records. A copy may be of an earlier schema, and lack some of them. */
export const subjectTables = {
  record: ownKey,
  agreement: ownKey,
  outbox: keysOfStep,
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

/** What was, and is no longer: of a record that the CRM no longer has, it says who that was about. */
const pastTables = ['outbox', 'journal', 'version'];

/** A row that is about a person. */
export interface SubjectRow {
  readonly table: SubjectTable;
  /** Its place in the table. */
  readonly place: number;
  /** The text of the key of the record that it is kept for. */
  readonly key: string;
  /** Whether it is of one of the person's records; else it says the address. */
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
export function* findRows(connection: Connection, subject: Subject): Generator<SubjectRow> {
  const { keys } = subject;
  const says = mentionsOf(emailsOf(subject)).isIn;
  for (const table of tableNames) {
    const keysOf: KeysOf = subjectTables[table];
    for (const { place, ...row } of rowsOf(connection, table)) {
      const all = keysOf(row);
      const [key = ''] = all;
      const isOwn = all.some((each) => keys.has(each)) || (dated.has(table) && isOfOwner(key, row, keys));
      if (isOwn || (quoting.has(table) && textsOf(row).some(says))) yield { table, place, key, isOwn, row };
    }
  }
}

/** Tables whose rows show a record as it was at some time. */
const dated: ReadonlySet<SubjectTable> = new Set(['journal', 'version']);

/** Whether the record belonged to one of the person's when it was as the row shows it. */
function isOfOwner(keyText: string, row: Row, keys: Subject['keys']): boolean {
  const key = parseRecordKey(keyText);
  return (
    key !== undefined &&
    fieldsIn(row).some((fields) => ownersIn(key, fields).some((owner) => keys.has(owner)))
  );
}

export const textsOf = (row: Row): readonly string[] => Object.values(row).filter(isText);

/**
 * Adds to the keys those of a person's other records: of an address those that hold it, with all that belongs to them. What counts is a record
 * as it is now or, where the CRM no longer has it, as it ever was by the history. Of those that are settled it is known already whether they
 * hold the address.
 */
export function meetKeys(
  connection: Connection,
  keys: Iterable<string>,
  email: string | undefined,
  isSettled: (key: string) => boolean,
): ReadonlySet<string> {
  const found = new Set(keys);
  const owners = new Map<string, Set<string>>();
  const look = (row: Row) => {
    const text = String(row['key']);
    const key = parseRecordKey(text);
    if (!key) return;
    const known = owners.get(text) ?? new Set();
    owners.set(text, known);
    for (const fields of fieldsIn(row)) {
      if (email !== undefined && !isSettled(text) && holdsEmail(fields, email)) found.add(text);
      for (const owner of ownersIn(key, fields)) known.add(owner);
    }
  };
  const present = new Set<unknown>();
  for (const row of rowsOf(connection, 'record')) {
    look(row);
    if (row['presence'] === 'present') present.add(row['key']);
  }
  for (const table of pastTables)
    for (const row of rowsOf(connection, table)) if (!present.has(row['key'])) look(row);
  for (const row of rowsOf(connection, 'takenEdit')) {
    // A row that was inserted is known by its claim token until the CRM gives an id.
    const names = keysOfEdit(row);
    for (const name of names) owners.set(name, new Set([...(owners.get(name) ?? []), ...names]));
  }
  let before = 0;
  while (before !== found.size) {
    before = found.size;
    for (const [key, own] of owners) if (!found.isDisjointFrom(own)) found.add(key);
  }
  return found;
}
