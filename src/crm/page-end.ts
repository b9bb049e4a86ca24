import type { RecordId } from '../core/record.ts';
import { documentedLimits } from './contract.ts';
import type { PageFacts } from './list-answer.ts';

/** What the pages read so far taught about a listing. */
export interface ListingMemory {
  /** Elements of a full page, once a page was followed by another. */
  readonly pageSize?: number | undefined;
  /** The page that was read last. */
  readonly last?: { readonly page: number; readonly size: number };
  /** How many elements there were by what the first page told. */
  readonly total?: number | undefined;
  /** How many pages there were by what the first one told. */
  readonly pages?: number | undefined;
  /** What the pages from the first to the last one held. */
  readonly seen: ReadonlySet<RecordId>;
}

export interface PageReading {
  readonly page: number;
  readonly ids: readonly RecordId[];
  readonly facts: PageFacts;
}

/**
 * - `more`, `end`: whether another page is to be asked for.
 * - `repeat`: nothing but earlier elements behind the last page: the end, with nothing new.
 * - `suspect`: page 2 is page 1 again. Either all came at once, or the CRM shows no more than a first page:
 *   {@link holdsEverything} tells.
 * - `truncated`: earlier elements again, although there are more: the listing can not be read to its end. (Where the total has changed
 *   since the first page, elements moved from page to page meanwhile, and what was not seen is seen the next time.)
 */
export type PageEnd = 'more' | 'end' | 'repeat' | 'suspect' | 'truncated';

/** The page size that is asked for. */
export const pageLimit = documentedLimits.maxPageSize;

export const emptyMemory: ListingMemory = { seen: new Set() };

/** Decides where a listing ends, from the strongest sign to the weakest. */
export function findPageEnd(read: PageReading, memory: ListingMemory): PageEnd {
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
  // A total as large as a full first page may be the count of the page: one more page tells.
  const isFullFirstPage = page === 1 && ids.length >= pageLimit;
  if (facts.total === seen && !isFullFirstPage) return 'end';
  // Without a known page size even a short page may be a full one of a CRM that clamps `limit`.
  return pageSize !== undefined && ids.length < pageSize ? 'end' : 'more';
}

/** Whether the first page told of more elements than came before this page. */
export const isExpected = (page: number, { pages = 0, seen, total = 0 }: ListingMemory): boolean =>
  pages >= page || total > seen.size;

/** What to remember after a page. */
export function rememberPage(read: PageReading, end: PageEnd, memory: ListingMemory): ListingMemory {
  const { page, ids, facts } = read;
  const isNew = end === 'more' || end === 'end';
  const { pages, total } = page === 1 ? facts : memory;
  return {
    pageSize: isNew ? learnPageSize(read, memory) : memory.pageSize,
    total,
    pages,
    last: { page, size: ids.length },
    seen: new Set([...(page === 1 ? [] : memory.seen), ...ids]),
  };
}

/**
 * Of many short listings that are paged alike, a page is at least as long as the longest that was seen: so a shorter one is the last of
 * its listing, and most cost one request.
 */
export const rememberLongest = ({ ids }: PageReading, memory: ListingMemory): ListingMemory => ({
  ...memory,
  pageSize: Math.max(memory.pageSize ?? 0, ids.length),
});

/**
 * What to ask (page, limit and order) where the second page repeats a first one of `size` elements: again the
 * second page, but of pages that are one shorter, and from the other end.
 */
export const probeOf = (size: number) => [2, Math.max(1, size - 1), 'asc'] as const;

/**
 * Whether `first` is the whole listing, judged by what came back for {@link probeOf}. Elements that `first`
 * lacks prove that it is not. One element less shows a CRM that cuts at `limit` and knows no pages: what it
 * gave is whole only if it is shorter than what was asked for.
 */
export function holdsEverything(first: ReadonlySet<RecordId>, probed: readonly RecordId[]): boolean {
  const isCutAtLimit = probed.length === first.size - 1 && first.size >= pageLimit;
  return !isCutAtLimit && probed.every((id) => first.has(id));
}

/** A first page with something behind it was a full one. */
const learnPageSize = ({ page, ids }: PageReading, { pageSize, last }: ListingMemory): number | undefined =>
  page === 2 && last?.page === 1 && ids.length > 0 ? last.size : pageSize;

/** A page as long as the one before, without any new element: all of it can not be an overlap. */
const isRepeat = ({ page, ids }: PageReading, { last, seen }: ListingMemory): boolean =>
  page > 1 && last?.page === page - 1 && last.size === ids.length && ids.every((id) => seen.has(id));

/** So much came since the first page was read that it moved on to this one, which is no sign of the end. */
const hasGrown = ({ facts }: PageReading, { pages = Infinity }: ListingMemory): boolean =>
  facts.pages !== undefined && facts.pages > pages;

const promisesMore = ({ page, facts }: PageReading, { seen, total }: ListingMemory): boolean =>
  facts.hasMore === true ||
  (facts.pages ?? 0) >= page ||
  (facts.total === total && (facts.total ?? 0) > seen.size);
