/**
 * Where the CRM's specification is silent ("not shown"), the sandbox has to do something. Everything it chose
 * stands here, with the specification's section; each can be switched, so that a client can be tried against
 * every answer the real service may give.
 *
 * Chosen without a switch: text lengths count UTF-16 units; unknown body fields are ignored; a route or id that
 * does not exist is refused before the body is looked at; a trashed record answers 404;
 * timestamps are UTC with milliseconds; a new opportunity has value 0, confidence 0 and no date; a new task has
 * status 1 and priority 2; lists are ordered by id.
 */
export interface CrmChoices {
  /** "Leads", "Tasks", "Opportunities", "Contacts": what holds a listing's elements in `data`. */
  readonly listShape: 'items' | 'data' | 'results' | 'records' | 'entity' | 'array';
  /** The same: whether `total`, `page` and `limit` stand beside the elements. */
  readonly listHasTotals: boolean;
  /** "Leads", "Tasks": whether `page` and `limit`, shown for opportunities only, work for these too. */
  readonly leadAndTaskPaging: 'honoured' | 'ignored' | 'firstPageOnly';
  /** "Limits": what a `limit` above 100 does on leads and tasks (on opportunities it is refused). */
  readonly oversizedLimit: 'refused' | 'clamped';
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
  /** "Tasks": whether `GET /tasks/{id}` puts the task under the key `task`. */
  readonly singleTask: 'plain' | 'wrapped';
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
  /** "Limits": body of a 429. */
  readonly limitBody: 'envelope' | 'html' | 'empty';
  /** "Limits": whether a request that got 429 still takes a place in the window. */
  readonly refusedRequestsCount: boolean;
}

export const defaultChoices: CrmChoices = {
  listShape: 'items',
  listHasTotals: true,
  leadAndTaskPaging: 'honoured',
  oversizedLimit: 'refused',
  searchParameter: 'search',
  requiredOnCreate: { task: ['title'], opportunity: ['stage_id', 'lead_id'], contact: ['full_name'] },
  createKeepsUnlistedFields: true,
  newLeadStatus: 'default',
  autoCreatedStatusName: 'asWritten',
  aboutUpdate: 'merge',
  clearedCustomField: 'absent',
  ambiguousSlashDate: 'dayFirst',
  singleTask: 'plain',
  opportunityUpdateAnswer: 'record',
  danglingReferenceStatus: 400,
  malformedIdStatus: 404,
  resetFormat: 'epochSeconds',
  retryAfter: 'seconds',
  limitBody: 'envelope',
  refusedRequestsCount: false,
};
