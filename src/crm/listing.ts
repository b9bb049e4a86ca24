import { isSyncError, SyncError } from '../core/errors.ts';
import type { Lane, RecordPage } from '../core/ports.ts';
import type { Entity, ObservedRecord } from '../core/record.ts';
import type { EndpointName } from './contract.ts';
import type { CrmHttp, CrmReply } from './http.ts';
import { readListAnswer } from './list-answer.ts';
import { findPageEnd, type ListingMemory, pageLimit, rememberPage } from './page-end.ts';
import { readRecord } from './records.ts';

const listings = {
  lead: { endpoint: 'listLeads', path: '/leads', name: 'leads' },
  opportunity: { endpoint: 'listOpportunities', path: '/opportunities', name: 'opportunities' },
  task: { endpoint: 'listTasks', path: '/tasks', name: 'tasks' },
} as const satisfies Record<Entity, { endpoint: EndpointName; path: string; name: string }>;

type PageQuery = (page: number) => Readonly<Record<string, string | number>>;

/**
 * Only opportunities are documented to take these. A CRM usually ignores what it does not know; where it
 * refuses, the next shorter query is tried and kept.
 */
const pageQueries: readonly PageQuery[] = [
  (page) => ({ page, limit: pageLimit, order: 'desc' }),
  (page) => ({ page, limit: pageLimit }),
  (page) => ({ page }),
];

/** Reads pages of one entity's listing. */
export type ReadPage = (page: number, lane: Lane, customKeys: readonly string[]) => Promise<RecordPage>;

/**
 * Makes the reader of an entity's listing. It remembers how this CRM answers: which query it takes, how long
 * a page is and what the page before held.
 */
export function createListing(http: CrmHttp, entity: Entity): ReadPage {
  const { endpoint, path, name } = listings[entity];
  let queryIndex = 0;
  let memory: ListingMemory = {};

  async function ask(page: number, lane: Lane): Promise<CrmReply> {
    for (;;) {
      const query = pageQueries[queryIndex]?.(page) ?? {};
      try {
        return await http({ endpoint, lane, query });
      } catch (error) {
        if (!isSyncError(error, 'CRM_REFUSED') || queryIndex === pageQueries.length - 1) throw error;
        queryIndex += 1;
      }
    }
  }

  return async (page, lane, customKeys) => {
    const { envelope, sentAt } = await ask(page, lane);
    const answer = readListAnswer(envelope, name);
    if (!answer) throw unreadable(path, page, 'no list of records is in the answer');
    const records = answer.items.map((item, index): ObservedRecord => {
      const record = readRecord(entity, item, customKeys);
      if ('problem' in record) throw unreadable(path, page, `record ${index + 1}: ${record.problem}`);
      return { entity, ...record, at: sentAt };
    });
    const read = { page, ids: records.map((record) => record.id), facts: answer.facts };
    const end = findPageEnd(read, memory);
    memory = rememberPage(read, end, memory);
    if (end === 'truncated') {
      throw unreadable(path, page, `it repeats page ${page - 1}, although there are more records`);
    }
    return { records: end === 'repeat' ? [] : records, at: sentAt, hasMore: end === 'more' };
  };
}

const unreadable = (path: string, page: number, problem: string): SyncError =>
  new SyncError('CRM_UNREADABLE', `GET ${path}, page ${page}, can not be understood: ${problem}.`);
