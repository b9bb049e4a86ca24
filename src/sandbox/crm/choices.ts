import { documentedLimits } from '../../crm/contract.ts';

/**
 * Where the CRM's specification is silent ("not shown"), the sandbox has to do something. Everything it chose
 * stands here, with the specification's section; each can be switched, so that a client can be tried against
 * every answer the real service may give.
 *
 * Chosen without a switch: text lengths count UTF-16 units; unknown body fields are ignored; the content type of
 * a body is not looked at; a route or id that does not exist is refused before the body is looked at; a trashed
 * record answers 404; timestamps are UTC with milliseconds; a new opportunity has value 0, confidence 0 and no
 * date; a new task has status 1 and priority 2; lists are ordered by id, contacts by age and all at once;
 * "yes" and "no" are read in any case, 1 and 0 also as text; an inactive custom field can be written; an email
 * that is taken is refused with 409 on updates too; headers tell of the key's window, or of the address's where
 * there is no valid key.
 */
export interface CrmChoices {
  /** "Leads", "Tasks", "Opportunities", "Contacts": what holds a listing's elements in `data`. */
  readonly listShape: 'items' | 'data' | 'results' | 'records' | 'entity' | 'array';
  /** The same: what stands beside the elements. There is no such place beside a bare array. */
  readonly listFacts: 'totals' | 'hasMore' | 'pageCount' | 'none';
  /**
   * "Leads", "Tasks": whether `page`, `limit` and `order`, shown for opportunities only, work for these too.
   * Where they are ignored or refused everything comes at once; `firstPageOnly` ignores `page` alone.
   */
  readonly leadAndTaskPaging: 'honoured' | 'ignored' | 'refused' | 'firstPageOnly';
  /** "Limits": the largest page of leads and tasks (that of opportunities is 100). */
  readonly leadAndTaskLimitMax: number;
  /** The same: what a larger `limit` does there (on opportunities it is refused). */
  readonly oversizedLimit: 'refused' | 'clamped';
  /** "Leads", "Tasks": the order where none is asked for, shown for opportunities only. */
  readonly leadAndTaskOrder: 'desc' | 'asc';
  /** "Opportunities" and the others: what a page behind the last one brings. */
  readonly pageBeyondLast: 'empty' | 'lastPage' | 'notFound';
  /** "Leads": whether the elements of `GET /leads` carry `updated_at`, as single leads do. */
  readonly listedLeadHasUpdatedAt: boolean;
  /** "Opportunities": name of the full-text search parameter. It looks in the note and the lead's title. */
  readonly searchParameter: string;
  /** "Tasks", "Opportunities", "Contacts": required fields of a create. */
  readonly requiredOnCreate: {
    readonly task: readonly string[];
    readonly opportunity: readonly string[];
    readonly contact: readonly string[];
  };
  /** Whether creates keep fields that only the record's table names (task `description`, opportunity `note`). */
  readonly createKeepsUnlistedFields: boolean;
  /** "Lead": the status of a lead created without one. */
  readonly newLeadStatus: 'default' | 'none';
  /** "Lead status": whether an auto-created status keeps the written name or becomes a slug of it. */
  readonly autoCreatedStatusName: 'asWritten' | 'slug';
  /** "Leads": whether a `meta_data.about` with one property keeps the other. */
  readonly aboutUpdate: 'merge' | 'replace';
  /** "Custom field definition": how a field cleared with `null` reads afterwards. */
  readonly clearedCustomField: 'absent' | 'null';
  /** "Custom field definition": how 03/04/2026 is read, which both accepted slash formats fit. */
  readonly ambiguousSlashDate: 'dayFirst' | 'monthFirst';
  /**
   * "Tasks", "Opportunities", "Contacts": whether `data` is the record that is asked for, or holds it under the
   * entity's name or `item`. (Of a lead the specification says that `data` is the object.)
   */
  readonly singleRecord: 'plain' | 'entity' | 'item';
  /** "Opportunities": what `PUT /opportunities/{id}` answers as `data`. */
  readonly opportunityUpdateAnswer: 'record' | 'id' | 'none';
  /** "Errors": a `lead_id`, `stage_id` or `parent_task_id` in a body that names nothing. */
  readonly danglingReferenceStatus: 400 | 404;
  /** "Errors": an id in the path that is not an integer. */
  readonly malformedIdStatus: 400 | 404;
  /** "Limits": form of `X-RateLimit-Reset`, the moment at which the oldest counted request is forgotten. */
  readonly resetFormat: 'epochSeconds' | 'epochMs' | 'deltaSeconds';
  /** "Limits": whether and how a 429 says when to come again. */
  readonly retryAfter: 'seconds' | 'date' | 'absent';
  /** "Limits": whether a 429 carries the `X-RateLimit` headers of other answers. */
  readonly limitHeadersOnRefusal: boolean;
  /** "Limits": body of a 429. */
  readonly limitBody: 'envelope' | 'otherJson' | 'html' | 'empty';
  /** "Limits": whether a request that got 429 still takes a place in the window. */
  readonly refusedRequestsCount: boolean;
}

export const defaultChoices: CrmChoices = {
  listShape: 'items',
  listFacts: 'totals',
  leadAndTaskPaging: 'honoured',
  leadAndTaskLimitMax: documentedLimits.maxPageSize,
  oversizedLimit: 'refused',
  leadAndTaskOrder: 'desc',
  pageBeyondLast: 'empty',
  listedLeadHasUpdatedAt: true,
  searchParameter: 'search',
  requiredOnCreate: { task: ['title'], opportunity: ['stage_id', 'lead_id'], contact: ['full_name'] },
  createKeepsUnlistedFields: true,
  newLeadStatus: 'default',
  autoCreatedStatusName: 'asWritten',
  aboutUpdate: 'merge',
  clearedCustomField: 'absent',
  ambiguousSlashDate: 'dayFirst',
  singleRecord: 'plain',
  opportunityUpdateAnswer: 'record',
  danglingReferenceStatus: 400,
  malformedIdStatus: 404,
  resetFormat: 'epochSeconds',
  retryAfter: 'seconds',
  limitHeadersOnRefusal: true,
  limitBody: 'envelope',
  refusedRequestsCount: false,
};
