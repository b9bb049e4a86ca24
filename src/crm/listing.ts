import { isSyncError, SyncError } from '../core/errors.ts';
import { isObject } from '../core/facts.ts';
import type { Lane, RecordPage } from '../core/ports.ts';
import type { Entity, ObservedRecord, RecordId } from '../core/record.ts';
import { documentedLimits, type EndpointName, type Envelope, endpoints } from './contract.ts';
import type { CrmHttp, CrmReply } from './http.ts';
import { isTrashed, type KnownCustomField, placeContact, readRecord } from './records.ts';
import { failureOfList } from './verdict.ts';

/** The listing of each entity, and how its answer may call the list of elements. That of contacts is there once below every lead. */
export const listings = {
  lead: { endpoint: 'listLeads', name: 'leads' },
  opportunity: { endpoint: 'listOpportunities', name: 'opportunities' },
  task: { endpoint: 'listTasks', name: 'tasks' },
  contact: { endpoint: 'listContacts', name: 'contacts' },
} as const satisfies Record<Entity, { readonly endpoint: EndpointName; readonly name: string }>;

type Query = Readonly<Record<string, string | number>>;
export type PageQuery = (page: number, limit: number, order?: 'asc' | 'desc') => Query;

/**
 * Only opportunities are documented to take these. A CRM usually ignores what it does not know; where it
 * refuses, the next query is tried and kept.
 */
export const pageQueries: readonly PageQuery[] = [
  (page, limit, order = 'desc') => ({ page, limit, order }),
  (page, limit) => ({ page, limit }),
  (page, _limit, order = 'desc') => ({ page, order }),
  (page) => ({ page }),
  () => ({}),
];

/** Reads pages of one entity's listing; of the one below `leadId` where there are many. */
export type ReadPage = (
  page: number,
  lane: Lane,
  customFields: readonly KnownCustomField[],
  leadId?: RecordId,
) => Promise<RecordPage>;

type Ask = (lane: Lane, leadId: RecordId | undefined, ...asked: Parameters<PageQuery>) => Promise<CrmReply>;

/**
 * Makes what asks for a page by the first query that the CRM takes. Only that one is kept for what follows, and only first pages tell: a
 * CRM that refuses everything for a while, or a page behind the last one, would else be read by a query that leaves records out.
 */
function createAsk(http: CrmHttp, endpoint: EndpointName): Ask {
  let queryIndex = 0;
  return async (lane, leadId, ...asked) => {
    const [page] = asked;
    const path = leadId === undefined ? {} : { path: { leadId } };
    for (let index = queryIndex; ; index += 1) {
      const query = pageQueries[index]?.(...asked) ?? {};
      try {
        const reply = await http({ endpoint, lane, query, ...path });
        queryIndex = index;
        return reply;
      } catch (error) {
        const isLast = page > 1 || index === pageQueries.length - 1;
        if (!isSyncError(error, 'CRM_REFUSED') || isLast) throw error;
      }
    }
  };
}

/**
 * Makes the reader of an entity's listing. It remembers how this CRM answers: which query it takes, how long
 * a page is and, for each lane, what the pages before held.
 */
export function createListing(http: CrmHttp, entity: Entity): ReadPage {
  const { endpoint, name } = listings[entity];
  const { path } = endpoints[endpoint];
  const ask = createAsk(http, endpoint);
  const memories = new Map<Lane, ListingMemory>();

  /**
   * The records that are there, with the `ids` of all that the page holds: also what is in the trash, or has no id, shows where the listing
   * ends. `undefined` where the CRM says that there is no such page, or refuses one that no page announced.
   */
  async function read(
    lane: Lane,
    customFields: readonly KnownCustomField[],
    leadId: RecordId | undefined,
    ...asked: Parameters<PageQuery>
  ) {
    const [page] = asked;
    try {
      const { envelope, sentAt: at } = await ask(lane, leadId, ...asked);
      const answer = readListAnswer(envelope, name);
      if (!answer) throw unreadable(path, page, 'no list of records is in the answer');
      const records: ObservedRecord[] = [];
      const nameless: string[] = [];
      const ids = answer.items.map((item, index) => {
        const record = readRecord(entity, item, customFields);
        if ('problem' in record) {
          const list = path.replace('{leadId}', leadId ?? '');
          if (!isTrashed(item))
            nameless.push(`GET ${list}, page ${page}, element ${index + 1}: ${record.problem}`);
          return JSON.stringify(item) ?? '';
        }
        const placed = leadId === undefined ? record : placeContact(leadId, record);
        if (!isTrashed(item)) records.push({ entity, ...placed, at });
        return placed.id;
      });
      return { records, nameless, ids, facts: answer.facts };
    } catch (error) {
      if (page > 1 && isSyncError(error, 'CRM_NOT_FOUND')) return undefined;
      if (!isSyncError(error, 'CRM_REFUSED')) throw leadId === undefined ? failureOfList(error) : error;
      const memory = memories.get(lane);
      const isPromised = memory !== undefined && isInTurn(page, memory) && isExpected(page, memory);
      if (page > 1 && !isPromised) return undefined;
      throw unreadable(path, page, `the CRM refuses it: ${error.message.replace(/\.$/, '')}`);
    }
  }

  return async (page, lane, customFields, leadId) => {
    const answer = await read(lane, customFields, leadId, page, pageLimit);
    if (!answer) return { records: [], hasMore: false };
    const { facts, ids, nameless, records } = answer;
    const live = { records, ...(nameless.length > 0 ? { nameless } : {}) };
    const memory = takeTurn(page, ids, memories.get(lane) ?? createMemory());
    // A page that is read out of turn says nothing about where the listing ends.
    if (!memory) return { ...live, hasMore: true };
    const reading = { page, ids, facts };
    const end = findPageEnd(reading, memory);
    const probed =
      end === 'suspect' ? await read(lane, customFields, leadId, ...probeOf(ids.length)) : undefined;
    const isWhole = end !== 'suspect' || holdsEverything(memory.seen, probed?.ids ?? []);
    // What can not be understood is not remembered, so that it is judged alike when it is read again.
    if (end === 'truncated' || !isWhole)
      throw unreadable(path, page, 'it repeats what came before, although there are more records');
    const remembered = rememberPage(reading, end, memory);
    memories.set(lane, leadId === undefined ? remembered : rememberLongest(reading, remembered));
    const isNew = end === 'more' || end === 'end';
    return { ...(isNew ? live : { records: [] }), hasMore: end === 'more', ...totalOf(end, remembered) };
  };
}

/** One that is not larger than what was seen is the count of a page. */
const totalOf = (end: PageEnd, { seen, total = 0 }: ListingMemory) =>
  end === 'more' && total > seen.size ? { total } : {};

/** Whether a page is the first one, the last one again, or the next but for those that were read out of turn. */
function isInTurn(page: number, { aside, last }: ListingMemory): boolean {
  if (page === 1) return true;
  if (!last || page < last.page) return false;
  for (let between = last.page + 1; between < page; between += 1) if (!aside.has(between)) return false;
  return true;
}

/**
 * What is remembered before a page that is read in turn. One that is not is put aside, so that the turn may pass over it; what moved on from
 * there since repeats nothing.
 */
function takeTurn(page: number, ids: readonly RecordId[], memory: ListingMemory): ListingMemory | undefined {
  const { aside, last, seen } = memory;
  if (!isInTurn(page, memory)) {
    aside.set(page, ids);
    return undefined;
  }
  if (page === 1 || !last || page <= last.page + 1) return memory;
  for (let passed = last.page + 1; passed < page; passed += 1) addAll(seen, aside.get(passed) ?? []);
  return { ...memory, last: undefined };
}

/** A long listing is not copied for each of its pages. */
function addAll(seen: Set<RecordId>, ids: readonly RecordId[]): Set<RecordId> {
  for (const id of ids) seen.add(id);
  return seen;
}

const unreadable = (path: string, page: number, problem: string): SyncError =>
  new SyncError('CRM_UNREADABLE', `GET ${path}, page ${page}, can not be understood: ${problem}.`);

/** What the pages read so far taught about a listing. */
interface ListingMemory {
  /** Elements of a full page, once a page was followed by another. */
  readonly pageSize?: number | undefined;
  /** The page that was read last. */
  readonly last?: { readonly page: number; readonly size: number } | undefined;
  /** What pages held that were read out of turn since the first one. */
  readonly aside: Map<number, readonly RecordId[]>;
  /** How many elements there were by what the first page said. */
  readonly total?: number | undefined;
  /** How many pages there were by what the first one said. */
  readonly pages?: number | undefined;
  /** What the pages from the first to the last one held. */
  readonly seen: Set<RecordId>;
}

interface PageReading {
  readonly page: number;
  readonly ids: readonly RecordId[];
  readonly facts: PageFacts;
}

/**
 * - `more`, `end`: whether another page is to be asked for.
 * - `repeat`: nothing but earlier elements behind the last page: the end, with nothing new.
 * - `suspect`: page 2 is page 1 again. Either all came at once, or the CRM shows no more than a first page:
 *   {@link holdsEverything} decides.
 * - `truncated`: earlier elements again, although there are more: the listing cannot be read to its end. (Where the total has changed
 *   since the first page, elements moved from page to page meanwhile, and what was not seen is seen the next time.)
 */
type PageEnd = 'more' | 'end' | 'repeat' | 'suspect' | 'truncated';

/** The page size that is asked for. */
export const pageLimit = documentedLimits.maxPageSize;

const createMemory = (): ListingMemory => ({ aside: new Map(), seen: new Set() });

/** Decides where a listing ends, from the strongest sign to the weakest. */
function findPageEnd(read: PageReading, memory: ListingMemory): PageEnd {
  const { page, ids, facts } = read;
  if (ids.length === 0) return 'end';
  if (isRepeat(read, memory) && !hasGrown(read, memory)) {
    if (promisesMore(read, memory)) return 'truncated';
    return page === 2 ? 'suspect' : 'repeat';
  }
  if (facts.hasMore !== undefined) return facts.hasMore ? 'more' : 'end';
  if (facts.pages !== undefined) return page < facts.pages ? 'more' : 'end';
  const pageSize = learnPageSize(read, memory) ?? facts.pageSize;
  const seen = (page - 1) * (pageSize ?? ids.length) + ids.length;
  if (facts.total !== undefined && facts.total > seen) return 'more';
  // A total as large as a full first page may be the count of the page: one more page shows it.
  const isFullFirstPage = page === 1 && ids.length >= pageLimit;
  if (facts.total === seen && !isFullFirstPage) return 'end';
  // Without a known page size even a short page may be a full one of a CRM that clamps `limit`.
  return pageSize !== undefined && ids.length < pageSize ? 'end' : 'more';
}

/** Whether the first page announced more elements than came before this page. */
const isExpected = (page: number, { pages = 0, seen, total = 0 }: ListingMemory): boolean =>
  pages >= page || total > seen.size;

/** What to remember after a page. */
function rememberPage(read: PageReading, end: PageEnd, memory: ListingMemory): ListingMemory {
  const { page, ids, facts } = read;
  const isNew = end === 'more' || end === 'end';
  const { pages, total } = page === 1 ? facts : memory;
  return {
    pageSize: isNew ? learnPageSize(read, memory) : memory.pageSize,
    total,
    pages,
    last: { page, size: ids.length },
    aside: page === 1 ? new Map() : memory.aside,
    seen: addAll(page === 1 ? new Set() : memory.seen, ids),
  };
}

/**
 * Of many short listings that are paged alike, a page is at least as long as the longest that was seen: so a shorter one is the last of
 * its listing, and most cost one request.
 */
const rememberLongest = ({ ids }: PageReading, memory: ListingMemory): ListingMemory => ({
  ...memory,
  pageSize: Math.max(memory.pageSize ?? 0, ids.length),
});

/**
 * What to ask (page, limit and order) where the second page repeats a first one of `size` elements: again the
 * second page, but of pages that are one shorter, and from the other end.
 */
const probeOf = (size: number) => [2, Math.max(1, size - 1), 'asc'] as const;

/**
 * Whether `first` is the whole listing, judged by what came back for {@link probeOf}. Elements that `first`
 * lacks prove that it is not. One element less shows a CRM that cuts at `limit` and knows no pages: what it
 * gave is whole only if it is shorter than what was asked for.
 */
function holdsEverything(first: ReadonlySet<RecordId>, probed: readonly RecordId[]): boolean {
  const isCutAtLimit = probed.length === first.size - 1 && first.size >= pageLimit;
  return !isCutAtLimit && probed.every((id) => first.has(id));
}

/** A first page with something behind it was a full one. */
const learnPageSize = ({ page, ids }: PageReading, { pageSize, last }: ListingMemory): number | undefined =>
  page === 2 && last?.page === 1 && ids.length > 0 ? last.size : pageSize;

/** A page as long as the one before, without any new element: all of it cannot be an overlap. */
const isRepeat = ({ page, ids }: PageReading, { last, seen }: ListingMemory): boolean =>
  page > 1 && last?.page === page - 1 && last.size === ids.length && ids.every((id) => seen.has(id));

/** So much came since the first page was read that it moved on to this one, which is no sign of the end. */
const hasGrown = ({ facts }: PageReading, { pages = Infinity }: ListingMemory): boolean =>
  facts.pages !== undefined && facts.pages > pages;

const promisesMore = ({ page, facts }: PageReading, { seen, total }: ListingMemory): boolean =>
  facts.hasMore === true ||
  (facts.pages ?? 0) >= page ||
  (facts.total === total && (facts.total ?? 0) > seen.size);

const wrappers = ['items', 'data', 'results', 'records'] as const;

/** Names in both of the forms that are usual. */
const inBothForms = (...names: string[]): string[] =>
  names.flatMap((name) => [name, name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())]);

const factHolders = inBothForms('pagination', 'paging', 'page_info', 'meta');
const moreNames = inBothForms('has_more', 'has_next', 'has_next_page');
const totalNames = inBothForms('total', 'total_count', 'total_items', 'total_records');
const pagesNames = inBothForms('total_pages', 'page_count', 'last_page');
const pageSizeNames = inBothForms('limit', 'per_page', 'page_size');

/**
 * Finds the elements of a listing, whose shape the CRM's specification does not show: an array, or one under
 * a usual name or `name` (the entity's, such as `leads`), at most two objects deep; else `undefined`.
 */
export function readListAnswer(
  answer: Envelope,
  name: string,
): { readonly items: readonly unknown[]; readonly facts: PageFacts } | undefined {
  const holders: Record<string, unknown>[] = [answer];
  let held: unknown = answer.data;
  for (let depth = 0; isObject(held) && depth < 2; depth += 1) {
    const holder = held;
    holders.push(holder);
    const key = [...wrappers, name].find((candidate) => holder[candidate] !== undefined);
    held = key === undefined ? undefined : holder[key];
  }
  if (!Array.isArray(held)) return undefined;
  const places = holders.flatMap((holder) => [
    holder,
    ...factHolders.map((key) => holder[key]).filter(isObject),
  ]);
  return { items: held, facts: readFacts(places) };
}

/** What an answer to a listing says about itself; whatever it does not say is absent. */
export type PageFacts = Partial<Readonly<ReturnType<typeof readFacts>>>;

const readFacts = (places: readonly Record<string, unknown>[]) => ({
  /** Whether more pages follow. */
  hasMore: findFact(places, moreNames, (value) => (typeof value === 'boolean' ? value : undefined)),
  /** Elements of the whole listing. */
  total: findFact(places, totalNames, readCount),
  /** Pages of the whole listing. */
  pages: findFact(places, pagesNames, readCount),
  /** Elements of a full page. */
  pageSize: findFact(places, pageSizeNames, readCount),
});

const findFact = <Fact>(
  places: readonly Record<string, unknown>[],
  names: readonly string[],
  read: (value: unknown) => Fact | undefined,
): Fact | undefined => places.flatMap((place) => names.flatMap((name) => read(place[name]) ?? []))[0];

/** Counts may come as text, as databases answer large ones. */
function readCount(value: unknown): number | undefined {
  const isCount = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
  const count = isCount ? Number(value) : Number.NaN;
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
