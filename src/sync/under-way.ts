import { isOnItsWay, type OutboxItem } from '../core/state.ts';
import type { Link } from './link.ts';

/** Steps that reach the CRM without a person. Those of a tab that is switched off rest until it is on again, and keep nobody waiting. */
export const readUnderWay = ({ mirror, policy }: Pick<Link, 'mirror' | 'policy'>): OutboxItem[] =>
  mirror.readOutbox().filter((item) => isOnItsWay(item) && policy.entities.includes(item.key.entity));
