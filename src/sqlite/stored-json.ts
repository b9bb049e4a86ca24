import type { Catalog } from '../core/catalog.ts';
import { SyncError } from '../core/errors.ts';
import type { OpenWrite } from '../core/open-write.ts';
import { parseRecordKey, type RecordKey } from '../core/record.ts';
import type { Shown } from '../core/shown.ts';
import type { Noticed } from '../core/state.ts';
import type { Fields, Value } from '../core/value.ts';

const broken = (what: string, text: string) =>
  new SyncError('STATE_BROKEN', `The mirror holds something that is not ${what}: ${text.slice(0, 40)}`);

/** What is no JSON holds nothing, so that whoever asks what it is tells that it is damaged. */
export function parseStored(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the text of a key column. */
export function readKey(text: string): RecordKey {
  const key = parseRecordKey(text);
  if (!key) throw broken('a record key', text);
  return key;
}

/** Reads the JSON of a fields column. */
export function readFields(text: string): Fields {
  const content = parseStored(text);
  if (!isFields(content)) throw broken('fields of a record', text);
  return content;
}

/** Reads the JSON of what the cells of a row showed. */
export function readShown(text: string): Shown {
  const content = parseStored(text);
  if (!isShown(content)) throw broken('what cells showed', text);
  return content;
}

/** Reads the JSON of the notice of an agreement. */
export function readNoticed(text: string): Noticed {
  const content = parseStored(text);
  if (!isNoticed(content)) throw broken('a notice', text);
  return content;
}

/** Reads the JSON of the catalog. */
export function readCatalogJson(text: string): Catalog {
  const content = parseStored(text);
  if (!isCatalog(content)) throw broken('a catalog', text);
  return content;
}

/** Reads the JSON of a write to the table. One in an earlier form does not say all that mending it takes: nothing of it is left to be done. */
export function readOpenWriteJson(text: string): OpenWrite {
  const content = parseStored(text);
  if (isOpenWrite(content)) return content;
  if (!isEarlierOpenWrite(content)) throw broken('a write to the table', text);
  return { ...content, outcome: 'answered', places: {}, sets: [], deletes: [], appends: [] };
}

const isObject = (content: unknown): content is Record<string, unknown> =>
  typeof content === 'object' && content !== null && !Array.isArray(content);

const isFields = (content: unknown): content is Fields =>
  isObject(content) && Object.values(content).every(isValue);

const isNoticed = (content: unknown): content is Noticed =>
  isObject(content) && typeof content['at'] === 'number' && Array.isArray(content['fields']);

function isValue(content: unknown): content is Value {
  if (Array.isArray(content)) return content.every((member) => typeof member === 'string');
  return content === null || ['string', 'number', 'boolean'].includes(typeof content);
}

/** Looks at the outline only: the content was a `Shown` when it was written, by this program. */
const isShown = (content: unknown): content is Shown =>
  isObject(content) && Object.values(content).every(Array.isArray);

/** Looks at the outline only: the content was an `OpenWrite` when it was written, by this program. */
const isOpenWrite = (content: unknown): content is OpenWrite =>
  isObject(content) && [content['sets'], content['deletes'], content['appends']].every(Array.isArray);

/** Before new rows stood in it. */
const isEarlierOpenWrite = (content: unknown): content is Omit<OpenWrite, 'appends' | 'places'> =>
  isObject(content) && [content['sets'], content['deletes']].every(Array.isArray) && !('appends' in content);

/** Looks at the outline only: the content was a `Catalog` when it was written, by this program. */
const isCatalog = (content: unknown): content is Catalog =>
  isObject(content) &&
  [content['pipelines'], content['leadStatuses'], content['customFields']].every(Array.isArray);
