import { isSyncError, SyncError } from '../core/errors.ts';
import type { Lane, RecordPage } from '../core/ports.ts';
import type { Entity, ObservedRecord } from '../core/record.ts';
import type { EndpointName } from './contract.ts';
import type { CrmHttp, CrmReply } from './http.ts';
import { type PageFacts, readListAnswer } from './list-answer.ts';
import {
  emptyMemory,
  findPageEnd,
  holdsEverything,
  type ListingMemory,
  pageLimit,
  probeOf,
  rememberPage,
} from './page-end.ts';
import { readRecord } from './records.ts';

/** The listing of each entity. */
export const listings = {
  lead: { endpoint: 'listLeads', path: '/leads', name: 'leads' },
  opportunity: { endpoint: 'listOpportunities', path: '/opportunities', name: 'opportunities' },
  task: { endpoint: 'listTasks', path: '/tasks', name: 'tasks' },
} as const satisfies Record<Entity, { endpoint: EndpointName; path: string; name: string }>;

type Query = Readonly<Record<string, string | number>>;
type PageQuery = (page: number, limit: number, order?: 'asc' | 'desc') => Query;

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
  readonly records: readonly ObservedRecord[];
  readonly facts: PageFacts;
}

/** Reads pages of one entity's listing. */
export type ReadPage = (page: number, lane: Lane, customKeys: readonly string[]) => Promise<RecordPage>;

/**
 * Makes the reader of an entity's listing. It remembers how this CRM answers: which query it takes, how long
 * a page is and, for each lane, what the pages before held.
 */
export function createListing(http: CrmHttp, entity: Entity): ReadPage {
  const { endpoint, path, name } = listings[entity];
  let queryIndex = 0;
  const memories = new Map<Lane, ListingMemory>();

  async function ask(lane: Lane, ...asked: Parameters<PageQuery>): Promise<CrmReply> {
    for (;;) {
      const query = pageQueries[queryIndex]?.(...asked) ?? {};
      try {
        return await http({ endpoint, lane, query });
      } catch (error) {
        if (!isSyncError(error, 'CRM_REFUSED') || queryIndex === pageQueries.length - 1) throw error;
        queryIndex += 1;
      }
    }
  }

  /** `undefined` where the CRM says that there is no such page. */
  async function read(
    lane: Lane,
    customKeys: readonly string[],
    ...asked: Parameters<PageQuery>
  ): Promise<ReadAnswer | undefined> {
    const [page] = asked;
    try {
      const { envelope, sentAt: at } = await ask(lane, ...asked);
      const answer = readListAnswer(envelope, name);
      if (!answer) throw unreadable(path, page, 'no list of records is in the answer');
      const records = answer.items.map((item, index): ObservedRecord => {
        const record = readRecord(entity, item, customKeys);
        if (!('problem' in record)) return { entity, ...record, at };
        throw unreadable(path, page, `record ${index + 1}: ${record.problem}`);
      });
      return { records, facts: answer.facts };
    } catch (error) {
      if (page > 1 && isSyncError(error, 'CRM_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  return async (page, lane, customKeys) => {
    const answer = await read(lane, customKeys, page, pageLimit);
    if (!answer) return { records: [], hasMore: false };
    const { records, facts } = answer;
    const memory = memories.get(lane) ?? emptyMemory;
    // A page that is read again out of turn tells nothing about where the listing ends.
    if (!isInTurn(page, memory)) return { records, hasMore: true };
    const reading = { page, ids: idsOf(records), facts };
    const end = findPageEnd(reading, memory);
    memories.set(lane, rememberPage(reading, end, memory));
    if (end === 'more' || end === 'end') return { records, hasMore: end === 'more' };
    if (end === 'repeat') return { records: [], hasMore: false };
    if (end === 'suspect') {
      const probed = await read(lane, customKeys, ...probeOf(records.length));
      if (holdsEverything(memory.seen, idsOf(probed?.records ?? []))) return { records: [], hasMore: false };
    }
    throw unreadable(path, page, 'it repeats what came before, although there are more records');
  };
}

const isInTurn = (page: number, { last }: ListingMemory): boolean =>
  page === 1 || last?.page === page - 1 || last?.page === page;

const idsOf = (records: readonly ObservedRecord[]) => records.map((record) => record.id);

const unreadable = (path: string, page: number, problem: string): SyncError =>
  new SyncError('CRM_UNREADABLE', `GET ${path}, page ${page}, can not be understood: ${problem}.`);
