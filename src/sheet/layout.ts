import { type Catalog, emptyCatalog } from '../core/catalog.ts';
import type { SheetLink } from './link.ts';
import { buildLayout, type Policy } from './policy.ts';
import type { Layout } from './port/layout.ts';

/** Layouts that were built before; neither a policy nor a catalog is ever changed in place. */
const known = new WeakMap<Policy, WeakMap<Catalog, Layout>>();

/** The layout that follows from the policy and the catalog as last read. */
export function currentLayout({ mirror, policy }: Pick<SheetLink, 'mirror' | 'policy'>): Layout {
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  const ofPolicy = known.get(policy) ?? new WeakMap<Catalog, Layout>();
  known.set(policy, ofPolicy);
  const layout = ofPolicy.get(catalog) ?? buildLayout(policy, catalog);
  ofPolicy.set(catalog, layout);
  return layout;
}
