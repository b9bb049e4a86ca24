import { isSyncError, SyncError } from '../core/errors.ts';
import type { Lane, RecordPage } from '../core/ports.ts';
import type { Entity, ObservedRecord, RecordId } from '../core/record.ts';
import { type EndpointName, endpoints } from './contract.ts';
import type { CrmHttp, CrmReply } from './http.ts';
import { type PageFacts, readListAnswer } from './list-answer.ts';
import {
  emptyMemory,
  findPageEnd,
  holdsEverything,
  isExpected,
  type ListingMemory,
  pageLimit,
  probeOf,
  rememberLongest,
  rememberPage,
} from './page-end.ts';
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

interface ReadAnswer {
  /** The records that are there. */
  readonly records: readonly ObservedRecord[];
  readonly nameless: readonly string[];
  /** Names all that the page holds: also what is in the trash, or has no id, shows where the listing ends. */
  readonly ids: readonly string[];
  readonly facts: PageFacts;
}

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

  /** `undefined` where the CRM says that there is no such page, or refuses one that nothing told of. */
  async function read(
    lane: Lane,
    customFields: readonly KnownCustomField[],
    leadId: RecordId | undefined,
    ...asked: Parameters<PageQuery>
  ): Promise<ReadAnswer | undefined> {
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
    const memory = memories.get(lane) ?? emptyMemory;
    // A page that is read again out of turn tells nothing about where the listing ends.
    if (!isInTurn(page, memory)) return { ...live, hasMore: true };
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
    return { ...(isNew ? live : { records: [] }), hasMore: end === 'more' };
  };
}

const isInTurn = (page: number, { last }: ListingMemory): boolean =>
  page === 1 || last?.page === page - 1 || last?.page === page;

const unreadable = (path: string, page: number, problem: string): SyncError =>
  new SyncError('CRM_UNREADABLE', `GET ${path}, page ${page}, can not be understood: ${problem}.`);
