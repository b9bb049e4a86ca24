import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities } from '../core/record.ts';
import type { Agreement } from '../core/state.ts';
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
  return currentLayout(link).map((tab) => {
    const { columns, entity } = tab;
    if (entity === 'question') return tab;
    const met = readMet(mirror, entity);
    const isNew = ({ field }: Column) =>
      !met.has(field) && policy.tabs[entity].columns[field]?.header === undefined;
    if (!columns.some(isNew) || !isAnyAgreed(mirror, entity)) return tab;
    return { ...tab, columns: columns.map((each) => (isNew(each) ? { ...each, isNew: true } : each)) };
  });
}

/**
 * The fields that have met a column. What is agreed of a field was read from its column, or is meant for it, so that only mirrors in which no
 * column was noted so far have to be searched for what they agreed.
 */
function readMet(mirror: Mirror, entity: Entity): ReadonlySet<FieldName> {
  const fact = sheetFacts.metFields(entity);
  const noted = mirror.readFact(fact);
  if (noted) return new Set(noted);
  const own = mirror.readAgreements().filter(({ key }) => key.entity === entity);
  return addFields(mirror, fact, new Set(own.flatMap(agreedFields)));
}

const agreedFields = ({ fields, offered }: Agreement): FieldName[] => Object.keys({ ...fields, ...offered });

const isAnyAgreed = (mirror: Mirror, entity: Entity): boolean =>
  mirror.readAgreements().some((each) => each.key.entity === entity && agreedFields(each).length > 0);

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
