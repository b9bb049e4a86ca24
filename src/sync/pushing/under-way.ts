import { isOnItsWay, type OutboxItem } from '../../core/state.ts';
import type { Link } from '../link.ts';

/** What the outboxes hold of kinds of record that are switched on. Steps of any other rest until it is on again, and keep nobody waiting. */
export const readSteps = ({ entities, mirror }: Link): OutboxItem[] =>
  mirror.readAllSteps().filter(({ key }) => entities.includes(key.entity));

/** Those of them that reach the CRM without a person. */
export const readUnderWay = (link: Link): OutboxItem[] => readSteps(link).filter(isOnItsWay);
