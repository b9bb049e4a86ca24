import { isSyncError, SyncError } from '../core/errors.ts';
import { isObject } from '../core/facts.ts';
import type { ListedEntity, RecordId } from '../core/record.ts';
import { type Envelope, endpointOf, endpoints } from './contract.ts';
import {
  listings,
  type PageFacts,
  type PageQuery,
  pageLimit,
  pageQueries,
  readListAnswer,
} from './listing.ts';
import type { CrmProbe, ProbeCall } from './probe.ts';
import { readRecord, unwrapRecord } from './records.ts';

/** How the CRM lists an entity, as far as its records show it; what they do not show is absent. */
export interface ListDialect {
  /** Where the elements stand in the answer: `data.items`. */
  readonly place: string;
  /** What the answer says about the whole listing. */
  readonly facts: PageFacts;
  /** The parameters that it takes without refusing them; whether it follows them is said below. */
  readonly parameters: readonly string[];
  /** Elements of the answer to a full page. */
  readonly count: number;
  readonly knowsLimit?: boolean | undefined;
  readonly knowsPage?: boolean | undefined;
  /** Whether there is more than the answer to a full page brought. */
  readonly hasMore?: boolean | undefined;
  /** By id, in the order that was asked for: newest first. */
  readonly order?: 'newest first' | 'oldest first' | 'neither newest nor oldest first' | undefined;
  readonly hasUpdatedAt?: boolean;
  /** Id of a record to look at, where there is one. */
  readonly sampleId?: RecordId | undefined;
}

type Page = ReturnType<typeof readPage>;

const listCall = (entity: ListedEntity, query: ReturnType<PageQuery>): ProbeCall => ({
  endpoint: listings[entity].endpoint,
  query,
});

/** The cheapest read of a listing. */
export const firstRecordCall = (entity: ListedEntity): ProbeCall => listCall(entity, pageQueries[0]!(1, 1));

/** Finds out how the CRM lists an entity, in one to six requests. Fails with what reading a listing fails with. */
export async function readListDialect(probe: CrmProbe, entity: ListedEntity): Promise<ListDialect> {
  const pageQuery = await findQuery(probe, entity);
  const ask = async (page: number, limit: number) =>
    readPage(entity, (await probe.read(listCall(entity, pageQuery(page, limit)))).envelope);
  /** Some CRMs answer 404 for a page behind the last one, or refuse it. */
  const askSecond = (limit: number) =>
    ask(2, limit).catch((error: unknown) => {
      if (isSyncError(error, 'CRM_NOT_FOUND', 'CRM_REFUSED')) return undefined;
      throw error;
    });
  const first = await ask(1, 1);
  const { place, facts } = first;
  const parameters = Object.keys(pageQuery(1, 1));
  if (first.ids.length === 0) return { place, facts, parameters, count: 0 };
  const second = await askSecond(1);
  const full = await ask(1, pageLimit);
  const isLone = full.ids.length === 1;
  const knowsPage = isLone ? undefined : second?.ids[0] !== first.ids[0];
  const hasMore = readMore(full) ?? (knowsPage ? hasOthers(await askSecond(pageLimit), full) : undefined);
  return {
    place,
    facts,
    parameters,
    count: full.ids.length,
    hasUpdatedAt: full.items.some((item) => isObject(item) && 'updated_at' in item),
    knowsLimit: isLone ? undefined : first.ids.length === 1,
    knowsPage,
    hasMore,
    order: readOrder(full.ids),
    sampleId: full.ids[0],
  };
}

/** The first of the queries of listings that the CRM does not refuse. */
async function findQuery(probe: CrmProbe, entity: ListedEntity): Promise<PageQuery> {
  for (const query of pageQueries.slice(0, -1)) {
    try {
      await probe.read(listCall(entity, query(1, 1)));
      return query;
    } catch (error) {
      if (!isSyncError(error, 'CRM_REFUSED')) throw error;
    }
  }
  return pageQueries.at(-1)!;
}

/** Whether a page brings anything new: behind the last one, some CRMs repeat it. */
const hasOthers = (page: Page | undefined, before: Page): boolean =>
  page?.ids.some((id) => !before.ids.includes(id)) ?? false;

function readPage(entity: ListedEntity, envelope: Envelope) {
  const { endpoint, name } = listings[entity];
  const answer = readListAnswer(envelope, name);
  if (!answer) throw unreadable(endpoints[endpoint].path, 'no list of records is in the answer');
  const ids = answer.items.flatMap((item) => {
    const record = readRecord(entity, item, []);
    return 'problem' in record ? [] : [record.id];
  });
  return { place: placeOf(answer.items, envelope), ids, ...answer };
}

const unreadable = (path: string, problem: string): SyncError =>
  new SyncError('CRM_UNREADABLE', `GET ${path} can not be understood: ${problem}.`);

/** Whether the answer itself tells that there is more than on the first page. */
function readMore({ ids, facts }: Page): boolean | undefined {
  if (facts.hasMore !== undefined) return facts.hasMore;
  if (facts.pages !== undefined) return facts.pages > 1;
  return facts.total === undefined ? undefined : facts.total > ids.length;
}

function readOrder(ids: readonly RecordId[]): ListDialect['order'] {
  if (ids.length < 2) return undefined;
  const steps = ids.slice(1).map((id, index) => Number(id) - Number(ids[index]));
  if (steps.every((step) => step < 0)) return 'newest first';
  return steps.every((step) => step > 0) ? 'oldest first' : 'neither newest nor oldest first';
}

/** Where a single record stands in its answer: `data`, or below it where it is wrapped. */
export async function readSinglePlace(probe: CrmProbe, entity: ListedEntity, id: RecordId): Promise<string> {
  const { envelope } = await probe.read({ endpoint: endpointOf('get', entity), path: { id } });
  const json = unwrapRecord(entity, envelope.data);
  const record = readRecord(entity, json, []);
  if ('problem' in record)
    throw unreadable(`${endpoints[listings[entity].endpoint].path}/${id}`, record.problem);
  return placeOf(json, envelope);
}

/** The names that lead from the answer to a part of it. */
function placeOf(part: unknown, whole: unknown): string {
  const search = (inside: unknown): string[] | undefined => {
    if (inside === part) return [];
    if (!isObject(inside)) return undefined;
    for (const [name, inner] of Object.entries(inside)) {
      const path = search(inner);
      if (path) return [name, ...path];
    }
    return undefined;
  };
  return search(whole)?.join('.') ?? '';
}
