import { endpoints } from '../../crm/contract.ts';
import type { CrmChoices } from './choices.ts';
import type { OperationAnswer } from './operation.ts';
import { checkShape, refuseField, refuseWith } from './refusal.ts';

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

type AskedPage = { readonly [Key in keyof Page]?: Page[Key] | undefined };

const firstPage: Page = { page: 1, limit: 25, order: 'desc' };

/** Puts one page of `listing` into the shape that is chosen for listings. */
export function answerPage<Item extends { readonly id: number }>(
  listing: Listing<Item>,
  asked: AskedPage,
  choices: CrmChoices,
): OperationAnswer {
  const limit = asked.limit ?? firstPage.limit;
  const page = findPage(asked.page ?? firstPage.page, countPages(listing.items.length, limit), choices);
  const direction = (asked.order ?? firstPage.order) === 'asc' ? 1 : -1;
  const ordered = listing.items.toSorted((left, right) => direction * (left.id - right.id));
  const items = ordered.slice((page - 1) * limit, page * limit);
  return answerElements({ ...listing, items }, { total: ordered.length, page, limit }, choices);
}

/** Leads and tasks: the query is that of opportunities as far as the choices say that it works there. */
export function answerLooselyPaged<Item extends { readonly id: number }>(
  listing: Listing<Item>,
  query: Readonly<Record<string, string>>,
  choices: CrmChoices,
): OperationAnswer {
  const { leadAndTaskPaging: paging, leadAndTaskOrder: order, leadAndTaskLimitMax: limitMax } = choices;
  const [parameter] = Object.keys(query);
  if (paging === 'refused' && parameter) throw refuseField(parameter, 'Unrecognized parameter');
  if (paging !== 'honoured' && paging !== 'firstPageOnly') {
    return answerPage(listing, { limit: Math.max(1, listing.items.length), order }, choices);
  }
  const isOversized = Number(query['limit']) > limitMax;
  if (isOversized && choices.oversizedLimit === 'refused') {
    throw refuseField('limit', `Too big: expected at most ${limitMax}`);
  }
  const clamped = isOversized ? { ...query, limit: String(limitMax) } : query;
  const asked = checkShape(endpoints.listLeads.query, clamped);
  const defaults = { limit: Math.min(firstPage.limit, limitMax), order };
  return answerPage(
    listing,
    { ...defaults, ...asked, ...(paging === 'honoured' ? {} : { page: 1 }) },
    choices,
  );
}

/** Puts all elements of `listing` into the shape that is chosen for listings. */
export const answerWhole = <Item>(listing: Listing<Item>, choices: CrmChoices): OperationAnswer => {
  const total = listing.items.length;
  return answerElements(listing, { total, page: 1, limit: Math.max(1, total) }, choices);
};

interface PageFacts {
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

function answerElements<Item>(
  { entity, message, items }: Listing<Item>,
  facts: PageFacts,
  { listShape, listFacts }: CrmChoices,
): OperationAnswer {
  if (listShape === 'array') return { message, data: items };
  const key = listShape === 'entity' ? entity : listShape;
  return { message, data: { [key]: items, ...tellFacts(facts, listFacts) } };
}

function tellFacts(facts: PageFacts, told: CrmChoices['listFacts']): Readonly<Record<string, unknown>> {
  const { total, page, limit } = facts;
  switch (told) {
    case 'totals':
      return { total, page, limit };
    case 'hasMore':
      return { has_more: page * limit < total };
    case 'pageCount':
      return { page, total_pages: countPages(total, limit) };
    case 'none':
      return {};
  }
}

/** An empty listing has one page, an empty one. */
const countPages = (total: number, limit: number): number => Math.max(1, Math.ceil(total / limit));

/** The page to show. @throws Refusal 404 behind the last one where that is chosen. */
function findPage(asked: number, pages: number, choices: CrmChoices): number {
  if (asked > pages && choices.pageBeyondLast === 'notFound') throw refuseWith(404);
  return choices.pageBeyondLast === 'lastPage' ? Math.min(asked, pages) : asked;
}
