import { type Catalog, emptyCatalog } from '../core/catalog.ts';
import type { Column, Layout, TabKind } from '../core/layout.ts';
import { buildLayout, type Policy } from '../core/policy.ts';
import type { FieldName } from '../core/value.ts';
import type { Link } from './link.ts';

/** Layouts that were built before; neither a policy nor a catalog is ever changed in place. */
const known = new WeakMap<Policy, WeakMap<Catalog, Layout>>();

/** The layout that follows from the policy and the catalog as last read. */
export function currentLayout({ mirror, policy }: Pick<Link, 'mirror' | 'policy'>): Layout {
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  const ofPolicy = known.get(policy) ?? new WeakMap<Catalog, Layout>();
  known.set(policy, ofPolicy);
  const layout = ofPolicy.get(catalog) ?? buildLayout(policy, catalog);
  ofPolicy.set(catalog, layout);
  return layout;
}

/**
 * The same as the table is told it: with the fields of which nothing was ever agreed. One whose header the configuration names is not
 * among them, because whoever named it knows the column; nor is any field of a tab of which the mirror knows nothing at all, as after it
 * was lost: there everything is met for the first time, and a person is asked.
 */
export function tableLayout(link: Pick<Link, 'mirror' | 'policy'>): Layout {
  const known = new Map<TabKind, Set<FieldName>>();
  for (const { key, fields, offered } of link.mirror.readAgreements()) {
    const ofEntity = known.get(key.entity) ?? new Set();
    known.set(key.entity, ofEntity);
    for (const field in fields) ofEntity.add(field);
    for (const field in offered) ofEntity.add(field);
  }
  return currentLayout(link).map((tab) => {
    if (tab.entity === 'question') return tab;
    const rules = link.policy.tabs[tab.entity].columns;
    const agreed = known.get(tab.entity) ?? new Set();
    if (agreed.size === 0) return tab;
    const isKnown = ({ field }: Column) => agreed.has(field) || rules[field]?.header !== undefined;
    return {
      ...tab,
      columns: tab.columns.map((column) => (isKnown(column) ? column : { ...column, isNew: true })),
    };
  });
}
