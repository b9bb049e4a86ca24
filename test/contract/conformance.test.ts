import { describe, expect, it } from 'vitest';
import {
  apiKeyPattern,
  basePath,
  documentedLimits,
  endpoints,
  errorMessages,
} from '../../src/crm/contract.ts';
import { defaultChoices } from '../../src/sandbox/crm/choices.ts';
import { authentication, rateLimits } from './conformance/access.ts';
import { endpointTable, scopeTable } from './conformance/endpoints.ts';
import { groundRules } from './conformance/ground-rules.ts';
import { customFieldInput, dateRules, fieldRanges } from './conformance/input.ts';
import { contacts, leads, opportunities, states, tasks } from './conformance/operations.ts';
import { definitions, resourceSections } from './conformance/resources.ts';
import { endpointNames, type Section } from './conformance/section.ts';
import { silences } from './conformance/silence.ts';

/** The specification's sections in its order. */
const sections: Readonly<Record<string, Section>> = {
  'What the service does': groundRules,
  ...resourceSections,
  'Resources › definitions and the records that use them': definitions,
  'Resources › what a body may hold': fieldRanges,
  'Resources › custom field values': customFieldInput,
  'Resources › Date rules': dateRules,
  'States and transitions': states,
  Endpoints: endpointTable,
  'Endpoints › Leads and reference data': leads,
  'Endpoints › Tasks': tasks,
  'Endpoints › Opportunities': opportunities,
  'Endpoints › Contacts': contacts,
  Authentication: authentication,
  'Authentication › scopes': scopeTable,
  Limits: rateLimits,
};

describe.each(Object.entries(sections))('%s', (_, section) => {
  it.each(Object.entries(section))('%s', (_name, check) => check());
});

describe('the checklist of the specification', () => {
  it('has a statement for each endpoint in the sections that go through all of them', () => {
    for (const name of endpointNames) {
      const { method, path } = endpoints[name];
      expect(Object.keys(groundRules).filter((statement) => statement.includes(name))).not.toEqual([]);
      const rows = Object.keys(endpointTable).filter((row) => row.startsWith(`${method} ${path} `));
      expect(rows.length).toBeGreaterThanOrEqual(2);
    }
  });

  it('has a switch for everything left open that the sandbox can answer in several ways', () => {
    expect(Object.values(silences).flat().toSorted()).toEqual(Object.keys(defaultChoices).toSorted());
  });

  it('has the constants of Errors, Limits, Authentication and Versioning', () => {
    expect(errorMessages).toEqual({
      401: 'Invalid or missing API key',
      403: 'Insufficient scope',
      404: 'Resource not found',
      409: 'Contact with this email already exists for this lead',
    });
    expect(documentedLimits).toEqual({
      requestsPerKey: 100,
      requestsPerIp: 200,
      windowMs: 60_000,
      maxPageSize: 100,
    });
    expect(basePath).toBe('/api/v1/external');
    expect(`svc_live_${'0123456789abcdef'.repeat(4)}`).toMatch(apiKeyPattern);
  });
});
