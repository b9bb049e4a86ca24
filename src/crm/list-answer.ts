import type { Envelope } from './contract-records.ts';
import { isJsonObject } from './json.ts';

/** What an answer to a listing says about itself; whatever it does not say is absent. */
export interface PageFacts {
  /** Whether more pages follow. */
  readonly hasMore?: boolean | undefined;
  /** Elements of the whole listing. */
  readonly total?: number | undefined;
  /** Pages of the whole listing. */
  readonly pages?: number | undefined;
  /** Elements of a full page. */
  readonly pageSize?: number | undefined;
}

export interface ListAnswer {
  readonly items: readonly unknown[];
  readonly facts: PageFacts;
}

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

const readFacts = (places: readonly Record<string, unknown>[]): PageFacts => ({
  hasMore: findFact(places, moreNames, (value) => (typeof value === 'boolean' ? value : undefined)),
  total: findFact(places, totalNames, readCount),
  pages: findFact(places, pagesNames, readCount),
  pageSize: findFact(places, pageSizeNames, readCount),
});

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
