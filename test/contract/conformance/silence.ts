import type { CrmChoices } from '../../../src/sandbox/crm/choices.ts';

/**
 * What the specification does not show or leaves to be read in two ways, and the choices that switch it.
 * An empty list stands for what the sandbox has one answer to, named with the choices or not served at all.
 */
export const silences: Readonly<Record<string, readonly (keyof CrmChoices)[]>> = {
  'Lead: the status of a lead created without one': ['newLeadStatus'],
  'Lead: whether an update of a part of about keeps the other': ['aboutUpdate'],
  'Lead status: whether an auto-created name is made a slug': ['autoCreatedStatusName'],
  'Custom fields: how a cleared field reads': ['clearedCustomField'],
  'Custom fields: a date that fits both slash formats': ['ambiguousSlashDate'],
  'Task, Opportunity, Contact: required fields of a create': ['requiredOnCreate'],
  'Task, Opportunity: fields that the create does not list': ['createKeepsUnlistedFields'],
  'Task status: transitions': [],
  'Trash: restore and purge': [],
  'Leads, Tasks: parameters of the listing': [
    'leadAndTaskPaging',
    'leadAndTaskLimitMax',
    'oversizedLimit',
    'leadAndTaskOrder',
  ],
  'Leads: fields of a listed lead': ['listedLeadHasUpdatedAt'],
  'Leads, Tasks, Opportunities, Contacts: shape of a listing': ['listShape', 'listFacts'],
  'Leads, Tasks, Opportunities: a page behind the last': ['pageBeyondLast'],
  'Opportunities: name of the search parameter': ['searchParameter'],
  'Opportunities: answer to PUT': ['opportunityUpdateAnswer'],
  'Tasks, Opportunities, Contacts: shape of a single record': ['singleRecord'],
  Events: [],
  'Errors: an id in a body that names nothing': ['danglingReferenceStatus'],
  'Errors: an id in the path that is no integer': ['malformedIdStatus'],
  'Limits: the answer over the limit': ['limitBody', 'retryAfter', 'limitHeadersOnRefusal'],
  'Limits: unit of X-RateLimit-Reset': ['resetFormat'],
  'Limits: whether a refused request counts': ['refusedRequestsCount'],
  'Versioning: deprecation': [],
};
