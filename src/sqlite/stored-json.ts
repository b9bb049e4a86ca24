import { SyncError } from '../core/errors.ts';
import type { Fact } from '../core/facts.ts';
import type { Catalog } from '../core/fields/catalog.ts';
import type { Consequences, OpenWrite, Suspect } from '../core/open-write.ts';
import { isClaimToken, parseRecordKey, type RecordKey } from '../core/record.ts';
import type { Noticed, Shown } from '../core/state.ts';
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

/** Reads the JSON of a fact. */
export function readFactJson<Value>({ fits, name }: Fact<Value>, text: string): Value {
  const content = parseStored(text);
  if (!fits(content)) throw broken(`the fact ${name}`, text);
  return content;
}

/** Reads the JSON of a write to the table. Of one in an earlier form the adapter of the table finds out what is left of it. */
export function readOpenWriteJson(text: string): OpenWrite {
  const content = parseStored(text);
  if (isOpenWrite(content)) return content;
  if (!isEarlierOpenWrite(content)) throw broken('a write to the table', text);
  // Without `appends` it does not say all that undoing it takes.
  const { appends, deletes, sets } = content.appends
    ? { appends: content.appends, deletes: content.deletes, sets: content.sets }
    : { appends: [], deletes: [], sets: [] };
  const newIds = content.outcome === 'unknown' ? sets.flatMap(({ id }) => id?.text ?? []) : [];
  return {
    id: content.id,
    at: content.at,
    settlesAt: content.settlesAt ?? 0,
    receipt: JSON.stringify({ earlier: { places: {}, ...content, appends, deletes, sets } }),
    confirms: [...sets, ...deletes, ...appends].flatMap(({ confirms, slot }) => {
      if (!confirms) return [];
      const { mends: _, ...consequences } = confirms;
      return [[slot, consequences] as const];
    }),
    tokens: newIds.filter(isClaimToken),
    damage: [],
  };
}

/** Reads the JSON of what a write did to another row. */
export function readSuspectJson(text: string): Suspect {
  const content = parseStored(text);
  if (!isSuspect(content)) throw broken('what a write did to a row', text);
  return content;
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
  isObject(content) &&
  typeof content['receipt'] === 'string' &&
  [content['confirms'], content['tokens'], content['damage']].every(Array.isArray);

/** A step in a write of an earlier version. */
interface EarlierStep {
  readonly slot: number;
  /** A claim token is a text. */
  readonly id?: { readonly text?: string };
  readonly confirms?: Consequences & { readonly mends?: unknown };
}

/** A write to the table as an earlier version kept it. */
interface EarlierOpenWrite extends Pick<OpenWrite, 'id' | 'at'>, Partial<Pick<OpenWrite, 'settlesAt'>> {
  readonly outcome?: string;
  readonly sets: readonly EarlierStep[];
  readonly deletes: readonly EarlierStep[];
  readonly appends?: readonly EarlierStep[];
}

/** Looks at the outline only, as above. */
const isEarlierOpenWrite = (content: unknown): content is EarlierOpenWrite =>
  isObject(content) && [content['sets'], content['deletes'], content['appends'] ?? []].every(Array.isArray);

/** Looks at the outline only: the content was a `Suspect` when it was written, by this program. */
const isSuspect = (content: unknown): content is Suspect =>
  isObject(content) && typeof content['state'] === 'string' && isObject(content['damage']);

/** Looks at the outline only: the content was a `Catalog` when it was written, by this program. */
const isCatalog = (content: unknown): content is Catalog =>
  isObject(content) &&
  [content['pipelines'], content['leadStatuses'], content['customFields']].every(Array.isArray);
