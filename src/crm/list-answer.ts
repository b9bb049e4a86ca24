import type { Envelope } from './contract-records.ts';
import { isJsonObject } from './json.ts';

/** What an answer to a listing says about itself; whatever it does not say is absent. */
export interface PageFacts {
  /** Whether more pages follow. */
  readonly hasMore?: boolean;
  /** Elements of the whole listing. */
  readonly total?: number;
  /** Pages of the whole listing. */
  readonly pages?: number;
  /** Elements of a full page. */
  readonly pageSize?: number;
}

export interface ListAnswer {
  readonly items: readonly unknown[];
  readonly facts: PageFacts;
}

const wrappers = ['items', 'data', 'results', 'records'] as const;
const factHolders = ['pagination', 'paging', 'page_info', 'pageInfo', 'meta'] as const;
const moreNames = ['has_more', 'hasMore', 'has_next', 'hasNext', 'has_next_page', 'hasNextPage'] as const;
const totalNames = [
  'total',
  'total_count',
  'totalCount',
  'total_items',
  'totalItems',
  'total_records',
] as const;
const pagesNames = ['total_pages', 'totalPages', 'page_count', 'pageCount', 'last_page', 'lastPage'] as const;
const pageSizeNames = ['limit', 'per_page', 'perPage', 'page_size', 'pageSize'] as const;

/**
 * Finds the elements of a listing, whose shape the CRM's specification does not show: an array, or one under
 * a usual name or `name` (the entity's, such as `leads`), at most two objects deep; else `undefined`.
 */
export function readListAnswer(answer: Envelope, name: string): ListAnswer | undefined {
  const holders: Record<string, unknown>[] = [answer];
  let held: unknown = answer.data;
  for (let depth = 0; isJsonObject(held) && depth < 2; depth += 1) {
    const holder = held;
    holders.push(holder);
    const key = [...wrappers, name].find((candidate) => holder[candidate] !== undefined);
    held = key === undefined ? undefined : holder[key];
  }
  if (!Array.isArray(held)) return undefined;
  const places = holders.flatMap((holder) => [
    holder,
    ...factHolders.map((key) => holder[key]).filter(isJsonObject),
  ]);
  return { items: held, facts: readFacts(places) };
}

function readFacts(places: readonly Record<string, unknown>[]): PageFacts {
  const hasMore = findFact(places, moreNames, (value) => (typeof value === 'boolean' ? value : undefined));
  const total = findFact(places, totalNames, readCount);
  const pages = findFact(places, pagesNames, readCount);
  const pageSize = findFact(places, pageSizeNames, readCount);
  return {
    ...(hasMore === undefined ? {} : { hasMore }),
    ...(total === undefined ? {} : { total }),
    ...(pages === undefined ? {} : { pages }),
    ...(pageSize === undefined ? {} : { pageSize }),
  };
}

function findFact<Fact>(
  places: readonly Record<string, unknown>[],
  names: readonly string[],
  read: (value: unknown) => Fact | undefined,
): Fact | undefined {
  for (const place of places) {
    for (const name of names) {
      const fact = read(place[name]);
      if (fact !== undefined) return fact;
    }
  }
  return undefined;
}

/** Counts may come as text, as databases answer large ones. */
function readCount(value: unknown): number | undefined {
  const isCount = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
  const count = isCount ? Number(value) : Number.NaN;
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
