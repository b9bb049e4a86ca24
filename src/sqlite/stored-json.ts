import { SyncError } from '../core/errors.ts';
import { type Fits, isNumber, isObject, isText, listOf, namedOf } from '../core/facts.ts';
import type { Consequences, OpenWrite } from '../core/open-write.ts';
import { isClaimToken, parseRecordKey, type RecordKey, recordKeyText } from '../core/record.ts';
import type { Leave } from '../core/state.ts';
import { parseJson } from '../core/text/parse-json.ts';
import type { Fields, Value } from '../core/value.ts';
import type { Property } from './keyed-table.ts';

/** Reads the text of a key column. */
export function readKey(text: string): RecordKey {
  const key = parseRecordKey(text);
  if (!key) throw broken('a record key', text);
  return key;
}

export const recordKey: Property<RecordKey> = {
  write: (key) => [recordKeyText(key)],
  read: (text) => readKey(String(text)),
};

/** Reads what a text says as JSON. What is none fits nothing. */
export function readJson<Content>(what: string, fits: Fits<Content>, text: string): Content {
  const content = parseJson(text);
  if (!fits(content)) throw broken(what, text);
  return content;
}

const broken = (what: string, text: string) =>
  new SyncError('STATE_BROKEN', `The mirror holds something that is not ${what}: ${text.slice(0, 40)}`);

/** A value that is kept as JSON. */
export const json = <Content>(what: string, fits: Fits<NonNullable<Content>>): Property<Content> => ({
  write: (value) => [value === undefined ? null : JSON.stringify(value)],
  read: (text) => (text === null ? undefined : readJson(what, fits, String(text))) as Content,
});

/** Looks at the outline only: this program wrote the content, which was all that it has to be then. */
export const hasLists =
  <Content>(...names: readonly string[]): Fits<Content> =>
  (content): content is Content =>
    isObject(content) && names.every((name) => Array.isArray(content[name]));

/** Whether it says in which state a leave is, and since when. */
export const isLeave = (content: unknown): content is Leave =>
  isObject(content) &&
  ['leaving', 'moving', 'left'].includes(String(content['state'])) &&
  isNumber(content['at']);

const isTexts = listOf(isText);

const isValue = (content: unknown): content is Value =>
  content === null || ['string', 'number', 'boolean'].includes(typeof content) || isTexts(content);

export const isFields: Fits<Fields> = namedOf(isValue);

export const fields = json<Fields>('fields of a record', isFields);

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

const isOpenWrite = hasLists<Omit<OpenWrite, 'receipt'>>('confirms', 'tokens', 'damage');
const isEarlierOpenWrite = hasLists<EarlierOpenWrite>('sets', 'deletes');

/** A write to the table. Of one in an earlier form the adapter of the table finds out what is left of it. */
export const openWrite: Property<OpenWrite> = {
  columns: ['content', 'receipt'],
  write: ({ receipt, ...content }) => [JSON.stringify(content), receipt],
  read(text, receipt) {
    const content = parseJson(String(text));
    if (isOpenWrite(content) && receipt !== null) return { ...content, receipt: String(receipt) };
    if (!isEarlierOpenWrite(content)) throw broken('a write to the table', String(text));
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
  },
};
