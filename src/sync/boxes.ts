import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities } from '../core/record.ts';
import type { ObservedTab, ObservedTable } from '../core/table.ts';
import type { FieldName } from '../core/value.ts';
import { readFieldFact, saveFieldFact } from './field-fact.ts';

const boxesFact = (entity: Entity): string => `table.boxes.${entity}`;

/** Reads with the fields added that were boxed before: as long as a read is the same object, so is what it was completed to. */
const completed = new WeakMap<ObservedTable, ObservedTable>();

/**
 * The table as it was read, where columns count as boxed also if they were so before; and remembers those that are boxed now. Whoever turns
 * Google's own table back into plain rows keeps all of its boxes, and says no more with them than before.
 */
export function keepBoxes(mirror: Mirror, table: ObservedTable): ObservedTable {
  const tabs: Partial<Record<Entity, ObservedTab>> = {};
  for (const entity of entities) {
    const tab = table.tabs[entity];
    if (tab.state === 'held') continue;
    const [before, now] = [readFieldFact(mirror, boxesFact(entity)), tab.boxed ?? new Set<FieldName>()];
    const boxed = before.union(now);
    if (boxed.size > before.size) saveFieldFact(mirror, boxesFact(entity), boxed);
    if (boxed.size > now.size) tabs[entity] = { ...tab, boxed };
  }
  if (Object.keys(tabs).length === 0) return table;
  const known = completed.get(table) ?? { ...table, tabs: { ...table.tabs, ...tabs } };
  completed.set(table, known);
  return known;
}
