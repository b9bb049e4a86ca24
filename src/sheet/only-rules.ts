import { type Catalog, emptyCatalog } from '../core/fields/catalog.ts';
import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities } from '../core/record.ts';
import { sheetFacts } from './facts.ts';
import { everything, type Resolved, type Rule, resolveRule } from './only/rule.ts';
import type { Policy } from './policy.ts';

/** The rule of a tab: what it goes by since a plan was applied, and what the configuration wants by what the CRM has now. */
export interface TabRule {
  /** Absent where the tab never had a rule: then it has all records. */
  readonly applied?: Rule;
  readonly wanted: Resolved;
}

/** The rules of the tabs that have one, or had one. */
export function readRules(mirror: Mirror, policy: Policy): ReadonlyMap<Entity, TabRule> {
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  return new Map(
    entities.flatMap((entity) => {
      const applied = mirror.readFact(sheetFacts.only(entity));
      if (applied === undefined && policy.tabs[entity].only === undefined) return [];
      const wanted = resolve(policy, entity, catalog, applied);
      return [[entity, { ...(applied ? { applied } : {}), wanted }] as const];
    }),
  );
}

/** Remembers the rule by which a tab has its records, with what its names stand for. */
export function saveRule(mirror: Mirror, policy: Policy, entity: Entity): void {
  const applied = mirror.readFact(sheetFacts.only(entity));
  const wanted = resolve(policy, entity, mirror.readCatalog() ?? emptyCatalog, applied);
  if (wanted.kind === 'fault') return;
  if (policy.tabs[entity].only === undefined) mirror.dropFact(sheetFacts.only(entity));
  else mirror.saveFact(sheetFacts.only(entity), wanted.rule);
}

function resolve({ tabs }: Policy, entity: Entity, catalog: Catalog, applied: Rule | undefined): Resolved {
  const { only } = tabs[entity];
  return only === undefined
    ? { kind: 'rule', rule: everything }
    : resolveRule(entity, only, catalog, applied?.named);
}
