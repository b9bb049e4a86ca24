import { type Catalog, emptyCatalog } from '../core/catalog.ts';
import { type Column, type Layout, recordTabs } from '../core/layout.ts';
import { buildLayout, type Policy } from '../core/policy.ts';
import type { Entity } from '../core/record.ts';
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
  const layout = currentLayout(link);
  const newFields = findNewFields(layout, link);
  return layout.map((tab) => {
    if (tab.entity === 'question') return tab;
    const fields = newFields.get(tab.entity);
    if (!fields || fields.size === 0) return tab;
    const mark = (column: Column): Column => (fields.has(column.field) ? { ...column, isNew: true } : column);
    return { ...tab, columns: tab.columns.map(mark) };
  });
}

function findNewFields(layout: Layout, { mirror, policy }: Pick<Link, 'mirror' | 'policy'>) {
  const unknown = new Map(
    recordTabs(layout).map(({ columns, entity }) => {
      const isNamed = ({ field }: Column) => policy.tabs[entity].columns[field]?.header !== undefined;
      return [entity, new Set(columns.filter((column) => !isNamed(column)).map(({ field }) => field))];
    }),
  );
  const met = new Set<Entity>();
  for (const { key, fields, offered } of mirror.readAgreements()) {
    const ofEntity = unknown.get(key.entity) ?? new Set();
    for (const field of ofEntity) if (field in fields || field in offered) ofEntity.delete(field);
    if (!met.has(key.entity) && Object.keys({ ...fields, ...offered }).length > 0) met.add(key.entity);
  }
  return new Map([...unknown].filter(([entity]) => met.has(entity)));
}
