import type { RecordId } from '../core/record.ts';
import { documentedLimits } from './contract.ts';
import type { PageFacts } from './list-answer.ts';

/** What the pages before it taught about a listing. */
export interface ListingMemory {
  /** Elements of a full page, once a page was followed by another. */
  readonly pageSize?: number;
  /** The page that was read last. */
  readonly last?: { readonly page: number; readonly ids: readonly RecordId[] };
}

export interface PageReading {
  readonly page: number;
  readonly ids: readonly RecordId[];
  readonly facts: PageFacts;
}

/**
 * - `more`, `end`: whether another page is to be asked for.
 * - `repeat`: the CRM does not know pages and sent everything again: the end, with nothing new.
 * - `truncated`: the same elements again, but not all there are: the listing can not be read to its end.
 */
export type PageEnd = 'more' | 'end' | 'repeat' | 'truncated';

/** The page size that is asked for. */
export const pageLimit = documentedLimits.maxPageSize;
/** The specification's page size where none is asked for. */
const defaultPageSize = 25;

/** Decides where a listing ends, from the strongest sign to the weakest. */
export function findPageEnd(read: PageReading, memory: ListingMemory): PageEnd {
  const { page, ids, facts } = read;
  if (ids.length === 0) return 'end';
  if (isRepeat(read, memory)) return holdsAll(read) ? 'repeat' : 'truncated';
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

/** What to remember after a page. */
export function rememberPage(read: PageReading, end: PageEnd, memory: ListingMemory): ListingMemory {
  const last = { page: read.page, ids: read.ids };
  const isNew = end === 'more' || end === 'end';
  const pageSize = isNew ? learnPageSize(read, memory) : memory.pageSize;
  return pageSize === undefined ? { last } : { pageSize, last };
}

/** A first page with something behind it was a full one. */
const learnPageSize = ({ page, ids }: PageReading, { pageSize, last }: ListingMemory): number | undefined =>
  page === 2 && last?.page === 1 && ids.length > 0 ? last.ids.length : pageSize;

function isRepeat({ page, ids }: PageReading, { last }: ListingMemory): boolean {
  if (page === 1 || last?.page !== page - 1 || last.ids.length !== ids.length) return false;
  const before = new Set(last.ids);
  return ids.every((id) => before.has(id));
}

/** Whether a page that came twice is all there is. */
function holdsAll({ ids, facts }: PageReading): boolean {
  if (facts.hasMore || (facts.pages ?? 1) > 1) return false;
  if (facts.total !== undefined) return facts.total <= ids.length;
  // As long as a full page, it is rather the first page of a CRM that knows `limit` and not `page`.
  return ids.length !== pageLimit && ids.length !== defaultPageSize;
}
