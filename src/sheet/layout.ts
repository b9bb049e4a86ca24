import { type Catalog, emptyCatalog } from '../core/fields/catalog.ts';
import type { Entity } from '../core/record.ts';
import type { SheetLink } from './link.ts';
import { buildLayout, type Policy } from './policy.ts';
import type { Layout } from './port/layout.ts';

/** Layouts that were built before; nothing that they follow from is ever changed in place. */
const known = new WeakMap<readonly Entity[], WeakMap<Policy, WeakMap<Catalog, Layout>>>();

/** What a layout follows from. */
export type LayoutLink = Pick<SheetLink, 'entities' | 'mirror' | 'policy'>;

/** The layout that follows from the policy and the catalog as last read. */
export function currentLayout({ entities, mirror, policy }: LayoutLink): Layout {
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  const ofEntities = known.get(entities) ?? new WeakMap<Policy, WeakMap<Catalog, Layout>>();
  known.set(entities, ofEntities);
  const ofPolicy = ofEntities.get(policy) ?? new WeakMap<Catalog, Layout>();
  ofEntities.set(policy, ofPolicy);
  const layout = ofPolicy.get(catalog) ?? buildLayout(entities, policy, catalog);
  ofPolicy.set(catalog, layout);
  return layout;
}
