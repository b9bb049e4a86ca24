import { ownerFields } from './cascade.ts';
import { splitContactId } from './fields/contact-id.ts';
import { once } from './once.ts';
import { parseRecordKey, type RecordId, type RecordKey } from './record.ts';
import { parseJson } from './text/parse-json.ts';
import type { Fields } from './value.ts';

/** Whose data is meant. */
export interface Subject {
  /** The texts of keys: the records that were named, and those that belong to them. */
  readonly keys: ReadonlySet<string>;
  /** The e-mail address that was named, in lower case: what says it is meant as well. Absent where a record was named. */
  readonly email?: string | undefined;
}

/** The address that was named, where one was. */
export const emailsOf = ({ email }: Pick<Subject, 'email'>): readonly string[] =>
  email === undefined ? [] : [email];

/** Reads an e-mail address, in lower case; `undefined` for any other text. */
export function readEmail(text: string): string | undefined {
  const email = plain(text).trim();
  return /^[^\s@]+@[^\s@]+$/.test(email) ? email : undefined;
}

const plain = (text: string): string => text.normalize('NFC').toLowerCase();

/** Whether a field holds the address and nothing else: then the record is the person's own. */
export const holdsEmail = (fields: Fields, email: string): boolean =>
  Object.values(fields)
    .flat()
    .some((value) => typeof value === 'string' && readEmail(value) === email);

/** A longer address that ends or begins with it is another one. */
const emailPattern = (email: string): string =>
  String.raw`(?<![\p{L}\p{N}][._%+-]*)${RegExp.escape(email)}(?![\p{L}\p{N}]|[.-]+[\p{L}\p{N}])`;

const wordPattern = (word: string): string =>
  String.raw`(?<![\p{L}\p{N}_-])${RegExp.escape(word)}(?![\p{L}\p{N}_])`;

/** Whether a text or JSON may hold one of the words: most of a history holds none, and to read its JSON takes long. */
function mayHold(content: string, words: readonly string[]): boolean {
  const raw = plain(content);
  return words.some((word) => raw.includes(word) || raw.includes(JSON.stringify(word).slice(1, -1)));
}

/** The texts of JSON without what JSON writes otherwise, or the text itself where it is none. */
function textsIn(content: string): readonly string[] {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) {
        texts.push(name);
        collect(member);
      }
  };
  const parsed = parseJson(content);
  collect(typeof parsed === 'object' && parsed !== null ? parsed : content);
  return texts;
}

/** The texts of the keys of those that a record belongs to, by what is known of its fields. */
export function ownersIn({ entity, id }: RecordKey, fields: Fields): readonly string[] {
  if (entity === 'contact') return [`lead-${splitContactId(id).leadId}`];
  if (entity === 'lead') return [];
  return ownerFields.flatMap((name) => {
    const owner = fields[name];
    return owner === undefined || owner === null ? [] : [`${ownerKinds[name]}-${owner}`];
  });
}

const ownerKinds = { lead_id: 'lead', parent_task_id: 'task' } as const;

/** Fields by which people know somebody: tasks and opportunities are called by what is to be done. */
const nameFields: Readonly<Partial<Record<RecordKey['entity'], readonly string[]>>> = {
  lead: ['title'],
  contact: ['full_name', 'email', 'phone_number', 'whatsapp_number'],
};

/** A shorter name would be found everywhere. */
const nameLengthMin = 4;

/** What of the fields of a record names a person. */
export const namesIn = ({ entity }: RecordKey, fields: Fields): readonly string[] =>
  (nameFields[entity] ?? []).flatMap((name) => {
    const value = fields[name];
    return typeof value === 'string' && value.trim().length >= nameLengthMin ? [value.trim()] : [];
  });

/** Finds keys, names and addresses as words of their own in what is kept, a text or JSON. */
export function mentionsOf(said: Iterable<string>) {
  const words = [...said].map(plain);
  const pattern = once(() =>
    words.map((word) => (word.includes('@') ? emailPattern(word) : wordPattern(word))).join('|'),
  );
  return {
    isIn: (content: string): boolean =>
      mayHold(content, words) &&
      textsIn(content).some((text) => new RegExp(pattern(), 'iu').test(plain(text))),
    /** The text without them. */
    takeOut: (text: string): string =>
      words.length === 0 ? text : text.replaceAll(new RegExp(pattern(), 'giu'), '…'),
  };
}

export type Mentions = ReturnType<typeof mentionsOf>;

/** The ids of the records of one kind among keys. */
export const idsOf = (keys: Iterable<string>, entity: RecordKey['entity']): readonly RecordId[] =>
  [...keys].flatMap((text) => {
    const key = parseRecordKey(text);
    return key?.entity === entity ? [key.id] : [];
  });
