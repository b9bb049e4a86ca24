import { emptyCatalog } from '../core/fields/catalog.ts';
import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities } from '../core/record.ts';
import { namesOfRecords } from './cells/lead-names.ts';
import { sheetFacts } from './facts.ts';
import { everything, type Resolved, type Rule, type RuleGround, resolveRule } from './only/rule.ts';
import type { Policy } from './policy.ts';

/** The rule of a tab: what it goes by since a plan was applied, and what the configuration wants by what the CRM has now. */
export interface TabRule {
  /** Absent where the tab never had a rule: then it has all records. */
  readonly applied?: Rule;
  readonly wanted: Resolved;
}

/** The rules of the tabs that have one, or had one. */
export const readRules = (mirror: Mirror, policy: Policy): ReadonlyMap<Entity, TabRule> =>
  new Map(
    entities.flatMap((entity) => {
      const rule = readRule(mirror, policy, entity);
      return rule ? [[entity, rule] as const] : [];
    }),
  );

/** Remembers the rule by which a tab has its records, with what its names stand for. */
export function saveRule(mirror: Mirror, policy: Policy, entity: Entity): void {
  const { wanted } = readRule(mirror, policy, entity) ?? {};
  if (wanted?.kind !== 'rule') return;
  if (policy.tabs[entity].only === undefined) mirror.dropFact(sheetFacts.only(entity));
  else mirror.saveFact(sheetFacts.only(entity), wanted.rule);
}

function readRule(mirror: Mirror, { tabs }: Policy, entity: Entity): TabRule | undefined {
  const { only } = tabs[entity];
  const applied = mirror.readFact(sheetFacts.only(entity));
  if (applied === undefined && only === undefined) return undefined;
  const wanted = only ? resolveRule(entity, only, groundOf(mirror, applied)) : noRule;
  return { ...(applied ? { applied } : {}), wanted };
}

const noRule: Resolved = { kind: 'rule', rule: everything };

function groundOf(mirror: Mirror, applied: Rule | undefined): RuleGround {
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  const { userIds } = namesOfRecords({ catalog, records: mirror.readRecords() });
  return { catalog, userIds, before: applied?.named };
}
