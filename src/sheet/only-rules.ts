import { emptyCatalog } from '../core/fields/catalog.ts';
import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities } from '../core/record.ts';
import { lazyUserIds } from './cells/lead-names.ts';
import { sheetFacts } from './facts.ts';
import {
  everything,
  type OnlyRule,
  type Resolved,
  type Rule,
  type RuleGround,
  resolveRule,
  type TabRule,
} from './only/rule.ts';
import type { Policy } from './policy.ts';

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
  if (ruleOf(policy, entity) === undefined) mirror.dropFact(sheetFacts.only(entity));
  else mirror.saveFact(sheetFacts.only(entity), wanted.rule);
}

/** The rules once these tabs follow what the configuration wants. */
export const followRules = (
  rules: ReadonlyMap<Entity, TabRule>,
  ruled: readonly Entity[],
): ReadonlyMap<Entity, TabRule> =>
  new Map(
    [...rules].map(([entity, rule]) => {
      const { wanted } = rule;
      const isFollowed = ruled.includes(entity) && wanted.kind === 'rule';
      return [entity, isFollowed ? { applied: wanted.rule, wanted } : rule];
    }),
  );

/** Forgets by which rules tabs have their records: what their names stand for is of another account. */
export function forgetRules(mirror: Mirror): void {
  for (const entity of entities) mirror.dropFact(sheetFacts.only(entity));
}

/** A rule without a condition is none. */
export function ruleOf({ tabs }: Policy, entity: Entity): OnlyRule | undefined {
  const { only = {} } = tabs[entity];
  return Object.keys(only).length === 0 ? undefined : only;
}

function readRule(mirror: Mirror, policy: Policy, entity: Entity): TabRule | undefined {
  const only = ruleOf(policy, entity);
  const applied = mirror.readFact(sheetFacts.only(entity));
  if (applied === undefined && only === undefined) return undefined;
  const wanted = only ? resolveRule(entity, only, groundOf(mirror, applied)) : noRule;
  return { ...(applied ? { applied } : {}), wanted };
}

const noRule: Resolved = { kind: 'rule', rule: everything };

function groundOf(mirror: Mirror, applied: Rule | undefined): RuleGround {
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  const userIds = () => lazyUserIds({ catalog, records: mirror.readRecords() })();
  return { catalog, userIds, before: applied?.named };
}
