import { type Catalog, emptyCatalog } from '../core/fields/catalog.ts';
import type { SheetLink } from './link.ts';
import { buildLayout } from './policy.ts';
import type { Layout } from './port/layout.ts';

/** What a layout follows from. */
export type LayoutLink = Pick<SheetLink, 'entities' | 'mirror' | 'policy'>;

/** The layout that was built last from a catalog, and from what else: it is asked for several times in a cycle. */
const known = new WeakMap<Catalog, Omit<LayoutLink, 'mirror'> & { readonly layout: Layout }>();

/** The layout that follows from the policy and the catalog as last read. */
export function currentLayout({ entities, mirror, policy }: LayoutLink): Layout {
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  const last = known.get(catalog);
  if (last?.entities === entities && last.policy === policy) return last.layout;
  const layout = buildLayout(entities, policy, catalog);
  known.set(catalog, { entities, policy, layout });
  return layout;
}
