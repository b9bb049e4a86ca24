import { endpoints } from '../../crm/contract.ts';
import type { CrmChoices } from './choices.ts';
import type { OperationAnswer } from './operation.ts';
import { checkShape } from './refusal.ts';

interface Page {
  readonly page: number;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/** One listing: which elements, and the name its entity has in the answer. */
interface Listing<Item> {
  readonly entity: string;
  readonly message: string;
  readonly items: readonly Item[];
}

const firstPage: Page = { page: 1, limit: 25, order: 'desc' };

/** Puts one page of `listing` into the shape that is chosen for listings. */
export function answerPage<Item extends { readonly id: number }>(
  listing: Listing<Item>,
  asked: { readonly [Key in keyof Page]?: Page[Key] | undefined },
  choices: CrmChoices,
): OperationAnswer {
  const page = asked.page ?? firstPage.page;
  const limit = asked.limit ?? firstPage.limit;
  const direction = (asked.order ?? firstPage.order) === 'asc' ? 1 : -1;
  const ordered = listing.items.toSorted((left, right) => direction * (left.id - right.id));
  const items = ordered.slice((page - 1) * limit, page * limit);
  return answerListing({ ...listing, items }, { total: ordered.length, page, limit }, choices);
}

/** Leads and tasks: the query is that of opportunities as far as the choices say that it works there. */
export function answerLooselyPaged<Item extends { readonly id: number }>(
  listing: Listing<Item>,
  query: Readonly<Record<string, string>>,
  choices: CrmChoices,
): OperationAnswer {
  if (choices.leadAndTaskPaging === 'ignored') {
    return answerPage(listing, { page: 1, limit: Math.max(1, listing.items.length) }, choices);
  }
  const limitIsOversized = Number(query['limit']) > 100;
  const clamped =
    choices.oversizedLimit === 'clamped' && limitIsOversized ? { ...query, limit: '100' } : query;
  const asked = checkShape(endpoints.listLeads.query, clamped);
  const page = choices.leadAndTaskPaging === 'firstPageOnly' ? 1 : asked.page;
  return answerPage(listing, { ...asked, page }, choices);
}

/** Puts all elements of `listing` into the shape that is chosen for listings. */
export function answerListing<Item>(
  listing: Listing<Item>,
  totals: Readonly<Record<string, number>>,
  choices: CrmChoices,
): OperationAnswer {
  const { listShape } = choices;
  if (listShape === 'array') return { message: listing.message, data: listing.items };
  const key = listShape === 'entity' ? listing.entity : listShape;
  return {
    message: listing.message,
    data: { [key]: listing.items, ...(choices.listHasTotals ? totals : {}) },
  };
}
