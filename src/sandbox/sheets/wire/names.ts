import { type FieldMask, maskError, parseFieldMask } from './field-mask.ts';
import { badFields, type FieldViolation } from './google-error.ts';
import { isJsonObject } from './json.ts';
import { MESSAGE_FIELDS, type MessageName } from './message-fields.ts';

/** What a field of a message holds: other messages, alone, in a list or under keys, or nothing that has fields. */
interface Field {
  message: MessageName | undefined;
  isKeyed: boolean;
}

type Fields = ReadonlyMap<string, Field>;

const read = new Map<MessageName, Fields>();

/** The fields of a message by their names. */
export function fieldsOf(message: MessageName): Fields {
  const known = read.get(message);
  if (known) return known;
  const words = MESSAGE_FIELDS[message].split(' ').filter((word) => word !== '');
  const fields = new Map(words.map(readField));
  read.set(message, fields);
  return fields;
}

function readField(word: string): [string, Field] {
  const [name = '', type = ''] = word.split(':');
  const [message] = /\w+/.exec(type) ?? [];
  return [name, { message: isMessage(message) ? message : undefined, isKeyed: type.startsWith('{') }];
}

const isMessage = (name: string | undefined): name is MessageName =>
  name !== undefined && Object.hasOwn(MESSAGE_FIELDS, name);

/** `userEnteredValue` for `user_entered_value`: Google takes a field by either of its names. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** `majorDimension` as the API's own names have it: `major_dimension`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * A message as it was sent, its fields under the names of the documents. `place` is what the request calls it.
 * @throws GoogleError 400 that names every field which the message does not have.
 */
export function readMessage(sent: unknown, message: MessageName, place = ''): unknown {
  const violations: FieldViolation[] = [];
  const body = renamed(sent, message, place, violations);
  if (violations.length > 0) throw badFields(violations);
  return body;
}

function renamed(sent: unknown, message: MessageName, place: string, violations: FieldViolation[]): unknown {
  if (Array.isArray(sent))
    return sent.map((entry, index) => renamed(entry, message, `${place}[${index}]`, violations));
  if (!isJsonObject(sent)) return sent;
  const fields = fieldsOf(message);
  const members = Object.entries(sent).map(([key, member]): [string, unknown] => {
    const name = fields.has(key) ? key : camelCase(key);
    const field = fields.get(name);
    if (!field) violations.push(unknownName(key, place));
    const within = place === '' ? snakeCase(name) : `${place}.${snakeCase(name)}`;
    return [name, field ? renamedMember(member, name, field, within, violations) : member];
  });
  return Object.fromEntries(members);
}

function renamedMember(
  member: unknown,
  name: string,
  { message, isKeyed }: Field,
  place: string,
  violations: FieldViolation[],
): unknown {
  // A mask names fields as well.
  if (name === 'fields' && typeof member === 'string') return camelCase(member);
  if (!message) return member;
  if (!isKeyed || !isJsonObject(member)) return renamed(member, message, place, violations);
  const entries = Object.entries(member).map(([key, value], index): [string, unknown] => [
    key,
    renamed(value, message, `${place}[${index}].value`, violations),
  ]);
  return Object.fromEntries(entries);
}

function unknownName(name: string, place: string): FieldViolation {
  const at = place === '' ? '' : ` at '${place}'`;
  const description = `Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`;
  return { ...(place !== '' && { field: place }), description };
}

/** Parameters that every method of every Google API takes, with or without a `$` before them. */
const STANDARD_PARAMETERS: ReadonlySet<string> = new Set([
  'access_token',
  'alt',
  'bearer_token',
  'callback',
  'fields',
  'key',
  'oauth_token',
  'pp',
  'prettyPrint',
  'quotaUser',
  'uploadType',
  'upload_protocol',
  'userIp',
  '.xgafv',
]);

/** @throws GoogleError 400 that names every query parameter which the method does not take. */
export function refuseUnknownParameters(query: URLSearchParams, taken: ReadonlySet<string>): void {
  const names = [...new Set(query.keys())];
  const unknown = names.filter(
    (name) => !STANDARD_PARAMETERS.has(name.replace(/^\$/, '')) && !taken.has(camelCase(name)),
  );
  const violations = unknown.map((name) => ({
    description: `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter. Field '${name}' could not be found in request message.`,
  }));
  if (violations.length > 0) throw badFields(violations);
}

/** The text of the mask that an answer is asked for with; empty for all of it. */
export const maskTextIn = (query: URLSearchParams): string =>
  camelCase(query.get('fields') ?? query.get('$fields') ?? '');

export const maskIn = (query: URLSearchParams): FieldMask => parseFieldMask(maskTextIn(query));

/** @throws GoogleError 400 when a mask names a field that the message does not have. */
export function checkMask(mask: FieldMask, message: MessageName, refuse = maskError, path = ''): void {
  const fields = fieldsOf(message);
  for (const [name, child] of mask) {
    if (name === '*') continue;
    const field = fields.get(name);
    if (!field) throw refuse(path + name);
    if (field.message && !field.isKeyed) checkMask(child, field.message, refuse, `${path}${name}.`);
    else if (!field.message && child.size > 0) throw refuse(`${path}${name}.${[...child.keys()][0]}`);
  }
}
