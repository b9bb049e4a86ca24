import { emptyCatalog } from '../core/catalog.ts';
import type { Layout } from '../core/layout.ts';
import { buildLayout } from '../core/policy.ts';
import type { Link } from './link.ts';

/** The layout that follows from the policy and the catalog as last read. */
export const currentLayout = (link: Link): Layout =>
  buildLayout(link.policy, link.mirror.readCatalog() ?? emptyCatalog);
