import type { Mirror } from '../core/mirror.ts';
import { once } from '../core/once.ts';
import { type Entity, entities } from '../core/record.ts';
import type { FieldName } from '../core/value.ts';
import { sheetFacts } from './facts.ts';
import { currentLayout, type LayoutLink } from './layout.ts';
import type { Column, Layout } from './port/layout.ts';
import type { ObservedTab, ObservedTable } from './port/table.ts';

/**
 * The current layout as the table is given it, in which the fields that never had a column, and of which nothing was ever agreed, are marked
 * as new. A field whose header the configuration names is not, because the operator who named it knows the column. Nor is any field of a tab
 * of which the mirror knows nothing at all, for example after it was lost: there everything is met for the first time, and a user is asked.
 */
export function tableLayout(link: LayoutLink): Layout {
  const { mirror, policy } = link;
  const agreements = once(() => mirror.readAgreements());
  return currentLayout(link).map((tab) => {
    const { columns, entity } = tab;
    if (entity === 'question') return tab;
    const fact = sheetFacts.metFields(entity);
    const before = new Set(mirror.readFact(fact));
    if (columns.every(({ field }) => before.has(field))) return tab;
    const own = agreements().filter(({ key }) => key.entity === entity);
    const agreed = own.flatMap(({ fields, offered }) => Object.keys({ ...fields, ...offered }));
    // Where a column is gone, nothing is agreed of its field any more.
    const met = addFields(mirror, fact, new Set(agreed));
    const isNew = ({ field }: Column) =>
      !met.has(field) && policy.tabs[entity].columns[field]?.header === undefined;
    if (agreed.length === 0 || !columns.some(isNew)) return tab;
    return { ...tab, columns: columns.map((each) => (isNew(each) ? { ...each, isNew: true } : each)) };
  });
}

/** Whether any tab was found with a column of a field. */
export const hasMetColumns = (mirror: Mirror): boolean =>
  entities.some((entity) => mirror.readFact(sheetFacts.metFields(entity)) !== undefined);

/**
 * Remembers which fields were found to have a column: what somebody types there from then on is meant for the field, although nothing may
 * be agreed of it for long, as while a plan waits to be applied.
 */
export function noteColumns(mirror: Mirror, { tabs }: ObservedTable): void {
  for (const entity of entities) {
    const tab = tabs[entity];
    if (tab.state === 'held') continue;
    addFields(mirror, sheetFacts.metFields(entity), tab.fields);
  }
}

/** Adds fields to those that a fact names. Returns all of them. */
function addFields(
  mirror: Mirror,
  fact: ReturnType<typeof sheetFacts.metFields>,
  more: ReadonlySet<FieldName>,
): ReadonlySet<FieldName> {
  const before = new Set(mirror.readFact(fact));
  const all = before.union(more);
  if (all.size > before.size) mirror.saveFact(fact, [...all]);
  return all;
}

/** Reads with the fields added that were boxed before: as long as a read is the same object, so is what it was completed to. */
const completed = new WeakMap<ObservedTable, ObservedTable>();

/**
 * The table as it was read, where columns count as boxed also if they were so before; and remembers those that are boxed now. A person who
 * turns Google's own table back into plain rows keeps all of its boxes, and says no more with them than before.
 */
export function keepBoxes(mirror: Mirror, table: ObservedTable): ObservedTable {
  const tabs: Partial<Record<Entity, ObservedTab>> = {};
  for (const entity of entities) {
    const tab = table.tabs[entity];
    if (tab.state === 'held') continue;
    const now = tab.boxed ?? new Set<FieldName>();
    const boxed = addFields(mirror, sheetFacts.boxedFields(entity), now);
    if (boxed.size > now.size) tabs[entity] = { ...tab, boxed };
  }
  if (Object.keys(tabs).length === 0) return table;
  const known = completed.get(table) ?? { ...table, tabs: { ...table.tabs, ...tabs } };
  completed.set(table, known);
  return known;
}
