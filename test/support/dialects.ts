import type { CrmChoices } from '../../src/sandbox/crm/choices.ts';

/**
 * CRMs that all follow the specification and fill its silence in different ways; each is a combination that
 * one real service may have.
 */
export const dialects = {
  'the sandbox’s defaults': {},
  'bare arrays': { listShape: 'array' },
  'bare arrays, refused pages behind the last': { listShape: 'array', pageBeyondLast: 'notFound' },
  'bare arrays, the last page for ever': { listShape: 'array', pageBeyondLast: 'lastPage' },
  'bare arrays of 25': { listShape: 'array', leadAndTaskLimitMax: 25, oversizedLimit: 'clamped' },
  'lists below data that say whether there is more': { listShape: 'data', listFacts: 'hasMore' },
  'lists below results that count pages': { listShape: 'results', listFacts: 'pageCount' },
  'lists below records that say nothing': { listShape: 'records', listFacts: 'none' },
  'lists below the entity’s name, of 50': {
    listShape: 'entity',
    listFacts: 'none',
    leadAndTaskLimitMax: 50,
    oversizedLimit: 'clamped',
  },
  'lists of 25 with totals': { leadAndTaskLimitMax: 25, oversizedLimit: 'clamped' },
  'lists that refuse more than 50': { listFacts: 'none', leadAndTaskLimitMax: 50 },
  'lists that come at once': { listFacts: 'none', leadAndTaskPaging: 'ignored' },
  'lists that come at once, oldest first, with totals': {
    leadAndTaskPaging: 'ignored',
    leadAndTaskOrder: 'asc',
  },
  'lists that come at once and refuse every parameter': {
    listShape: 'array',
    leadAndTaskPaging: 'refused',
    leadAndTaskOrder: 'asc',
  },
  'listed leads without updated_at': { listedLeadHasUpdatedAt: false },
  'records below their entity’s name, updates without data': {
    singleRecord: 'entity',
    opportunityUpdateAnswer: 'none',
  },
  'records below item, updates with an id': { singleRecord: 'item', opportunityUpdateAnswer: 'id' },
  'rate refusals as a page, until an epoch in milliseconds': {
    limitBody: 'html',
    retryAfter: 'absent',
    resetFormat: 'epochMs',
  },
  'rate refusals as some JSON, until seconds from now': {
    limitBody: 'otherJson',
    retryAfter: 'absent',
    resetFormat: 'deltaSeconds',
  },
  'rate refusals as an envelope, until an epoch in seconds': { retryAfter: 'absent' },
  'rate refusals with a date': { limitBody: 'empty', retryAfter: 'date', limitHeadersOnRefusal: false },
  'rate refusals that say nothing': {
    limitBody: 'empty',
    retryAfter: 'absent',
    limitHeadersOnRefusal: false,
    refusedRequestsCount: true,
  },
  'the other reading wherever there are two': {
    createKeepsUnlistedFields: false,
    newLeadStatus: 'none',
    autoCreatedStatusName: 'slug',
    aboutUpdate: 'replace',
    clearedCustomField: 'null',
    ambiguousSlashDate: 'monthFirst',
    danglingReferenceStatus: 404,
    malformedIdStatus: 400,
  },
} as const satisfies Readonly<Record<string, Partial<CrmChoices>>>;
