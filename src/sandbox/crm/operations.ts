import { type EndpointName, endpoints } from '../../crm/contract.ts';
import * as contacts from './contacts.ts';
import * as leads from './leads.ts';
import type { Operation } from './operation.ts';
import * as opportunities from './opportunities.ts';
import * as tasks from './tasks.ts';

const inOrder = <Item extends { readonly sort_order: number }>(items: readonly Item[]): Item[] =>
  items.toSorted((left, right) => left.sort_order - right.sort_order);

/** What each endpoint of the contract does. */
export const operations: Readonly<Record<EndpointName, Operation>> = {
  ...leads,
  ...tasks,
  ...opportunities,
  ...contacts,
  listLeadStatuses: (crm) => ({ data: { items: inOrder(crm.records.leadStatuses) } }),
  listCustomFields: (crm) => ({ data: crm.records.customFields }),
  listPipelines: (crm) => ({ data: crm.records.pipelines }),
};

interface Route {
  readonly name: EndpointName;
  readonly path: Readonly<Record<string, string>>;
}

interface RoutePattern {
  readonly name: EndpointName;
  readonly method: string;
  readonly pattern: RegExp;
}

const isEndpointName = (name: string): name is EndpointName => name in endpoints;

const routePatterns: readonly RoutePattern[] = Object.keys(endpoints)
  .filter(isEndpointName)
  .map((name) => ({
    name,
    method: endpoints[name].method,
    pattern: new RegExp(`^${endpoints[name].path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
  }));

/** The endpoint a request addresses and the values in its path; undefined where there is none. */
export function findRoute(method: string, path: string): Route | undefined {
  for (const { name, method: expected, pattern } of routePatterns) {
    const match = method === expected ? pattern.exec(path) : null;
    if (match) return { name, path: { ...match.groups } };
  }
  return undefined;
}
