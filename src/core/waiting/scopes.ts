import {
  type Entity,
  entities,
  parseRecordKey,
  type RecordId,
  type RecordKey,
  recordKeyText,
} from '../record.ts';
import type { FieldName } from '../value.ts';

/**
 * Scopes of decisions: `vanished:lead-42`, `conflict:lead-42:title`, `copy:lead-42:1a2b3c`, `swap:lead-42`, `refused:lead-42`,
 * `loop:lead-42`, `brake:lead:emptied`, `meant:lead-42:title`, `gone:lead-42`, `damage:lead-42:run.0`; `held:lead` is shown and takes no answer.
 */
export const vanishedScope = (key: RecordKey): string => `vanished:${recordKeyText(key)}`;
export const conflictScope = (key: RecordKey, field: FieldName): string =>
  `conflict:${recordKeyText(key)}:${field}`;
/** `look` names what the copy shows: an answer is for that and nothing else. */
export const copyScope = (key: RecordKey, look: string): string => `copy:${recordKeyText(key)}:${look}`;
export const loopScope = (key: RecordKey): string => `loop:${recordKeyText(key)}`;
export const refusedScope = (key: RecordKey): string => `refused:${recordKeyText(key)}`;
/** Of an edit that was let go with others when a brake stopped them all. */
export const meantScope = (key: RecordKey, field: FieldName): string =>
  `meant:${recordKeyText(key)}:${field}`;
/** Of a record gone from the CRM that was let go with others when a brake stopped them all. */
export const goneScope = (key: RecordKey): string => `gone:${recordKeyText(key)}`;
/** Of what a write did to the row with this ID, or to one without. */
export const damageScope = (entity: Entity, id: RecordId, suspect: string): string =>
  `damage:${id === '' ? entity : recordKeyText({ entity, id })}:${suspect}`;
export const swapScope = (key: RecordKey): string => `swap:${recordKeyText(key)}`;

/** The name of what something under the scope is about: a record, or a kind of record. */
export const scopeName = (scope: string): string => scope.split(':')[1] ?? '';

/** The record that something under the scope is about; `undefined` where it is about several. */
export const scopeKey = (scope: string): RecordKey | undefined => parseRecordKey(scopeName(scope));

/** The entity that something under the scope is about; `undefined` for a text that is no scope. */
export function scopeEntity(scope: string): Entity | undefined {
  const [, subject = ''] = scope.split(':');
  return scopeKey(scope)?.entity ?? entities.find((entity) => entity === subject);
}

/**
 * Takes the place of the answer to a brake once that is turned into one for each change, until all of those are done; and stands for a row
 * that was let go without a word about its record.
 */
export const noted = 'noted';

/** What a scope says of a record as a whole, or of one of its fields: under these a user may have decided about one that has a row, or had one. */
const recordKinds = new Set(['vanished', 'refused', 'loop', 'conflict']);

/** Whether the scope is one of those under which users decide about the records with these keys, as texts. */
export function isAboutAny(scope: string, keys: ReadonlySet<string>): boolean {
  const [kind = '', subject = ''] = scope.split(':');
  return recordKinds.has(kind) && keys.has(subject);
}
